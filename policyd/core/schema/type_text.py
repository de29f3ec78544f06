"""Types as short text: the notation in which people write and read them.

Source: middleware 6.3.
"""

from __future__ import annotations

import json
import re
from typing import assert_never

from policyd.core.schema.cli_text import number_text
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.restrictions import Amount, Bound, NumericRestriction, QuantitySpec
from policyd.core.schema.types import (
    BinaryType,
    Branch,
    Case,
    Discriminator,
    EnumType,
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
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
)

MAX_TEXT_DEPTH = 64
"""Deeper parts are written as `…`, so that every type has a text."""

_MAX_DIGITS = 60
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*\Z")


def type_text(schema: SchemaType, *, limit: int | None = None) -> str:
    """The type in the short notation; metadata is not written.

    Args:
        schema: any type.
        limit: longer texts are cut there and end in `…`; None for the whole.

    >>> type_text(ListType(NumberType(NumberKind.U8)))
    'list<u8>'
    """
    text = _text(schema, 0)
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def word(text: str) -> str:
    """A name as it stands in the notation: bare, or quoted where it is no single word."""
    return text if _WORD.match(text) and ".." not in text else json.dumps(text, ensure_ascii=False)


def _text(schema: SchemaType, depth: int) -> str:
    if depth > MAX_TEXT_DEPTH:
        return "…"

    def inner(part: SchemaType) -> str:
        return _text(part, depth + 1)

    match schema:
        case RecordType(fields):
            return "record{" + ", ".join(f"{word(f.name)}: {inner(f.body)}" for f in fields) + "}"
        case TupleType(elements):
            return "tuple(" + ", ".join(map(inner, elements)) + ")"
        case ListType(element):
            return f"list<{inner(element)}>"
        case FixedListType(element, length):
            return f"list<{inner(element)}; {length}>"
        case MapType(key, value):
            return f"map<{inner(key)}, {inner(value)}>"
        case OptionType(some):
            return f"option<{inner(some)}>"
        case ResultType(ok, err):
            return f"result<{'_' if ok is None else inner(ok)}, {'_' if err is None else inner(err)}>"
        case VariantType(cases):
            return "variant(" + " | ".join(_case(case, depth + 1) for case in cases) + ")"
        case UnionType(branches):
            return "union(" + " | ".join(_branch(branch, depth + 1) for branch in branches) + ")"
        case SecretType(payload, category):
            plain = isinstance(payload, PlainType) and payload.kind is PlainKind.STRING
            return "secret" + ("" if plain else f"<{inner(payload)}>") + _arguments(category=category)
        case FutureType(item):
            return "future" if item is None else f"future<{inner(item)}>"
        case StreamType(item):
            return "stream" if item is None else f"stream<{inner(item)}>"
        case _:
            return _leaf(schema)


def _case(case: Case, depth: int) -> str:
    return word(case.name) + ("" if case.payload is None else f": {_text(case.payload, depth)}")


def _branch(branch: Branch, depth: int) -> str:
    return f"{word(branch.tag)}: {_text(branch.body, depth)} if {rule_text(branch.discriminator)}"


def rule_text(rule: Discriminator) -> str:
    """A discriminator in the short notation.

    >>> rule_text(FieldEquals("kind", "n"))
    'field-equals(kind, "n")'
    """
    match rule:
        case StringRule(kind, text):
            return f"{kind.value}({quoted(text)})"
        case FieldEquals(name, None):
            return f"field-equals({word(name)})"
        case FieldEquals(name, literal):
            return f"field-equals({word(name)}, {quoted(literal or '')})"
        case FieldAbsent(name):
            return f"field-absent({word(name)})"
        case _:
            assert_never(rule)


def quoted(text: str) -> str:
    """A text in double quotes, special characters escaped as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def _list(names: tuple[str, ...] | None) -> str | None:
    return None if names is None else "[" + ",".join(map(word, names)) + "]"


def _arguments(*plain: str, **named: str | int | None) -> str:
    parts = [*plain, *(f"{name}={value}" for name, value in named.items() if value is not None)]
    return "(" + ", ".join(parts) + ")" if parts else ""


def _leaf(schema: SchemaType) -> str:
    match schema:
        case RefType(id):
            return "&" + word(id)
        case PlainType(kind):
            return kind.value
        case NumberType(kind, restriction):
            return kind.value + ("" if restriction is None else _range(kind, restriction))
        case EnumType(names):
            return "enum(" + "|".join(map(word, names)) + ")"
        case FlagsType(names):
            return "flags(" + "|".join(map(word, names)) + ")"
        case TextType(text):
            regex = None if text.regex is None else quoted(text.regex)
            languages = _list(text.languages)
            return "text" + _arguments(min=text.min_length, max=text.max_length, regex=regex, lang=languages)
        case BinaryType(binary):
            return "binary" + _arguments(min=binary.min_bytes, max=binary.max_bytes, mime=_list(binary.mime_types))
        case PathType(spec):
            named = {"ext": _list(spec.extensions), "mime": _list(spec.mime_types)}
            return "path" + _arguments(spec.direction.value, spec.kind.value, **named)
        case UrlType(url):
            return "url" + _arguments(schemes=_list(url.schemes), hosts=_list(url.hosts))
        case QuantityType(spec):
            return "quantity" + _quantity(spec)
        case QuotaTokenType(resource):
            return "quota-token" if resource is None else f"quota-token({word(resource)})"
        case PermissionCardType(polymorphic):
            return "permission-card(polymorphic)" if polymorphic else "permission-card"
        case _:
            raise AssertionError(schema)  # every type with parts was taken above


def _range(kind: NumberKind, restriction: NumericRestriction) -> str:
    def bound(found: Bound | None) -> str:
        return "" if found is None else number_text(kind, found.number)

    unit = "" if restriction.unit is None else f"unit={word(restriction.unit)}"
    if restriction.low is None and restriction.high is None:
        return f"(.., {unit})"
    return f"({bound(restriction.low)}..{bound(restriction.high)}{', ' + unit if unit else ''})"


def _quantity(spec: QuantitySpec) -> str:
    def amount(found: Amount | None) -> str | None:
        if found is None:
            return None
        text = _decimal(found.mantissa, found.scale) + found.unit
        return text if re.fullmatch(r"-?[0-9.]+[A-Za-z%]*", text) else quoted(text)

    suffixes = _list(spec.suffixes) if spec.suffixes else None
    return _arguments(base=word(spec.base_unit), suffixes=suffixes, min=amount(spec.low), max=amount(spec.high))


def _decimal(mantissa: int, scale: int) -> str:
    """`mantissa · 10^-scale` with its digits; an exponent where that would be long."""
    if not 0 <= scale <= _MAX_DIGITS:
        return str(mantissa) if scale == 0 else f"{mantissa}e{-scale}"
    digits = str(abs(mantissa)).rjust(scale + 1, "0")
    sign = "-" if mantissa < 0 else ""
    return f"{sign}{digits[: len(digits) - scale]}{'.' + digits[len(digits) - scale :] if scale else ''}"
