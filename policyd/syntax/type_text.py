"""The short notation of types: `record{path: string, line: u32(1..)}` to schema types.

Source: middleware 6.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from policyd.core.schema.numbers import Family, NumberKind, bits_of_float
from policyd.core.schema.restrictions import (
    Amount,
    BinaryRestriction,
    Bound,
    NumericRestriction,
    PathDirection,
    PathKind,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.types import (
    STRING,
    BinaryType,
    Branch,
    Case,
    Discriminator,
    EnumType,
    Field,
    FieldAbsent,
    FieldEquals,
    FixedListType,
    FlagsType,
    FutureType,
    ListType,
    MapType,
    NumberType,
    OptionType,
    PathType,
    PermissionCardType,
    PlainKind,
    PlainType,
    QuantityType,
    QuotaTokenType,
    RecordType,
    RefType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    StringRule,
    TextRule,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
)
from policyd.findings import InputError
from policyd.findings.span import span_of_text

MAX_NOTATION = 100_000
"""Characters of one type; longer texts are refused unread."""
MAX_NOTATION_DEPTH = 120
"""Types inside each other."""

_T = TypeVar("_T")
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<dots>\.\.)"""
    r"""|(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![A-Za-z0-9_/]|\.[0-9]))"""
    r"""|(?P<amount>-?[0-9]+(?:\.[0-9]+)?[A-Za-z%]+(?![A-Za-z0-9_/.-]))"""
    r"""|(?P<word>[A-Za-z0-9_](?:[A-Za-z0-9_/+-]|\.(?!\.))*)|(?P<sign>.))""",
    re.DOTALL,
)
_AMOUNT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:[eE]([-+]?[0-9]+))?(.*)", re.DOTALL)


def parse_type(text: str, source: str = "argument") -> SchemaType:
    """The type that a text in the short notation stands for.

    Raises:
        InputError: SCHEMA010, at the first character that cannot be read.

    >>> parse_type("list<u8; 4>").length
    4
    """
    if len(text) > MAX_NOTATION:
        raise InputError.of("SCHEMA010", f"a type of more than {MAX_NOTATION} characters is not read")
    reader = _Reader(text, source)
    found = reader.type(0)
    if reader.kind:
        reader.refuse("the type ends before this")
    return found


