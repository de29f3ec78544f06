"""Keys of configuration and secrets, and initial files: words compared place by place.

Source: cards 2.2 RS-key, RS-ifile; host-operations 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from policyd.core.callsets.axes import ALL, Axis, TextAxis
from policyd.core.callsets.below import Below
from policyd.core.callsets.frame import Frame, Parts, lengths_of, padded, product_frame, texts_of
from policyd.core.grants.resources import Resource, SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR, STAR


def is_key_segment(text: str) -> bool:
    """Whether a configuration or secret path of a call can have this segment (host-operations 4.6)."""
    return text != "" and not any(c in text for c in ".*")


def is_canonical_segment(text: str) -> bool:
    """Whether a stored secret key can have this segment: lower camel case (host-operations 4.6)."""
    return text.isalnum() and not text[0].isupper()


_KEYS = ("key", "name", "other")


def key_frames(resources: Sequence[Resource], is_segment: Callable[[str], bool]) -> Iterator[Frame]:
    """Keys by their number of segments, each of which satisfies `is_segment`."""
    for count in sorted(lengths_of(_sizes(resources), resources, 1)):
        yield _key(count, ".", TextAxis(_KEYS, is_segment))


def initial_file_frames(resources: Sequence[Resource]) -> Iterator[Frame]:
    """Initial files by their number of segments, from none on."""
    for count in sorted(lengths_of(_sizes(resources), resources, 0)):
        yield _key(count, "/", TextAxis(("a", "b", "c"), lambda text: text not in ("", ".", "..") and "*" not in text))


def _sizes(resources: Sequence[Resource]) -> set[int]:
    """How long the key patterns are; a leading `**` has no length."""
    return {len(r.segments) for r in resources if isinstance(r, SegmentPath) and r.segments[:1] != (GLOBSTAR,)}


def _key(count: int, separator: str, axis: Axis) -> Frame:
    """Keys of one length; a pattern with a leading `**` contains all (RS-key, RS-ifile)."""
    everything: Parts = (ALL,) * count

    def of(resource: Resource) -> Parts | None:
        match resource:
            case SegmentPath(segments):
                if segments[:1] == (GLOBSTAR,):
                    return everything
                return tuple(ALL if s in (STAR, GLOBSTAR) else s for s in segments) if len(segments) == count else None
            case Below(words):
                return padded(words, count)
            case _:
                return None

    return product_frame((axis,) * count, of, lambda v: SegmentPath(texts_of(v), separator))
