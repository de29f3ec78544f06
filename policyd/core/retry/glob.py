"""Globs as the platform matches them: one pass with limited backtracking, over bytes.

The pass is reproduced move by move, because some patterns come out otherwise than their intent
suggests. What it does for each byte of the pattern stands in the table of the source.

Source: retry 1.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from policyd.core.retry.errors import GlobEffortError

MAX_GLOB_BYTES = 65_536
"""Longer patterns or texts are not compared."""

MAX_GLOB_WORK = 400_000
"""Bytes looked at before a comparison is given up."""

_MAX_FRAMES = 10

_STAR, _QUESTION, _OPEN, _CLOSE, _COMMA, _BRACKET, _CLOSE_BRACKET = b"*?{},[]"
_SLASH, _BACKSLASH, _BANG, _CARET, _DASH = b"/\\!^-"
_ESCAPES = {ord("a"): ord("a"), ord("b"): 8, ord("n"): 10, ord("r"): 13, ord("t"): 9}


class _Resume(NamedTuple):
    """A point to go back to; a text position of 0 means there is none."""

    pattern: int = 0
    text: int = 0


class _Frame(NamedTuple):
    """What is restored when a group of alternatives ends."""

    pattern: int
    text: int
    star: _Resume
    deep: _Resume


class _InvalidPatternError(Exception):
    """The pattern is not one."""


_UNSET = _Resume()


class _Pass:
    """One pass of the matcher; `i` and `j` are the positions in the pattern and in the text."""

    def __init__(self, pattern: bytes, text: bytes, start: int) -> None:
        self.pattern, self.text = pattern, text
        self.i, self.j = start, 0
        self.star, self.deep = _UNSET, _UNSET
        self.frames: list[_Frame] = []
        self.best = 0
        self.work = 0

    def run(self) -> bool:
        pattern, text = self.pattern, self.text
        while self.i < len(pattern) or self.j < len(text):
            self.spend(1)
            if not (self.i < len(pattern) and self.advance(pattern[self.i])) and not self.retreat():
                return False
        return True

    def spend(self, work: int) -> None:
        self.work += work
        if self.work > MAX_GLOB_WORK:
            raise GlobEffortError.of(self.pattern.decode(errors="replace"))

    def advance(self, byte: int) -> bool:
        """Make the move for `byte`; False when its condition fails."""
        if byte == _STAR:
            self.on_star()
            return True
        if self.frames and byte == _CLOSE:
            self.best = max(self.best, self.j)
            self.i += 1
            self.pop()
            return True
        if self.frames and byte == _COMMA:
            self.best = max(self.best, self.j)
            self.j = self.frames[-1].text
            self.star = self.deep = _UNSET
            self.i += 1
            return True
        if self.j >= len(self.text):
            return False
        if byte == _QUESTION:
            if self.text[self.j] == _SLASH:
                return False
            self.i += 1
            self.j += 1
            return True
        if byte == _BRACKET:
            return self.on_class()
        if byte == _OPEN:
            if len(self.frames) >= _MAX_FRAMES:
                raise _InvalidPatternError
            self.frames.append(_Frame(self.i, self.j, self.star, self.deep))
            self.star = self.deep = _UNSET
            self.i += 1
            return True
        return self.on_literal()

    def on_star(self) -> None:
        pattern, text = self.pattern, self.text
        double = pattern[self.i + 1 : self.i + 2] == b"*"
        if double:
            while pattern[self.i + 2 : self.i + 5] == b"/**":
                self.i += 3
                self.spend(1)
        pair = self.i
        self.star = _Resume(pair, self.j + 1)
        if double:
            self.i += 2
            if self.i >= len(pattern):
                self.deep = self.star
            elif (pair == 0 or pattern[pair - 1] == _SLASH) and pattern[self.i] == _SLASH:
                self.deep = self.star
                if self.j == 0 or (self.j < len(text) and text[self.j - 1] == _SLASH):
                    self.i += 1
        else:
            self.i += 1
        if self.star.text != self.deep.text and self.j < len(text) and text[self.j] == _SLASH:
            if self.deep.text and self.j + 1 < len(text):
                self.i = self.deep.pattern
                self.star = _Resume(self.deep.pattern, self.star.text)
            else:
                self.star = _Resume(self.star.pattern, 0)
        if self.frames and self.i < len(pattern) and pattern[self.i] in (_COMMA, _CLOSE):
            self.skip(alternatives=False)

    def on_class(self) -> bool:
        pattern, byte = self.pattern, self.text[self.j]
        i = self.i + 1
        negated = i < len(pattern) and pattern[i] in (_CARET, _BANG)
        i += negated
        inside, first = False, True
        while True:
            self.spend(1)
            if i >= len(pattern):
                raise _InvalidPatternError
            if pattern[i] == _CLOSE_BRACKET and not first:
                break
            low, i = self.escaped(i)
            high = low
            if i + 1 < len(pattern) and pattern[i] == _DASH and pattern[i + 1] != _CLOSE_BRACKET:
                high, i = self.escaped(i + 1)
            inside = inside or low <= byte <= high
            first = False
        # INVARIANT: the position moves on also where the byte does not fit; a search for alternatives starts there.
        self.i = i + 1
        if inside == negated:
            return False
        self.j += 1
        return True

    def escaped(self, i: int) -> tuple[int, int]:
        """The byte that stands at `i`, escapes resolved, and the position behind it."""
        byte = self.pattern[i]
        if byte != _BACKSLASH:
            return byte, i + 1
        if i + 1 >= len(self.pattern):
            raise _InvalidPatternError
        hidden = self.pattern[i + 1]
        return _ESCAPES.get(hidden, hidden), i + 2

    def on_literal(self) -> bool:
        byte, behind = self.escaped(self.i)
        self.i = behind - 1
        if byte != self.text[self.j]:
            return False
        if self.frames and self.i > 0 and self.pattern[self.i - 1] == _CLOSE:
            self.best = self.j
            self.pop()
        self.i = behind
        self.j += 1
        if byte != _SLASH:
            self.deep = _Resume(self.deep.pattern, 0)
        return True

    def pop(self) -> None:
        frame = self.frames.pop()
        self.j, self.star, self.deep = self.best, frame.star, frame.deep
        if not self.frames:
            self.best = 0

    def skip(self, *, alternatives: bool) -> bool:
        """Go behind the end of the group, or with `alternatives` behind its next comma; True for a comma."""
        pattern, i, level = self.pattern, self.i, 1
        while i < len(pattern):
            self.spend(1)
            byte = pattern[i]
            i += 1
            if byte == _BACKSLASH:
                i += 1
            elif byte == _BRACKET:
                closing = pattern.find(b"]", i)
                if closing < 0:
                    raise _InvalidPatternError
                self.spend(closing - i)
                i = closing + 1
            elif byte == _OPEN:
                level += 1
            elif byte == _CLOSE:
                level -= 1
                if level == 0:
                    self.i = i
                    return False
            elif byte == _COMMA and level == 1 and alternatives:
                self.i = i
                return True
        raise _InvalidPatternError

    def retreat(self) -> bool:
        """Go back to where another try is possible; False when there is none."""
        if self.resume():
            return True
        if not self.frames:
            return False
        if self.skip(alternatives=True):
            self.j = self.frames[-1].text
            return True
        if self.best:
            self.pop()
            return True
        self.i, self.j, self.star, self.deep = self.frames.pop()
        return self.resume()

    def resume(self) -> bool:
        if self.star.text and self.star.text <= len(self.text):
            self.i, self.j = self.star
            return True
        return False


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern with what can be told from it before a pass.

    Attributes:
        raw: its bytes.
        start: how many `!` lead it.
        prefix: the text with which a match must begin; up to the first special byte the pass compares byte by
            byte and has nowhere to go back to.
        is_text: whether that is all of it.
        pieces: texts that must follow each other in a match, behind the prefix.
        suffix: the text with which a match must end.
    """

    raw: bytes
    start: int
    prefix: str
    is_text: bool
    pieces: tuple[str, ...]
    suffix: str

    def rules_out(self, text: str) -> bool:
        """Whether the pass would surely fail, with no part of the pattern invalid on its way."""
        if not text.startswith(self.prefix) or not text.endswith(self.suffix):
            return True
        at = len(self.prefix)
        for piece in self.pieces:
            at = text.find(piece, at)
            if at < 0:
                return True
            at += len(piece)
        return False


