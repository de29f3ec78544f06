"""Places in sources: where a finding, a grant or a value stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol


class Place(Protocol):
    """Anything that can say where it stands as `file:line:column`."""

    @property
    def where(self) -> str:
        """The place as a person reads it."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of characters in one source.

    Attributes:
        source: the name of the source as the user gave it (`golem.yaml`, `argument`).
        line: 1-based line of the first character, 0 when the whole source is meant.
        column: 1-based column of the first character, in characters.
        start: offset of the first character, in characters from the start of the source.
        end: offset behind the last character; `end == start` marks a point.
        path: the place in the document (`$.agents.Cart.initialCard`), empty where there is none.
        text: for an element of a list of grants, what stands there, by which it is known wherever it moves.
    """

    source: str
    line: int = 0
    column: int = 0
    start: int = 0
    end: int = 0
    path: str = ""
    text: str = field(default="", compare=False, repr=False)

    @property
    def where(self) -> str:
        """`file:line:column`, or the source alone when no line is known.

        >>> Span("golem.yaml", 14, 29).where
        'golem.yaml:14:29'
        """
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source

    def within(self, path: str) -> Span:
        """The same place under another document path."""
        return replace(self, path=path)

    def part(self, start: int, end: int) -> Span:
        """The characters `start` to `end` of this span, where it stands on one line and is not escaped.

        Offsets are relative to this span and are cut to it, so the answer never leaves it.
        """
        width = self.end - self.start
        first, last = min(max(start, 0), width), min(max(end, 0), width)
        return replace(self, column=self.column + first, start=self.start + first, end=self.start + last)


def span_of_text(source: str, text: str, start: int, end: int, path: str = "") -> Span:
    """The span of `text[start:end]`, with line and column counted at line feeds.

    >>> span_of_text("argument", "kv(x", 2, 3).where
    'argument:1:3'
    """
    start = min(max(start, 0), len(text))
    line = text.count("\n", 0, start) + 1
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    return Span(source, line, column, start, max(start, min(end, len(text))), path)
