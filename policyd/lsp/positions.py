"""Characters of a text to positions of the language server protocol, and back.

The protocol counts lines from 0, and columns in the units that editor and server agreed on: by default those of
UTF-16, of which a character beyond U+FFFF takes two.

Source: style 4.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

from lsprotocol.types import Position, PositionEncodingKind, Range

from policyd.manifest.source import Source


@dataclass(frozen=True, slots=True)
class Ruler:
    """How columns are counted.

    Attributes:
        encoding: the units agreed on.
    """

    encoding: PositionEncodingKind | str = PositionEncodingKind.Utf16

    def position_at(self, source: Source, offset: int) -> Position:
        r"""The position of the character at `offset`, cut to the text.

        >>> Ruler().position_at(Source.of("a", "x\n😀y"), 3)
        1:2
        """
        offset = min(max(offset, 0), len(source.text))
        line = bisect_right(source.line_starts, offset) - 1
        return Position(line, self._units(source.text[source.line_starts[line] : offset]))

    def offset_at(self, source: Source, position: Position) -> int:
        """The offset of the character at `position`, cut to its line and to the text."""
        if position.line >= len(source.line_starts):
            return len(source.text)
        start, end = source.line_bounds(position.line + 1)
        if source.text[start:end].isascii():
            return min(start + max(position.character, 0), end)
        left, offset = position.character, start
        while offset < end and left > 0:
            left -= self._units(source.text[offset])
            offset += 1
        return offset

    def range_of(self, source: Source, start: int, end: int) -> Range:
        """The range of the characters `start` to `end`."""
        return Range(self.position_at(source, start), self.position_at(source, max(start, end)))

    def _units(self, text: str) -> int:
        match self.encoding:
            case PositionEncodingKind.Utf8:
                return len(text.encode("utf-8", "surrogatepass"))
            case PositionEncodingKind.Utf32:
                return len(text)
            case _:
                return len(text) + sum(1 for char in text if ord(char) > 0xFFFF)
