"""Values as the platform's command line shows them: the text of arguments in permission targets.

Source: middleware 4.6, host 4.9.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from policyd.core.schema.canonical_leaves import base64url, instant_json, mime_of, mismatch
from policyd.core.schema.capability_json import capability_json
from policyd.core.schema.durations import iso_text
from policyd.core.schema.graph import Definitions
from policyd.core.schema.json_decode import MAX_DECODE_DEPTH
from policyd.core.schema.json_faults import JsonFault, JsonFaultError, JsonFaultKind
from policyd.core.schema.numbers import NumberKind, to_f32
from policyd.core.schema.types import (
    BinaryType,
    EnumType,
    FixedListType,
    FlagsType,
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
    ResultType,
    SchemaType,
    SecretType,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
)
from policyd.core.schema.values import (
    BinaryValue,
    BoolValue,
    CapabilityValue,
    CharValue,
    DatetimeValue,
    DurationValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    PathValue,
    PermissionCardValue,
    QuantityValue,
    QuotaTokenValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    SecretValue,
    StringValue,
    TextValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)

MAX_SCALE = 400
"""Digits behind or before the point that a quantity is written with; greater scales are refused."""


def cli_text(value: SchemaValue, schema: SchemaType, definitions: Definitions) -> str | JsonFault:
    """The text of a value, or why it does not have the shape of the type; restrictions are not looked at."""
    try:
        return _Writer(definitions).text(schema, value, 0)
    except JsonFaultError as error:
        return error.fault
    except RecursionError:
        return JsonFault(JsonFaultKind.TOO_DEEP, "nested too deeply")


@dataclass(frozen=True, slots=True)
class _Writer:
    definitions: Definitions

    def text(self, schema: SchemaType, value: SchemaValue, depth: int) -> str:
        """The text of one value."""
        if depth > MAX_DECODE_DEPTH:
            raise JsonFaultError(JsonFaultKind.TOO_DEEP, f"nested deeper than {MAX_DECODE_DEPTH} levels")
        resolved = self.definitions.resolve(schema).type
        if resolved is None:
            raise mismatch("the type leads nowhere")
        below = depth + 1
        match resolved, value:
            case RecordType(fields), RecordValue(parts) if len(fields) == len(parts):
                pairs = zip(fields, parts, strict=True)
                return _braced([f"{field.name}: {self.text(field.body, part, below)}" for field, part in pairs])
            case TupleType(types), TupleValue(parts) if len(types) == len(parts):
                pairs_of = zip(types, parts, strict=True)
                return f"({', '.join(self.text(type_, part, below) for type_, part in pairs_of)})"
            case ListType(element), ListValue(parts):
                return f"[{', '.join(self.texts(element, parts, below))}]"
            case FixedListType(element, length), FixedListValue(parts) if length == len(parts):
                return f"[{', '.join(self.texts(element, parts, below))}]"
            case MapType(key, item), MapValue(entries):
                told = [f"{self.text(key, k, below)} => {self.text(item, v, below)}" for k, v in entries]
                return f"{{{', '.join(told)}}}"
            case OptionType(inner), OptionValue(some):
                return "none" if some is None else f"some({self.text(inner, some, below)})"
            case _:
                return self.choice(resolved, value, below)

    def texts(self, element: SchemaType, parts: tuple[SchemaValue, ...], depth: int) -> Iterator[str]:
        """The texts of several values of one type."""
        return (self.text(element, part, depth) for part in parts)

    def choice(self, schema: SchemaType, value: SchemaValue, depth: int) -> str:
        """The text of a value whose type offers a choice, or of a leaf."""
        match schema, value:
            case VariantType(cases), VariantValue(case, payload) if case < len(cases):
                return self.called(cases[case].name, cases[case].payload, payload, depth)
            case ResultType(ok, err), ResultValue(is_ok, some):
                return self.called("ok" if is_ok else "err", ok if is_ok else err, some, depth)
            case UnionType(branches), UnionValue(tag, body):
                branch = next((b for b in branches if b.tag == tag), None)
                if branch is None:
                    raise mismatch(f"there is no branch `{tag}`")
                return self.called(tag, branch.body, body, depth)
            case EnumType(names), EnumValue(case) if case < len(names):
                return names[case]
            case FlagsType(names), FlagsValue(bits) if len(names) == len(bits):
                return f"{{{', '.join(name for name, bit in zip(names, bits, strict=True) if bit)}}}"
            case _:
                return _leaf(schema, value)

    def called(self, name: str, schema: SchemaType | None, value: SchemaValue | None, depth: int) -> str:
        """A name with what it carries in parentheses."""
        if schema is None and value is None:
            return name
        if schema is None or value is None:
            raise mismatch("a payload is there exactly when one is declared")
        return f"{name}({self.text(schema, value, depth)})"


def _braced(parts: list[str]) -> str:
    return f"{{ {', '.join(parts)} }}" if parts else "{}"


def _leaf(schema: SchemaType, value: SchemaValue) -> str:
    match schema, value:
        case NumberType(kind), NumberValue(same, number) if kind is same:
            return number_text(kind, number)
        case PlainType(plain), _:
            return _plain(plain, value)
        case TextType(), TextValue(text):
            return text
        case (PathType(), PathValue(text)) | (UrlType(), UrlValue(text)):
            return text
        case BinaryType(), BinaryValue(data, mime_type):
            return f"data:{mime_of(mime_type) if mime_type is not None else ''};base64,{base64url(data)}"
        case QuantityType(), QuantityValue(mantissa, scale, unit):
            return f"{_decimal(mantissa, scale)}{unit}"
        case SecretType(), SecretValue():
            return f"secret:{_compact(value)}"
        case QuotaTokenType(), QuotaTokenValue():
            return f"quota-token:{_packed(value)}"
        case PermissionCardType(), PermissionCardValue():
            return f"permission-card:{_packed(value)}"
        case _:
            raise mismatch("the value does not have the shape of the type")


def _plain(kind: PlainKind, value: SchemaValue) -> str:
    match kind, value:
        case PlainKind.BOOL, BoolValue(truth):
            return "true" if truth else "false"
        case PlainKind.STRING, StringValue(text):
            return json.dumps(text, ensure_ascii=False)
        case PlainKind.CHAR, CharValue(text):
            return f"'{text}'"
        case PlainKind.DATETIME, DatetimeValue(instant):
            return instant_json(instant)
        case PlainKind.DURATION, DurationValue(nanoseconds):
            return iso_text(nanoseconds)
        case _:
            raise mismatch(f"the value is no `{kind.value}`")


def number_text(kind: NumberKind, number: int | float) -> str:
    """A number without exponent, with as few digits as tell it apart.

    >>> number_text(NumberKind.F64, 1e-7), number_text(NumberKind.F32, to_f32(0.1))
    ('0.0000001', '0.1')
    """
    if isinstance(number, int):
        return str(number)
    shortest = repr(number)
    if kind is NumberKind.F32:
        shortest = next(
            text for text in (f"{number:.{digits}g}" for digits in range(1, 18)) if to_f32(float(text)) == number
        )
    text = f"{Decimal(shortest):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimal(mantissa: int, scale: int) -> str:
    """`mantissa · 10^-scale` written out."""
    if abs(scale) > MAX_SCALE:
        raise JsonFaultError(JsonFaultKind.TOO_DEEP, f"a scale beyond {MAX_SCALE} is not written out")
    if scale <= 0:
        return str(mantissa * int(10**-scale))
    digits = str(abs(mantissa)).rjust(scale + 1, "0")
    return f"{'-' if mantissa < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def _compact(value: CapabilityValue) -> str:
    return json.dumps(capability_json(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _packed(value: CapabilityValue) -> str:
    return base64.urlsafe_b64encode(_compact(value).encode()).decode("ascii").rstrip("=")