_MAX_REMEMBERED = 1_024
_FIRST_SPECIAL = re.compile(r"[*?{}\[\],\\]")
_WILD = re.compile(r"(\*+|\?)")


@lru_cache(maxsize=4096)
def _read(pattern: str) -> _Pattern:
    body = pattern.lstrip("!")
    start = len(pattern) - len(body)
    found = _FIRST_SPECIAL.search(body)
    raw = pattern.encode("utf-8", "surrogatepass")
    if found is None:
        return _Pattern(raw, start, body, True, (), "")
    prefix, rest = body[: found.start()], body[found.start() :]
    if _FIRST_SPECIAL.search(rest.replace("*", "").replace("?", "")):
        return _Pattern(raw, start, prefix, False, (), "")
    parts = _WILD.split(rest)
    pieces = []
    for wild, piece in zip(parts[1::2], parts[2::2], strict=True):
        # A double star may take the slash behind it along.
        pieces.append(piece.removeprefix("/") if len(wild) > 1 else piece)
    suffix = pieces[-1]
    return _Pattern(raw, start, prefix, False, tuple(p for p in pieces if p), suffix)


def glob_matches(pattern: str, text: str) -> bool:
    """Whether the platform finds that `text` matches `pattern`.

    >>> glob_matches("**/b", "a/b"), glob_matches("*", "a/b"), glob_matches("!a*", "b")
    (True, False, True)

    Raises:
        GlobEffortError: RETRY129, when the comparison takes more than `MAX_GLOB_WORK`.

    Source: retry 1.4.
    """
    known = _read(pattern) if len(pattern) <= _MAX_REMEMBERED else _read.__wrapped__(pattern)
    toggled = known.start % 2 == 1
    if known.is_text:
        return (text == known.prefix) != toggled
    if known.rules_out(text):
        return toggled
    subject = text.encode("utf-8", "surrogatepass")
    if max(len(known.raw), len(subject)) > MAX_GLOB_BYTES:
        raise GlobEffortError.of(pattern)
    try:
        return _Pass(known.raw, subject, known.start).run() != toggled
    except _InvalidPatternError:
        return False