@dataclass(slots=True)
class _Reader:
    """One text; the next token is held ready."""

    text: str
    source: str
    at: int = 0
    kind: str = field(default="", init=False)
    token: str = field(default="", init=False)
    end: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.advance()

    def advance(self) -> None:
        """Make the next token ready; its kind is empty at the end."""
        match = _TOKEN.match(self.text, self.end)
        if match is None or not self.text[self.end :].strip():
            self.kind, self.token, self.at = "", "", len(self.text)
            self.end = self.at
            return
        self.kind = match.lastgroup or ""
        self.token = match[self.kind]
        self.at, self.end = match.start(self.kind), match.end()

    def refuse(self, message: str) -> NoReturn:
        """Refuse the text at the token that is ready."""
        span = span_of_text(self.source, self.text, self.at, max(self.end, self.at + 1))
        raise InputError.of("SCHEMA010", message, span, "types are written like `record{path: string, line: u32(1..)}`")

    def skip(self, wanted: str) -> bool:
        """Take the token if it is this one."""
        if self.token != wanted or self.kind == "text":
            return False
        self.advance()
        return True

    def take(self, wanted: str) -> None:
        """Take this token, which must be the next."""
        if not self.skip(wanted):
            self.refuse(f"`{wanted}` is wanted here" + (f", not `{self.token[:40]}`" if self.kind else ""))

    def name(self) -> str:
        """A name: a word, a number used as one, or a text in quotes."""
        if self.kind == "text":
            return self.string()
        if self.kind not in ("word", "number", "amount"):
            self.refuse("a name is wanted here")
        found = self.token
        self.advance()
        return found

    def string(self) -> str:
        """A text in double quotes."""
        if self.kind != "text":
            self.refuse("a text in double quotes is wanted here")
        try:
            found = json.loads(self.token)
        except ValueError:
            self.refuse("this text has an escape that cannot be read")
        if any("\ud800" <= c <= "\udfff" for c in found):
            self.refuse("half of a surrogate pair is no character")
        self.advance()
        return str(found)

    def integer(self) -> int:
        """A whole number that is not negative."""
        if self.kind != "number" or not self.token.isdigit() or len(self.token) > 20:
            self.refuse("a whole number is wanted here")
        found = int(self.token)
        self.advance()
        return found

    def many(self, end: str, separator: str, read: Callable[[], _T]) -> tuple[_T, ...]:
        """Parts up to an end."""
        parts: list[_T] = []
        while not self.skip(end):
            parts.append(read())
            if not self.skip(separator):
                self.take(end)
                break
        return tuple(parts)

    def type(self, depth: int) -> SchemaType:
        """A type."""
        if depth > MAX_NOTATION_DEPTH:
            self.refuse(f"types are nested deeper than {MAX_NOTATION_DEPTH} levels")
        if self.skip("&"):
            return RefType(self.name())
        if self.kind != "word":
            self.refuse("a type is wanted here")
        word = self.token
        if word in _PLAIN:
            self.advance()
            return PlainType(_PLAIN[word])
        if word in _NUMBERS:
            self.advance()
            return self.number(_NUMBERS[word])
        if word not in _READERS:
            self.refuse(f"`{word[:40]}` is no type")
        self.advance()
        return _READERS[word](self, depth + 1)

    def inner(self, depth: int) -> SchemaType:
        """A type in angle brackets."""
        self.take("<")
        found = self.type(depth)
        self.take(">")
        return found

    def maybe_inner(self, depth: int) -> SchemaType | None:
        """A type in angle brackets, if there is one."""
        return self.inner(depth) if self.token == "<" else None

    def number(self, kind: NumberKind) -> SchemaType:
        """The restriction of a number, if there is one."""
        if not self.skip("("):
            return NumberType(kind)
        low = high = unit = None
        if self.token != "unit":
            low = None if self.skip("..") else self.bound(kind)
            if low is not None:
                self.take("..")
            if self.token not in (")", ","):
                high = self.bound(kind)
            if not self.skip(",") and self.token != ")":
                self.refuse("`,` or `)` is wanted here")
        if self.skip("unit"):
            self.take("=")
            unit = self.name()
        self.take(")")
        restriction = NumericRestriction(low, high, unit or None)
        return NumberType(kind, None if restriction == NumericRestriction() else restriction)

    def bound(self, kind: NumberKind) -> Bound:
        """One bound, in the family of the type."""
        text = self.token
        if self.kind != "number" or len(text) > 400:
            self.refuse("a number is wanted here")
        if kind.family is Family.FLOAT:
            found = float(text)
            if found in (float("inf"), float("-inf")):
                self.refuse("this number is too large for a double")
            self.advance()
            return Bound(Family.FLOAT, bits_of_float(found))
        if not text.lstrip("-").isdigit() or len(text) > 21:
            self.refuse("a whole number is wanted here")
        value = int(text)
        low, high = (-(2**63), 2**63 - 1) if kind.family is Family.SIGNED else (0, 2**64 - 1)
        if not low <= value <= high:
            self.refuse("this bound does not fit 64 bits")
        self.advance()
        return Bound(kind.family, value)

    def arguments(self, plain: int, *named: str) -> tuple[list[str], dict[str, str | tuple[str, ...] | int]]:
        """The arguments in parentheses: plain ones first, then `name=value`; lists stand in brackets."""
        first: list[str] = []
        found: dict[str, str | tuple[str, ...] | int] = {}
        if not self.skip("("):
            return first, found
        while not self.skip(")"):
            at, end, kind, token = self.at, self.end, self.kind, self.token
            name = self.name()
            if self.skip("="):
                if kind == "text" or name not in named or name in found:
                    self.at, self.end, self.kind, self.token = at, end, kind, token
                    self.refuse(f"there is no argument `{name[:40]}` here, or it stands twice")
                found[name] = self.argument(name)
            elif len(first) < plain and not found:
                first.append(name)
            else:
                self.at, self.end = at, end
                self.refuse(f"`{name[:40]}` is one argument too many")
            if not self.skip(","):
                self.take(")")
                break
        return first, found

    def argument(self, name: str) -> str | tuple[str, ...] | int:
        """The value of a named argument."""
        if name in _LISTS:
            self.take("[")
            return self.many("]", ",", self.name)
        if name in ("min", "max") and self.kind == "number" and self.token.isdigit() and len(self.token) <= 20:
            return self.integer()
        if name == "regex":
            return self.string()
        return self.name()

    def rule(self) -> Discriminator:
        """The rule of a union's branch."""
        name = self.token
        if name not in _RULES:
            self.refuse("a rule is wanted here: prefix, suffix, contains, regex, field-equals or field-absent")
        self.advance()
        self.take("(")
        match name:
            case "field-equals":
                field_name = self.name()
                found: Discriminator = FieldEquals(field_name, self.string() if self.skip(",") else None)
            case "field-absent":
                found = FieldAbsent(self.name())
            case _:
                found = StringRule(TextRule(name), self.string())
        self.take(")")
        return found


