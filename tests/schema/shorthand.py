"""The type shorthand of the cases (`record{a: u8(0..9), b: option<string>}`), read into schema types."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from policyd.core.schema.graph import Definition, Definitions, Graph
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

T = TypeVar("T")
_TOKEN = re.compile(
    r"\s*(\"[^\"]*\"|\.\.|-?[0-9]+(?:\.[0-9]+)?(?:[A-Za-z%]+)?|&?[A-Za-z_](?:[A-Za-z0-9_/-]|\.(?!\.))*|[^\s])"
)


def graph(text: str, types: dict[str, str] | None = None) -> Graph:
    """The graph of a type, with named types written the same way."""
    items = tuple(Definition(name, schema(body)) for name, body in (types or {}).items())
    return Graph(schema(text), Definitions(items))


def schema(text: str) -> SchemaType:
    """The type of one text."""
    reader = _Reader([match[1] for match in _TOKEN.finditer(text)])
    found = reader.type()
    assert not reader.tokens, f"left over in {text}: {reader.tokens}"
    return found


class _Reader:
    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens

    @property
    def next(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self, wanted: str | None = None) -> str:
        found = self.tokens.pop(0)
        assert wanted in (None, found), f"{wanted} wanted, {found} found"
        return found

    def skip(self, wanted: str) -> bool:
        if self.next != wanted:
            return False
        self.tokens.pop(0)
        return True

    def many(self, end: str, separator: str, read: Callable[[], T]) -> tuple[T, ...]:
        parts: list[T] = []
        while not self.skip(end):
            parts.append(read())
            if not self.skip(separator):
                self.take(end)
                break
        return tuple(parts)

    def inner(self) -> SchemaType:
        self.take("<")
        found = self.type()
        self.take(">")
        return found

    def maybe_inner(self) -> SchemaType | None:
        return self.inner() if self.next == "<" else None

    def type(self) -> SchemaType:
        word = self.take()
        if word.startswith("&"):
            return RefType(word[1:])
        if word in {kind.value for kind in PlainKind}:
            return PlainType(PlainKind(word))
        if word in {kind.value for kind in NumberKind}:
            return self.number(NumberKind(word))
        return getattr(self, "read_" + word.replace("-", "_"))()

    def number(self, kind: NumberKind) -> SchemaType:
        if not self.skip("("):
            return NumberType(kind)

        def bound(text: str) -> Bound:
            raw = bits_of_float(float(text)) if kind.family is Family.FLOAT else int(text)
            return Bound(kind.family, raw)

        low = high = unit = None
        if self.next != "unit":
            if self.next != "..":
                low = bound(self.take())
            self.take("..")
            if self.next not in (")", ","):
                high = bound(self.take())
            self.skip(",")
        if self.skip("unit"):
            self.take("=")
            unit = self.take()
        self.take(")")
        return NumberType(kind, NumericRestriction(low, high, unit))

    def read_record(self) -> SchemaType:
        self.take("{")

        def field() -> Field:
            name = self.take()
            self.take(":")
            return Field(name, self.type())

        return RecordType(self.many("}", ",", field))

    def read_tuple(self) -> SchemaType:
        self.take("(")
        return TupleType(self.many(")", ",", self.type))

    def read_list(self) -> SchemaType:
        self.take("<")
        element = self.type()
        length = int(self.take()) if self.skip(";") else None
        self.take(">")
        return ListType(element) if length is None else FixedListType(element, length)

    def read_map(self) -> SchemaType:
        self.take("<")
        key = self.type()
        self.take(",")
        value = self.type()
        self.take(">")
        return MapType(key, value)

    def read_option(self) -> SchemaType:
        return OptionType(self.inner())

    def read_result(self) -> SchemaType:
        def slot() -> SchemaType | None:
            return None if self.skip("_") else self.type()

        self.take("<")
        ok = slot()
        self.take(",")
        err = slot()
        self.take(">")
        return ResultType(ok, err)

    def read_enum(self) -> SchemaType:
        self.take("(")
        return EnumType(self.many(")", "|", self.take))

    def read_flags(self) -> SchemaType:
        self.take("(")
        return FlagsType(self.many(")", "|", self.take))

    def read_variant(self) -> SchemaType:
        def case() -> Case:
            name = self.take()
            return Case(name, self.type() if self.skip(":") else None)

        self.take("(")
        return VariantType(self.many(")", "|", case))

    def read_union(self) -> SchemaType:
        def branch() -> Branch:
            tag = self.take()
            self.take(":")
            body = self.type()
            self.take("if")
            return Branch(tag, body, self.rule())

        self.take("(")
        return UnionType(self.many(")", "|", branch))

    def rule(self) -> Discriminator:
        name = self.take()
        self.take("(")
        parts = [part.strip('"') for part in self.many(")", ",", self.take)]
        if name == "field-equals":
            return FieldEquals(parts[0], parts[1] if len(parts) > 1 else None)
        if name == "field-absent":
            return FieldAbsent(parts[0])
        return StringRule(TextRule(name), parts[0])

    def arguments(self) -> tuple[list[str], dict[str, str | tuple[str, ...]]]:
        plain: list[str] = []
        named: dict[str, str | tuple[str, ...]] = {}
        if self.skip("("):
            while not self.skip(")"):
                word = self.take()
                if self.skip("="):
                    named[word] = self.many("]", ",", self.take) if self.skip("[") else self.take().strip('"')
                else:
                    plain.append(word)
                self.skip(",")
        return plain, named

    def read_text(self) -> SchemaType:
        _, found = self.arguments()
        return TextType(TextRestriction(found.get("lang"), _int(found, "min"), _int(found, "max"), found.get("regex")))

    def read_binary(self) -> SchemaType:
        _, found = self.arguments()
        return BinaryType(BinaryRestriction(found.get("mime"), _int(found, "min"), _int(found, "max")))

    def read_path(self) -> SchemaType:
        (direction, kind), found = self.arguments()
        return PathType(PathSpec(PathDirection(direction), PathKind(kind), found.get("mime"), found.get("ext")))

    def read_url(self) -> SchemaType:
        _, found = self.arguments()
        return UrlType(UrlRestriction(found.get("schemes"), found.get("hosts")))

    def read_quantity(self) -> SchemaType:
        _, found = self.arguments()

        def amount(name: str) -> Amount | None:
            if name not in found:
                return None
            number, unit = re.fullmatch(r"(-?[0-9.]+)(.*)", found[name]).groups()
            whole, _, fraction = number.partition(".")
            return Amount(int(whole + fraction), len(fraction), unit)

        return QuantityType(QuantitySpec(found["base"], found.get("suffixes", ()), amount("min"), amount("max")))

    def read_secret(self) -> SchemaType:
        inner = self.maybe_inner() or STRING
        _, found = self.arguments()
        return SecretType(inner, found.get("category"))

    def read_quota_token(self) -> SchemaType:
        plain, _ = self.arguments()
        return QuotaTokenType(plain[0] if plain else None)

    def read_permission_card(self) -> SchemaType:
        plain, _ = self.arguments()
        return PermissionCardType(plain == ["polymorphic"])

    def read_stream(self) -> SchemaType:
        return StreamType(self.maybe_inner())

    def read_future(self) -> SchemaType:
        return FutureType(self.maybe_inner())


def _int(found: dict[str, str | tuple[str, ...]], name: str) -> int | None:
    return int(found[name]) if name in found else None
