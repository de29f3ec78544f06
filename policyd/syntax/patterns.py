"""Regular expressions in linear time: the platform's dialect on RE2.

Patterns are read by the rules of the platform's own engine and rewritten for RE2, whose classes of digits,
spaces and words know ASCII only. A construct that cannot be rewritten faithfully gives no answer, not a wrong one.

Source: middleware 8.2, 8.4.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import re2

from policyd.syntax.pattern_dialect import NotAPatternError, UnsupportedPatternError, rewrite

MAX_PATTERN = 10_000
"""Characters of a pattern that are looked at; longer ones get no answer."""
MAX_PROGRAM_BYTES = 16 * 1024 * 1024
"""Memory that RE2 may use for one pattern; what needs more gets no answer."""


_WORD_CATEGORIES = ("Mn", "Mc", "Me", "Pc", "Nl", "So")


class Re2Patterns:
    """The port `policyd.core.schema.engines.PatternEngine` on RE2."""

    def is_valid(self, pattern: str) -> bool | None:
        """Whether the platform would compile the pattern; None when that cannot be told here."""
        return _compiled(pattern).valid

    def finds(self, pattern: str, text: str) -> bool | None:
        """Whether the pattern matches somewhere in the text; None when that cannot be told here."""
        compiled = _compiled(pattern)
        if compiled.valid is False:
            return False
        if compiled.program is None:
            return None
        found = bool(compiled.program.search(text))
        if compiled.without_edges is None or text.isascii() or not any(_is_word(c) for c in text if not c.isascii()):
            return found
        # RE2 knows word boundaries for ASCII only; without them the pattern finds at least as much
        return None if compiled.without_edges.search(text) else False


class _Compiled:
    """A pattern made ready.

    `program` is None where no answer can be given; `without_edges` is there for patterns with word boundaries.
    """

    __slots__ = ("program", "valid", "without_edges")

    def __init__(self, pattern: str) -> None:
        self.valid: bool | None = True
        self.program = None
        self.without_edges = None
        try:
            if len(pattern) > MAX_PATTERN:
                raise UnsupportedPatternError("too long")
            rewritten = rewrite(pattern)
            self.program = re2.compile(rewritten.text, _options())
            if rewritten.without_edges is not None:
                self.without_edges = re2.compile(rewritten.without_edges, _options())
        except NotAPatternError:
            self.valid = False
        except UnsupportedPatternError as unsupported:
            self.valid = True if unsupported.is_valid else None
        except re2.error:
            self.valid = None


def _is_word(char: str) -> bool:
    """Whether the platform counts a character among the word characters."""
    return char.isalnum() or char in "\u200c\u200d" or unicodedata.category(char) in _WORD_CATEGORIES


def _options() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_PROGRAM_BYTES
    return options


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> _Compiled:
    return _Compiled(pattern)