def _record(reader: _Reader, depth: int) -> SchemaType:
    def one() -> Field:
        name = reader.name()
        reader.take(":")
        return Field(name, reader.type(depth))

    reader.take("{")
    return RecordType(reader.many("}", ",", one))


def _tuple(reader: _Reader, depth: int) -> SchemaType:
    reader.take("(")
    return TupleType(reader.many(")", ",", lambda: reader.type(depth)))


def _list(reader: _Reader, depth: int) -> SchemaType:
    reader.take("<")
    element = reader.type(depth)
    length = reader.integer() if reader.skip(";") else None
    if length is not None and length > 2**32 - 1:
        reader.refuse("a length does not fit 32 bits")
    reader.take(">")
    return ListType(element) if length is None else FixedListType(element, length)


def _map(reader: _Reader, depth: int) -> SchemaType:
    reader.take("<")
    key = reader.type(depth)
    reader.take(",")
    value = reader.type(depth)
    reader.take(">")
    return MapType(key, value)


def _result(reader: _Reader, depth: int) -> SchemaType:
    def slot() -> SchemaType | None:
        return None if reader.skip("_") else reader.type(depth)

    reader.take("<")
    ok = slot()
    reader.take(",")
    err = slot()
    reader.take(">")
    return ResultType(ok, err)


def _enum(reader: _Reader, depth: int) -> SchemaType:
    reader.take("(")
    return EnumType(reader.many(")", "|", reader.name))


def _flags(reader: _Reader, depth: int) -> SchemaType:
    reader.take("(")
    return FlagsType(reader.many(")", "|", reader.name))


def _variant(reader: _Reader, depth: int) -> SchemaType:
    def one() -> Case:
        name = reader.name()
        return Case(name, reader.type(depth) if reader.skip(":") else None)

    reader.take("(")
    return VariantType(reader.many(")", "|", one))


def _union(reader: _Reader, depth: int) -> SchemaType:
    def one() -> Branch:
        tag = reader.name()
        reader.take(":")
        body = reader.type(depth)
        reader.take("if")
        return Branch(tag, body, reader.rule())

    reader.take("(")
    return UnionType(reader.many(")", "|", one))


def _size(reader: _Reader, found: dict[str, str | tuple[str, ...] | int], name: str) -> int | None:
    value = found.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or value > 2**32 - 1:
        reader.refuse(f"`{name}` is a whole number of 32 bits")
    return value


def _names(found: dict[str, str | tuple[str, ...] | int], name: str) -> tuple[str, ...] | None:
    value = found.get(name)
    return value if isinstance(value, tuple) else None


def _string(found: dict[str, str | tuple[str, ...] | int], name: str) -> str | None:
    value = found.get(name)
    return None if value is None else str(value)


def _text(reader: _Reader, depth: int) -> SchemaType:
    _, found = reader.arguments(0, "min", "max", "regex", "lang")
    low, high = _size(reader, found, "min"), _size(reader, found, "max")
    return TextType(TextRestriction(_names(found, "lang"), low, high, _string(found, "regex")))


