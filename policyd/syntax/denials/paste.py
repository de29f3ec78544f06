r"""A paste as it is searched: without colour codes, and once more with its wrapped lines joined.

Each page knows where its characters stand in the text that it was made from, so that a denial found in a joined page
is told at its place in the paste.

Source: host 5.1.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

MAX_CHARS = 16 * 1024 * 1024
"""Characters of a paste that are read; the rest is left out, and a finding says so."""

MAX_WRAPPED = 256 * 1024
"""Characters up to which phrases are also sought across line breaks; longer pastes are logs that were not wrapped."""

_COLOUR = re.compile(
    r"\x1b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b\n]{0,2048}(?:\x07|\x1b\\)|[@-Z\\^_])"
    r"|\x9b[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\\{1,8}(?:u001[bB]|u\{1[bB]\}|x1[bB]|033)|\^\[|\u241b)\[[0-9;]{0,32}[mK]"
    r"|[\r\u200b-\u200f\u2060\ufeff\u00ad\x1b\x9b]"
)
_TWO_BYTES = re.compile(_COLOUR.pattern + "|[\0\ufffd]")
_SPACES = {ord(c): " " for c in "\u00a0\u2007\u202f"}
"""Spaces that web pages and chats put in place of plain ones."""
_COLOUR_SIGNS = ("\x1b", "\r", "\x9b", "001b", "001B", "{1b}", "{1B}", "x1b", "x1B", "\\033", "^[", "\u241b")
_UNSEEN = ("\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff", "\u00ad")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CUT_WORD = re.compile(r"\n(?:[ \t│|]{2,64})?")
_BREAK = re.compile(r"[ \t]{0,8}\n[ \t│|]{0,64}")


@dataclass(frozen=True, slots=True)
class Page:
    """A text and where each of its characters stands in another one.

    Attributes:
        text: what is searched.
        places: offsets in `text` at which the distance to the other text changes, ascending, the first 0.
        origins: the offset there for each of `places`.
    """

    text: str
    places: tuple[int, ...] = (0,)
    origins: tuple[int, ...] = (0,)

    def origin(self, at: int) -> int:
        """Where the character at `at` stands in the other text."""
        i = bisect_right(self.places, at) - 1
        return self.origins[i] + at - self.places[i]

    def end_origin(self, at: int) -> int:
        """The offset in the other text behind the last character before `at`."""
        return self.origin(at - 1) + 1 if at > 0 else self.origin(0)


def clean_page(paste: str) -> Page:
    """The paste without colour codes, carriage returns and characters that do not show.

    NUL characters and lone surrogates, which no output can carry, become replacement characters; where every second
    character is a NUL, the text is one of two bytes a character that was read as one of single bytes.
    """
    if paste.count("\0") * 3 > len(paste):
        return _without(_SURROGATE.sub("\ufffd", paste), _TWO_BYTES, "")
    text = paste.replace("\0", "\ufffd")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text).translate(_SPACES)
    if any(sign in text for sign in _COLOUR_SIGNS) or (not text.isascii() and any(c in text for c in _UNSEEN)):
        return _without(text, _COLOUR, "")
    return Page(text)


def joined_pages(page: Page) -> tuple[Page, ...]:
    """`page` with its lines joined directly, and with a space between them; none for long or single-line texts."""
    text = page.text
    if len(text) > MAX_WRAPPED or "\n" not in text:
        return ()
    return (_without(text, _CUT_WORD, ""), _without(text, _BREAK, " "))


def _without(text: str, pattern: re.Pattern[str], instead: str) -> Page:
    parts: list[str] = []
    places: list[int] = [0]
    origins: list[int] = [0]
    done = length = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        parts.append(text[done:start])
        parts.append(instead)
        length += start - done + len(instead)
        places.append(length)
        origins.append(end)
        done = end
    parts.append(text[done:])
    return Page("".join(parts), tuple(places), tuple(origins))


class Lines:
    """Line and column of offsets in a paste, asked in any order."""

    def __init__(self, text: str) -> None:
        """Note where the lines of `text` begin."""
        starts = [0]
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self._starts = starts
        self.count = len(starts) - (starts[-1] == len(text)) if text else 0

    def place(self, at: int) -> tuple[int, int]:
        """1-based line and column."""
        line = bisect_right(self._starts, at)
        return line, at - self._starts[line - 1] + 1
