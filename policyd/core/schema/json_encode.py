"""Values to canonical JSON, under the guidance of a type; the value is not validated first.

Source: middleware 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.schema.canonical_leaves import (
    base64url,
    duration_json,
    filled_string,
    instant_json,
    mime_of,
    mismatch,
    number_json,
)
from policyd.core.schema.capability_json import capability_json, redacted
from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_decode import MAX_DECODE_DEPTH
from policyd.core.schema.json_faults import NEWEST_FORM, JsonFault, JsonFaultError, JsonFaultKind, JsonForm
from policyd.core.schema.json_rules import json_satisfies
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    BinaryType,
    CapabilityType,
    EnumType,
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
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
    kind_of,
    width_of,
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
    StreamValue,
    StringValue,
    TextValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)


@dataclass(frozen=True, slots=True)
class Encoded:
    """The JSON of a value (a class of its own, because `null` is JSON too)."""

    json: JsonValue


def encode(
    value: SchemaValue, graph: Graph, engines: Engines, *, redact: bool = False, form: JsonForm = NEWEST_FORM
) -> Encoded | JsonFault:
    """The canonical JSON of a value.

    Args:
        value: of the root's shape; restrictions are not looked at.
        graph: its root is the type of the value.
        engines: for unions with regular expressions.
        redact: whether capabilities become a fixed text.
        form: which spellings are in force.
    """
    try:
        return Encoded(_Encoder(graph.definitions, engines, redact, form).encode(graph.root, value, 0))
    except JsonFaultError as error:
        return error.fault
    except RecursionError:
        return JsonFault(JsonFaultKind.TOO_DEEP, "nested too deeply")


@dataclass(frozen=True, slots=True)
class _Encoder:
    definitions: Definitions
    engines: Engines
    redact: bool
    form: JsonForm

    def encode(self, schema: SchemaType, value: SchemaValue, depth: int) -> JsonValue:
        """The JSON of one value."""
        if depth > MAX_DECODE_DEPTH:
            raise JsonFaultError(JsonFaultKind.TOO_DEEP, f"nested deeper than {MAX_DECODE_DEPTH} levels")
        resolved = self.definitions.resolve(schema).type
        spend(1 if resolved is None else 1 + width_of(resolved))
        if resolved is None:
            raise mismatch("the type leads nowhere")
        match resolved, value:
            case (StreamType() | FutureType(), _) | (_, StreamValue()):
                raise JsonFaultError(JsonFaultKind.UNSUPPORTED, "futures and streams have no JSON form")
            case RecordType(fields), RecordValue(parts) if len(fields) == len(parts):
                encoded = self.each([field.body for field in fields], parts, depth + 1)
                return {field.name: part for field, part in zip(fields, encoded, strict=True)}
            case TupleType(types), TupleValue(parts) if len(types) == len(parts):
                return self.each(types, parts, depth + 1)
            case ListType(element), ListValue(parts):
                return self.each([element] * len(parts), parts, depth + 1)
            case FixedListType(element, length), FixedListValue(parts) if length == len(parts):
                return self.each([element] * length, parts, depth + 1)
            case MapType(key, item), MapValue(entries):
                return [self.each((key, item), entry, depth + 1) for entry in entries]
            case OptionType(inner), OptionValue(some):
                return None if some is None else self.encode(inner, some, depth + 1)
            case _:
                return self.choice(resolved, value, depth + 1)

    def each(self, types: Sequence[SchemaType], parts: tuple[SchemaValue, ...], depth: int) -> list[JsonValue]:
        """The JSON of several values, each with its type."""
        return [self.encode(type_, part, depth) for type_, part in zip(types, parts, strict=True)]

    def choice(self, schema: SchemaType, value: SchemaValue, depth: int) -> JsonValue:
        """The JSON of a value whose type offers a choice, or of a leaf."""
        match schema, value:
            case VariantType(cases), VariantValue(case, payload) if case < len(cases):
                chosen = cases[case]
                if chosen.payload is None and payload is None:
                    return chosen.name
                if chosen.payload is not None and payload is not None:
                    return {chosen.name: self.encode(chosen.payload, payload, depth)}
                raise mismatch("a payload is there exactly when the case declares one")
            case ResultType(ok, err), ResultValue(is_ok, some):
                slot, name = (ok, "ok") if is_ok else (err, "err")
                if slot is None and some is None:
                    return {name: None}
                if slot is not None and some is not None:
                    return {name: self.encode(slot, some, depth)}
                raise mismatch("a value is there exactly when the slot has a type")
            case UnionType(), UnionValue():
                return self.union(schema, value, depth)
            case EnumType(names), EnumValue(case) if case < len(names):
                return names[case]
            case FlagsType(names), FlagsValue(bits) if len(names) == len(bits):
                return [name for name, bit in zip(names, bits, strict=True) if bit]
            case _:
                return self.leaf(schema, value)

    def union(self, schema: UnionType, value: UnionValue, depth: int) -> JsonValue:
        """The body's JSON, which must satisfy the rule of its branch."""
        branch = next((b for b in schema.branches if b.tag == value.tag), None)
        if branch is None:
            raise mismatch(f"there is no branch `{value.tag}`")
        json = self.encode(branch.body, value.body, depth)
        verdict = json_satisfies(branch.discriminator, json, self.engines)
        if verdict is None:
            raise JsonFaultError(JsonFaultKind.NEEDS_PATTERNS, "a regular expression must be matched")
        if not verdict:
            raise JsonFaultError(JsonFaultKind.UNION_TAG_MISMATCH, f"the body is no `{value.tag}` by its rule")
        return json

    def leaf(self, schema: SchemaType, value: SchemaValue) -> JsonValue:
        """The JSON of a value without parts."""
        match schema, value:
            case NumberType(kind), NumberValue(same) if kind is same:
                return number_json(value, self.form)
            case PlainType(kind), _:
                return self.plain(kind, value)
            case TextType(), TextValue(text, language):
                return {"text": text} if language is None else {"text": text, "language": language}
            case BinaryType(), BinaryValue(data, None):
                return {"bytes": base64url(data)}
            case BinaryType(), BinaryValue(data, str(mime_type)):
                return {"bytes": base64url(data), "mimeType": mime_of(mime_type)}
            case (PathType(), PathValue(text)) | (UrlType(), UrlValue(text)):
                return filled_string(text)
            case QuantityType(), QuantityValue(mantissa, scale, unit):
                return {"mantissa": str(mantissa), "scale": scale, "unit": unit}
            case SecretType(), SecretValue():
                return self.capability(schema, value)
            case QuotaTokenType(), QuotaTokenValue():
                return self.capability(schema, value)
            case PermissionCardType(), PermissionCardValue():
                return self.capability(schema, value)
            case _:
                raise mismatch("the value does not have the shape of the type")

    def capability(self, schema: CapabilityType, value: CapabilityValue) -> JsonValue:
        """The trusted form of a capability, or the text that stands for it."""
        return redacted(kind_of(schema)) if self.redact else capability_json(value)

    def plain(self, kind: PlainKind, value: SchemaValue) -> JsonValue:
        """The JSON of a value of a type without restrictions."""
        match kind, value:
            case PlainKind.BOOL, BoolValue(truth):
                return truth
            case (PlainKind.STRING, StringValue(text)) | (PlainKind.CHAR, CharValue(text)):
                return text
            case PlainKind.DATETIME, DatetimeValue(instant):
                return instant_json(instant)
            case PlainKind.DURATION, DurationValue():
                return duration_json(value, self.form)
            case _:
                raise mismatch(f"the value is no `{kind.value}`")
