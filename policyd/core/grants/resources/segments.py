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
    """RS-fs, one row of positions at a time: `reach[i]` says that `broad[:i]` can take all read so far."""
    size = len(broad)
    reach = [False] * (size + 1)
    reach[0] = True
    _skip_globstars(broad, reach)
    for symbol in narrow:
        after = [False] * (size + 1)
        for i in range(size):
            if not reach[i]:
                continue
            if broad[i] == GLOBSTAR:
                after[i] = True
            elif one_covers(broad[i], symbol):
                after[i + 1] = True
        if not any(after):
            return False
        _skip_globstars(broad, after)
        reach = after
    return reach[size]


def _skip_globstars(broad: tuple[str, ...], reach: list[bool]) -> None:
    """Let every `**` that can be reached stand for nothing."""
    for i, segment in enumerate(broad):
        if reach[i] and segment == GLOBSTAR:
            reach[i + 1] = True


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
