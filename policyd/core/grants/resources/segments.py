"""Resources made of segments: file paths, initial files, and keys of config and secrets.

A segment is a literal, `*` or `**`. Literals contain no star, so the three are told apart by their text.

Source: cards 2.2 RS-fs, RS-ifile, RS-key.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants.resources.exact import Resource

STAR = "*"
GLOBSTAR = "**"


@dataclass(frozen=True, slots=True)
class FilePath:
    """A file system path pattern, in which `**` stands for any run of segments, also an empty one.

    Attributes:
        segments: 0..n segments; none is the root.
    """

    segments: tuple[str, ...]

    def covers(self, narrow: Resource) -> bool:
        """Whether every path of `narrow` is one of this; wildcards of `narrow` are symbols here (RS-fs).

        >>> FilePath(("data", "**")).covers(FilePath(("data",)))
        True
        >>> FilePath(("data", "*")).covers(FilePath(("data", "**")))
        False
        """
        return isinstance(narrow, FilePath) and _run_covers(self.segments, narrow.segments)

    @property
    def text(self) -> str:
        """The canonical text."""
        return "/" + "/".join(self.segments)


def _run_covers(broad: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """RS-fs, symbol by symbol: bit `i` of `reach` says that `broad[:i]` can take all read so far.

    One machine word holds 64 positions, so that two patterns of the greatest length still compare in no time.
    """
    literal: dict[str, int] = {}
    globstars = size = 0
    for segment in broad:
        bit = 1 << size
        if segment != GLOBSTAR:
            literal[segment] = literal.get(segment, 0) | bit
        elif size and globstars >> (size - 1):
            continue  # a run of `**` is one, so that standing for nothing needs a single step below
        else:
            globstars |= bit
        size += 1
    stars = literal.get(STAR, 0)
    reach = 1 | (globstars & 1) << 1
    for symbol in narrow:
        takes = 0 if symbol == GLOBSTAR else stars | literal.get(symbol, 0)
        reach = (reach & takes) << 1 | reach & globstars
        reach |= (reach & globstars) << 1
        if not reach:
            return False
    return bool(reach >> size)


def one_covers(broad: str, narrow: str) -> bool:
    """Whether one segment that is not `**` covers one symbol: `*` a literal or `*`, a literal its equal."""
    if broad == STAR:
        return narrow != GLOBSTAR
    return broad == narrow


@dataclass(frozen=True, slots=True)
class SegmentPath:
    """Segments that are compared position by position: config and secret keys, initial files.

    A leading `**` covers every value whatever follows; any other `**` is exactly one segment.

    Attributes:
        segments: 1..n for keys, 0..n for initial files.
        separator: `.` for keys, `/` for initial files.
    """

    segments: tuple[str, ...]
    separator: str

    def covers(self, narrow: Resource) -> bool:
        """Whether every value of `narrow` is one of this (RS-ifile, RS-key).

        >>> SegmentPath(("a", "**"), ".").covers(SegmentPath(("a", "b", "c"), "."))
        False
        """
        if not isinstance(narrow, SegmentPath):
            return False
        if self.segments[:1] == (GLOBSTAR,):
            return True
        return len(self.segments) == len(narrow.segments) and all(
            a == GLOBSTAR or one_covers(a, b) for a, b in zip(self.segments, narrow.segments, strict=True)
        )

    @property
    def text(self) -> str:
        """The canonical text."""
        return ("/" if self.separator == "/" else "") + self.separator.join(self.segments)
