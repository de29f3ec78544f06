r"""A bounded part of a page with its escapes undone, so that quotes are quotes however often a text was embedded.

Source: host 5.1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

MAX_LEVELS = 4
"""How often escapes are undone: the Debug form of a text inside JSON inside JSON, and once more."""

_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}|(.))",
    re.DOTALL,
)
_FIRST = re.compile(r"(\\{1,32})(?=[n\"']|u0022)|\"")
_SIMPLE = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "0": "\0"}
_ENTITY = re.compile(r"&(?:quot|#34|#x22|apos|#39|#x27|lt|gt|amp);")
_ENTITIES = {"&apos;": "'", "&#39;": "'", "&#x27;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a page.

    Attributes:
        text: with the escapes undone.
        start: offset in the page of its first character.
        end: offset in the page behind it.
        levels: how often escapes were undone.
    """

    text: str
    start: int
    end: int
    levels: int
    _places: tuple[tuple[int, ...], ...] = ()
    _origins: tuple[tuple[int, ...], ...] = ()

    def page_offset(self, at: int) -> int:
        """The offset in the page of the character at `at` here."""
        for places, origins in zip(reversed(self._places), reversed(self._origins), strict=True):
            i = bisect_right(places, at) - 1
            at = origins[i] + at - places[i]
        return self.start + at


class Join(Enum):
    """What is done with line breaks in an excerpt."""

    KEEP = "keep"
    BREAKS = "breaks"
    INDENTED = "indented"


_JOINS = {Join.BREAKS: re.compile(r"\n"), Join.INDENTED: re.compile(r"[ \t]{0,8}\n[ \t│|>]{0,64}")}


def excerpt(page: str, start: int, length: int, levels: int | None = None, join: Join = Join.KEEP) -> Excerpt:
    r"""At most `length` characters of `page` from `start` on, unescaped as often as its first quote is escaped.

    Args:
        page: the whole text.
        start: where the excerpt begins.
        length: the most that is looked at.
        levels: how often escapes are undone, where that is known.
        join: whether line breaks are taken out first, alone or with the indentation behind them.

    >>> excerpt(r'say \\\"a\\\"', 4, 99).text
    '"a"'
    """
    end = min(len(page), start + length)
    text = page[start:end]
    places: list[tuple[int, ...]] = []
    origins: list[tuple[int, ...]] = []
    if join is not Join.KEEP:
        text = _rewritten(text, _JOINS[join], _nothing, places, origins)
    if "&" in text and _is_markup(text):
        text = _rewritten(text, _ENTITY, _entity, places, origins)
    depth = _levels(text) if levels is None else levels
    for _ in range(depth):
        text = _rewritten(text, _ESCAPE, _plain, places, origins)
    return Excerpt(text, start, end, depth, tuple(places), tuple(origins))


def _levels(text: str) -> int:
    """How often the text is escaped: 0, 1, 3 or 7 backslashes stand before its first quote or line feed."""
    first = _FIRST.search(text) if "\\" in text else None
    return min(MAX_LEVELS, len(first[1]).bit_length()) if first and first[1] else 0


def _is_markup(text: str) -> bool:
    """Whether the first quote is written as an entity; behind a plain quote entities are part of a text."""
    entity, quote = _ENTITY.search(text), text.find('"')
    return entity is not None and (quote < 0 or entity.start() < quote)


def _nothing(found: re.Match[str]) -> str:
    return ""


def _entity(found: re.Match[str]) -> str:
    return _ENTITIES.get(found[0], '"')


def _plain(found: re.Match[str]) -> str:
    high, low, unit, code, simple = found.groups()
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    if high is not None:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    number = int(unit or code, 16)
    return "\ufffd" if number > 0x10FFFF or 0xD800 <= number < 0xE000 or number == 0 else chr(number)


def _rewritten(
    text: str,
    pattern: re.Pattern[str],
    instead: Callable[[re.Match[str]], str],
    places: list[tuple[int, ...]],
    origins: list[tuple[int, ...]],
) -> str:
    parts: list[str] = []
    here: list[int] = [0]
    there: list[int] = [0]
    done = length = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        piece = instead(found)
        parts.append(text[done:start])
        parts.append(piece)
        here.append(length + start - done)  # the written character stands for the whole escape
        there.append(start)
        length += start - done + len(piece)
        here.append(length)
        there.append(end)
        done = end
    parts.append(text[done:])
    places.append(tuple(here))
    origins.append(tuple(there))
    return "".join(parts)
