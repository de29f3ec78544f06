r"""The Debug form of Rust values: names, tuples, structs, lists, texts and numbers.

Read from untrusted text, so the depth, the number of parts and the length are bounded, and each character is looked
at once. A text that was wrapped by a terminal is read as if it were not: line breaks between tokens mean nothing, and
a raw one inside a text is dropped, because the Debug form itself writes `\n` there.

Source: host 5.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

MAX_DEPTH = 24
MAX_PARTS = 2_000

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<uuid>[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12})
    | (?P<word>[A-Za-z_][A-Za-z0-9_]{0,127}(?:::[A-Za-z_][A-Za-z0-9_]{0,127}){0,8})
    | (?P<number>-?[0-9]{1,40})
    | (?P<mark>[{}()\[\],:])
    | (?P<quote>["'])
    )""",
    re.VERBOSE | re.ASCII,
)
_PLAIN = re.compile(r'[^"\\\n]+')
_PLAIN_CHAR = re.compile(r"[^'\\\n]+")
_WRAP = re.compile(r"\n(?:[ \t]{2,})?")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "\\": "\\", '"': '"', "'": "'"}
_CODE = re.compile(r"u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})")


class NotDebug(Exception):  # noqa: N818 - never leaves the package
    """The text is no Debug form; `at` is where that shows, `ended` whether the text merely ends too early."""

    def __init__(self, at: int, ended: bool = False) -> None:
        self.at, self.ended = at, ended
        super().__init__(at)


@dataclass(frozen=True, slots=True)
class Form:
    """One Debug value.

    Attributes:
        name: the type or variant name without its path, empty for lists, tuples, texts and numbers.
        items: of a tuple or a list, in order.
        fields: of a struct, in order.
        text: of a text, a number or a UUID; None for everything else.
    """

    name: str = ""
    items: tuple[Form, ...] = ()
    fields: tuple[tuple[str, Form], ...] = ()
    text: str | None = None

    @property
    def by_name(self) -> Mapping[str, Form]:
        """The fields of a struct."""
        return dict(self.fields)

    @property
    def bare(self) -> Form:
        """The innermost value: newtypes around a single value are looked through."""
        here = self
        while here.text is None and len(here.items) == 1 and not here.fields:
            here = here.items[0]
        return here

    @property
    def plain(self) -> str | None:
        """The text or number inside, if a single one is all there is."""
        return self.bare.text


class DebugReader:
    """Reads one Debug value from a text, from a place on.

    Attributes:
        at: the offset behind what was read.
    """

    def __init__(self, text: str, at: int) -> None:
        """Begin at an offset of a text."""
        self._text = text
        self.at = at
        self._parts = 0

    def value(self, depth: int = 0) -> Form:
        """The value that begins here.

        Raises:
            NotDebug: if none does, or if it is too deep or too large.
        """
        self._parts += 1
        if depth > MAX_DEPTH or self._parts > MAX_PARTS:
            raise NotDebug(self.at)
        kind, token = self._next()
        match kind:
            case "uuid" | "number":
                return Form(text=token)
            case "quote":
                return Form(text=self._quoted(token))
            case "mark" if token in "([":
                return Form(items=self._items(")" if token == "(" else "]", depth))
            case "word":
                return self._named(token.rpartition("::")[2], depth)
            case _:
                raise NotDebug(self.at)

    def _named(self, name: str, depth: int) -> Form:
        match self._peek():
            case "(":
                self._next()
                return Form(name, items=self._items(")", depth))
            case "{":
                self._next()
                return Form(name, fields=self._fields(depth))
            case _:
                return Form(name)

    def _items(self, close: str, depth: int) -> tuple[Form, ...]:
        items: list[Form] = []
        while self._peek() != close:
            items.append(self.value(depth + 1))
            if self._peek() != ",":
                break
            self._next()
        self._expect(close)
        return tuple(items)

    def _fields(self, depth: int) -> tuple[tuple[str, Form], ...]:
        fields: list[tuple[str, Form]] = []
        while self._peek() != "}":
            kind, name = self._next()
            if kind != "word":
                raise NotDebug(self.at)
            self._expect(":")
            fields.append((name, self.value(depth + 1)))
            if self._peek() != ",":
                break
            self._next()
        self._expect("}")
        return tuple(fields)

    def _peek(self) -> str:
        found = _TOKEN.match(self._text, self.at)
        return found[found.lastgroup or ""] if found else ""

    def _expect(self, mark: str) -> None:
        kind, token = self._next()
        if kind != "mark" or token != mark:
            raise NotDebug(self.at)

    def _next(self) -> tuple[str, str]:
        found = _TOKEN.match(self._text, self.at)
        if found is None or found.lastgroup is None:
            raise NotDebug(self.at, not self._text[self.at :].strip())
        self.at = found.end()
        return found.lastgroup, found[found.lastgroup]

    def _quoted(self, quote: str) -> str:
        text, at, parts = self._text, self.at, list[str]()
        plain = _PLAIN if quote == '"' else _PLAIN_CHAR
        while at < len(text):
            here = text[at]
            if here == quote:
                self.at = at + 1
                return "".join(parts)
            if here == "\n":
                wrap = _WRAP.match(text, at)
                assert wrap is not None  # it begins with the line feed that stands here
                at = wrap.end()
            elif here == "\\":
                piece, at = _escaped(text, at)
                parts.append(piece)
            else:
                run = plain.match(text, at)
                assert run is not None  # `here` is one of the characters that it takes
                parts.append(run[0])
                at = run.end()
        raise NotDebug(at, True)


def _escaped(text: str, at: int) -> tuple[str, int]:
    """The character that the escape at `at` writes, and where the text goes on; unknown ones stand for themselves."""
    mark = text[at + 1 : at + 2]
    if mark in _ESCAPES:
        return _ESCAPES[mark], at + 2
    code = _CODE.match(text, at + 1)
    if code is None:
        return "\\", at + 1
    number = int(code[1] or code[2], 16)
    return ("\ufffd" if number > 0x10FFFF or 0xD800 <= number < 0xE000 else chr(number)), code.end()
