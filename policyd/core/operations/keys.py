"""Keys of configuration and secrets, and the canonical spelling of secret paths.

Source: host 4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from policyd.core.grants.resources import SegmentPath
from policyd.core.operations.refusal import Refusal, RefusalKind


def config_key(segments: Sequence[str]) -> SegmentPath | Refusal:
    """The resource of reading a configuration entry."""
    return _key(segments, f"invalid config resource: {'.'.join(segments)}")


def secret_key(segments: Sequence[str]) -> SegmentPath | Refusal:
    """The resource of a secret, its path taken as it stands."""
    return _key(segments, "the secret has no usable key")


def _key(segments: Sequence[str], message: str) -> SegmentPath | Refusal:
    if not segments or any(not s or "." in s or "*" in s for s in segments):
        return Refusal(RefusalKind.RESOURCE, message)
    return SegmentPath(tuple(segments), ".")


def canonical_path(segments: Sequence[str]) -> tuple[str, ...]:
    """The form under which the registry keeps a secret: every segment in lower camel case, once.

    >>> canonical_path(["api_key", "HTTPServer", "x1Y2Z"])
    ('apiKey', 'httpServer', 'x1Y2z')
    """
    return tuple(_camel(segment) for segment in segments)


def _camel(segment: str) -> str:
    first, *others = [*_words(segment)] or [""]
    return _lower(first) + "".join(word[:1].upper() + _lower(word[1:]) for word in others)


def _words(segment: str) -> Iterator[str]:
    plain = "".join(c if c.isalnum() else "\0" for c in segment)
    for run in plain.split("\0"):
        if run:
            yield from _humps(run)


def _humps(run: str) -> Iterator[str]:
    """Words end between lower and upper case, and before the last capital of a run; digits keep the case so far."""
    start = 0
    case = ""
    for index, (char, following) in enumerate(pairwise(run)):
        now = "lower" if char.islower() else "upper" if char.isupper() else case
        if now == "lower" and following.isupper():
            yield run[start : index + 1]
            start, case = index + 1, ""
        elif case == "upper" and char.isupper() and following.islower():
            yield run[start:index]
            start, case = index, ""
        else:
            case = now
    yield run[start:]


def _lower(word: str) -> str:
    """Lower case, letter by letter; a capital sigma at the end of a word is the final one."""
    if word.endswith("Σ"):
        return "".join(c.lower() for c in word[:-1]) + "ς"
    return "".join(c.lower() for c in word)
