"""JSON documents read piece by piece: one card of a list at a time, never the whole text.

Source: RFC 8259; interface, an unreadable document.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from policyd.findings import InputError, Span
from policyd.store.codes import StoreCode
from policyd.store.json_places import JsonText, step

CHUNK_BYTES = 1 << 18
"""How much is read at a time."""

MAX_ITEM_CHARS = 1 << 26
"""The longest single value that is read at once; a card with the greatest number of grants stays below it."""

MAX_DOCUMENT_BYTES = 1 << 32
"""The longest document."""

_SPACE = " \t\n\r"
_NUMBER = frozenset("0123456789+-.eE")

BytesRead = Callable[[int], None]
"""Told how many bytes were read since the last call."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One value of a document.

    Attributes:
        document: counts the documents of the source, from 0.
        key: the member of the top-level object it belongs to; empty in a list, or where the whole document is meant.
        value: as parsed.
        text: as written, with its place.
        is_item: whether it is an item of a list, rather than the value of a member.
    """

    document: int
    key: str
    value: object
    text: JsonText
    is_item: bool


class _RepeatedError(ValueError):
    """An object names a member twice."""


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        raise _RepeatedError(next(name for name in names if names.count(name) > 1))
    return found


def _no_constant(name: str) -> object:
    raise ValueError(f"`{name}` is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_constant)


class _Source:
    """The text of a source, of which only a window is kept."""

    def __init__(self, stream: BinaryIO, name: str, read: BytesRead) -> None:
        self._stream, self.name, self._read = stream, name, read
        self._decode = codecs.getincrementaldecoder("utf-8")("strict").decode
        self.text = ""
        self.at = 0
        self.ended = False
        self._bytes = 0
        # line and column stand for the character at `_counted`, the offset for the first one of the window
        self._line, self._column, self._offset = 1, 1, 0
        self._counted = 0
        self._fill()
        if self.text.startswith("\ufeff"):
            self.at = 1

    def _fill(self) -> bool:
        """Read one more chunk; False at the end."""
        if self.ended:
            return False
        data = self._stream.read(max(CHUNK_BYTES, len(self.text) - self.at))
        self._bytes += len(data)
        self._read(len(data))
        if self._bytes > MAX_DOCUMENT_BYTES:
            raise self.refuse(StoreCode.TOO_LARGE, f"the document is longer than {MAX_DOCUMENT_BYTES} bytes")
        self.ended = not data
        self._drop()
        try:
            self.text += self._decode(data, final=not data)
        except UnicodeDecodeError as why:
            raise self.refuse(
                StoreCode.JSON_SYNTAX, f"the document is not UTF-8 near byte {self._bytes - len(data) + why.start}"
            ) from None
        return True

    def _drop(self) -> None:
        """Forget what was read, and keep count of lines and columns."""
        self._count(self.at)
        self._offset += self.at
        self.text = self.text[self.at :]
        self.at = self._counted = 0

    def place(self, at: int) -> tuple[int, int, int]:
        """Line, column and offset of a position in the window."""
        self._count(at)
        return self._line, self._column, self._offset + at

    def _count(self, at: int) -> None:
        """Count lines and columns up to `at`, which never goes back."""
        lines = self.text.count("\n", self._counted, at)
        if lines:
            self._line += lines
            self._column = at - self.text.rindex("\n", self._counted, at)
        else:
            self._column += at - self._counted
        self._counted = at

    def refuse(self, code: StoreCode, message: str, path: str = "$", help: str = "") -> InputError:
        """An error at the present position."""
        line, column, offset = self.place(self.at)
        return code.error(message, Span(self.name, line, column, offset, offset, path), help)

    def peek(self) -> str:
        """The next character that is not white space, empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _SPACE:
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self._fill():
                return ""

    def take(self, sign: str, path: str) -> None:
        """Step over `sign`, which must come next."""
        found = self.peek()
        if found != sign:
            shown = f"`{found}`" if found else "the end"
            raise self.refuse(StoreCode.JSON_SYNTAX, f"expected `{sign}`, found {shown}", path)
        self.at += 1

    def value(self, path: str) -> tuple[object, JsonText]:
        """The next value, whole."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self.text, self.at)
            except json.JSONDecodeError as why:
                if self._fill_within_bounds(path):
                    continue
                self.at = max(self.at, min(why.pos, len(self.text)))
                raise self.refuse(StoreCode.JSON_SYNTAX, f"not JSON: {_lower(why.msg)}", path) from None
            except RecursionError:
                raise self.refuse(StoreCode.TOO_LARGE, "the document is nested too deeply", path) from None
            except _RepeatedError as name:
                raise self.refuse(StoreCode.JSON_SYNTAX, f"member `{str(name)[:80]}` stands twice", path) from None
            except ValueError as why:
                raise self.refuse(StoreCode.JSON_SYNTAX, f"not JSON: {_lower(str(why))[:120]}", path) from None
            if self._may_go_on(end) and self._fill_within_bounds(path):
                continue
            line, column, offset = self.place(self.at)
            text = JsonText(self.name, self.text[self.at : end], path, line, column, offset)
            self.at = end
            return value, text

    def _may_go_on(self, end: int) -> bool:
        """Whether the value before `end` is a number that the rest of the window continues up to its end."""
        if self.text[end - 1] not in _NUMBER:
            return False
        while end < len(self.text) and self.text[end] in _NUMBER:
            end += 1
        return end == len(self.text)

    def _fill_within_bounds(self, path: str) -> bool:
        if len(self.text) - self.at > MAX_ITEM_CHARS:
            raise self.refuse(StoreCode.TOO_LARGE, f"a value is longer than {MAX_ITEM_CHARS} characters", path)
        return self._fill()


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]


def _unread(_: int) -> None:
    """The count nobody looks at."""


def pieces(stream: BinaryIO, name: str, lists: frozenset[str], read: BytesRead = _unread) -> Iterator[Piece]:
    """The values of all documents in `stream`, in order.

    A top-level list gives one piece per item; an object gives one per member, and one per item for members
    named in `lists`; anything else is one piece. An empty list gives none.

    Args:
        stream: bytes of UTF-8, one document or several.
        name: of the source, for places.
        lists: members whose lists are given item by item.
        read: told of the bytes read.

    Raises:
        InputError: STORE020 for text that is no JSON, STORE022 for what exceeds a bound, with the place.
    """
    source = _Source(stream, name, read)
    count = 0
    while first := source.peek():
        if first == "[":
            yield from _items(source, count, "", "$")
        elif first == "{":
            yield from _object(source, count, lists)
        else:
            value, text = source.value("$")
            yield Piece(count, "", value, text, is_item=False)
        count += 1
    if count == 0:
        raise source.refuse(StoreCode.JSON_SYNTAX, "the document is empty")


def _items(source: _Source, count: int, key: str, path: str) -> Iterator[Piece]:
    source.take("[", path)
    index = 0
    while source.peek() != "]":
        if index:
            source.take(",", path)
        value, text = source.value(f"{path}[{index}]")
        yield Piece(count, key, value, text, is_item=True)
        index += 1
    source.take("]", path)


def _object(source: _Source, count: int, lists: frozenset[str]) -> Iterator[Piece]:
    source.take("{", "$")
    seen: set[str] = set()
    while source.peek() != "}":
        if seen:
            source.take(",", "$")
        if source.peek() != '"':
            raise source.refuse(StoreCode.JSON_SYNTAX, "expected the name of a member")
        key, _ = source.value("$")
        assert isinstance(key, str)  # it began with a quote
        if key in seen:
            raise source.refuse(StoreCode.JSON_SYNTAX, f"member `{key[:80]}` stands twice")
        seen.add(key)
        source.take(":", "$")
        path = "$" + step(key)
        if key in lists and source.peek() == "[":
            yield Piece(count, key, None, JsonText(source.name, "", path, *source.place(source.at)), is_item=False)
            yield from _items(source, count, key, path)
        else:
            value, text = source.value(path)
            yield Piece(count, key, value, text, is_item=False)
    source.take("}", "$")