def _binary(reader: _Reader, depth: int) -> SchemaType:
    _, found = reader.arguments(0, "min", "max", "mime")
    low, high = _size(reader, found, "min"), _size(reader, found, "max")
    return BinaryType(BinaryRestriction(_names(found, "mime"), low, high))


def _path(reader: _Reader, depth: int) -> SchemaType:
    plain, found = reader.arguments(2, "ext", "mime")
    directions, kinds = {d.value: d for d in PathDirection}, {k.value: k for k in PathKind}
    if len(plain) != 2 or plain[0] not in directions or plain[1] not in kinds:
        reader.refuse("a path is written `path(input|output|in-out, file|directory|any)`")
    spec = PathSpec(directions[plain[0]], kinds[plain[1]], _names(found, "mime"), _names(found, "ext"))
    return PathType(spec)


def _url(reader: _Reader, depth: int) -> SchemaType:
    _, found = reader.arguments(0, "schemes", "hosts")
    return UrlType(UrlRestriction(_names(found, "schemes"), _names(found, "hosts")))


def _quantity(reader: _Reader, depth: int) -> SchemaType:
    _, found = reader.arguments(0, "base", "suffixes", "min", "max")
    base = _string(found, "base")
    if base is None:
        reader.refuse("a quantity names its unit: `quantity(base=kg)`")
    low, high = (_amount(reader, _string(found, name)) for name in ("min", "max"))
    return QuantityType(QuantitySpec(base, _names(found, "suffixes") or (), low, high))


def _amount(reader: _Reader, text: str | None) -> Amount | None:
    if text is None:
        return None
    match = _AMOUNT.fullmatch(text)
    if match is None or len(match[1]) > 40 or len(match[2] or "") > 6:
        reader.refuse(f"`{text[:40]}` is no number with a unit, like `1.5kg`")
    whole, _, fraction = match[1].partition(".")
    mantissa, scale = int(whole + fraction), len(fraction) - int(match[2] or 0)
    if not -(2**63) <= mantissa < 2**63 or not -(2**31) <= scale < 2**31:
        reader.refuse(f"`{text[:40]}` does not fit the numbers of quantities")
    return Amount(mantissa, scale, match[3])


def _secret(reader: _Reader, depth: int) -> SchemaType:
    payload = reader.maybe_inner(depth) or STRING
    _, found = reader.arguments(0, "category")
    return SecretType(payload, _string(found, "category"))


def _quota_token(reader: _Reader, depth: int) -> SchemaType:
    plain, _ = reader.arguments(1)
    return QuotaTokenType(plain[0] if plain else None)


def _permission_card(reader: _Reader, depth: int) -> SchemaType:
    plain, _ = reader.arguments(1)
    if plain not in ([], ["polymorphic"]):
        reader.refuse("a card is written `permission-card` or `permission-card(polymorphic)`")
    return PermissionCardType(bool(plain))


_PLAIN = {kind.value: kind for kind in PlainKind}
_NUMBERS = {kind.value: kind for kind in NumberKind}
_LISTS = ("lang", "mime", "ext", "schemes", "hosts", "suffixes")
_RULES = ("prefix", "suffix", "contains", "regex", "field-equals", "field-absent")
_READERS: dict[str, Callable[[_Reader, int], SchemaType]] = {
    "record": _record,
    "tuple": _tuple,
    "list": _list,
    "map": _map,
    "option": lambda reader, depth: OptionType(reader.inner(depth)),
    "result": _result,
    "enum": _enum,
    "flags": _flags,
    "variant": _variant,
    "union": _union,
    "text": _text,
    "binary": _binary,
    "path": _path,
    "url": _url,
    "quantity": _quantity,
    "secret": _secret,
    "quota-token": _quota_token,
    "permission-card": _permission_card,
    "stream": lambda reader, depth: StreamType(reader.maybe_inner(depth)),
    "future": lambda reader, depth: FutureType(reader.maybe_inner(depth)),
}
