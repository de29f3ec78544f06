"""Canonical JSON to values, under the guidance of a type; restrictions are left to validation.

Source: middleware 5.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from policyd.core.schema.canonical_leaves import (
    binary_of,
    duration_of,
    filled_string,
    instant_of,
    mismatch,
    number_of,
    quantity_of,
    text_of,
)
from policyd.core.schema.capability_json import capability_of
from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_faults import NEWEST_FORM, JsonFault, JsonFaultError, JsonFaultKind, JsonForm
from policyd.core.schema.json_rules import json_satisfies
from policyd.core.schema.json_text import JsonValue, parse_json
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    BinaryType,
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
    width_of,
)
from policyd.core.schema.values import (
    BoolValue,
    CharValue,
    DatetimeValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    OptionValue,
    PathValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    StringValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)

MAX_DECODE_DEPTH = 260
"""Types passed on the way to a leaf; what the platform's JSON reader lets through stays below."""


def decode_text(
    text: str, graph: Graph, engines: Engines, *, trusted: bool = True, form: JsonForm = NEWEST_FORM
) -> SchemaValue | JsonFault:
    """The value that a JSON text stands for.

    Args:
        text: as received.
        graph: its root is the type of the value.
        engines: for unions with regular expressions.
        trusted: whether the text may contain capabilities; text from outside may not.
        form: which spellings are in force.
    """
    try:
        json = parse_json(text)
    except (ValueError, RecursionError) as error:
        return JsonFault(JsonFaultKind.SYNTAX, str(error))
    return decode_json(json, graph, engines, trusted=trusted, form=form)


def decode_json(
    json: JsonValue, graph: Graph, engines: Engines, *, trusted: bool = True, form: JsonForm = NEWEST_FORM
) -> SchemaValue | JsonFault:
    """The value that a JSON value stands for; like `decode_text`."""
    decoder = _Decoder(graph.definitions, engines, trusted, form)
    try:
        return decoder.decode(graph.root, json, 0)
    except JsonFaultError as error:
        return error.fault
    except RecursionError:
        return JsonFault(JsonFaultKind.TOO_DEEP, "nested too deeply")


@contextmanager
def _below(step: str | int) -> Iterator[None]:
    try:
        yield
    except JsonFaultError as error:
        error.steps.append(step)
        raise


@dataclass(frozen=True, slots=True)
class _Decoder:
    definitions: Definitions
    engines: Engines
    trusted: bool
    form: JsonForm

    def decode(self, schema: SchemaType, json: JsonValue, depth: int) -> SchemaValue:
        """One value of one type."""
        spend()
        if depth > MAX_DECODE_DEPTH:
            raise JsonFaultError(JsonFaultKind.TOO_DEEP, f"nested deeper than {MAX_DECODE_DEPTH} levels")
        resolved = self.definitions.resolve(schema).type
        spend(0 if resolved is None else width_of(resolved))
        match resolved:
            case OptionType(inner):
                return OptionValue(None if json is None else self.decode(inner, json, depth + 1))
            case RecordType():
                return self.record(resolved, json, depth + 1)
            case VariantType():
                return self.variant(resolved, json, depth + 1)
            case ResultType():
                return self.result(resolved, json, depth + 1)
            case UnionType():
                return self.union(resolved, json, depth + 1)
            case TupleType(types):
                return TupleValue(self.elements(types, _array(json, len(types)), depth + 1))
            case ListType(element):
                found = _array(json)
                return ListValue(self.elements([element] * len(found), found, depth + 1))
            case FixedListType(element, length):
                found = _array(json, length)
                return FixedListValue(self.elements([element] * length, found, depth + 1))
            case MapType():
                return MapValue(self.entries(resolved, _array(json), depth + 1))
            case None:
                raise mismatch("the type leads nowhere")
            case _:
                return self.leaf(resolved, json)

    def elements(self, types: Sequence[SchemaType], found: list[JsonValue], depth: int) -> tuple[SchemaValue, ...]:
        """The elements of an array, each with its type."""
        values: list[SchemaValue] = []
        for index, (type_, part) in enumerate(zip(types, found, strict=True)):
            try:
                values.append(self.decode(type_, part, depth))
            except JsonFaultError as error:
                error.steps.append(index)
                raise
        return tuple(values)

    def entries(
        self, schema: MapType, found: list[JsonValue], depth: int
    ) -> tuple[tuple[SchemaValue, SchemaValue], ...]:
        """The pairs of a map; keys may repeat."""
        entries: list[tuple[SchemaValue, SchemaValue]] = []
        for index, pair in enumerate(found):
            with _below(index):
                key, value = self.elements((schema.key, schema.value), _array(pair, 2), depth)
            entries.append((key, value))
        return tuple(entries)

    def record(self, schema: RecordType, json: JsonValue, depth: int) -> SchemaValue:
        """An object; unknown members are noticed first, then missing ones."""
        if not isinstance(json, dict):
            raise mismatch("a record is an object")
        names = {field.name for field in schema.fields}
        for name in json:
            if name not in names:
                raise JsonFaultError(JsonFaultKind.UNEXPECTED_FIELD, f"`{name}` is no field")
        for field in schema.fields:
            if field.name not in json and not self.may_be_missing(field.body):
                raise mismatch(f"the field `{field.name}` is missing")
        values: list[SchemaValue] = []
        for field in schema.fields:
            try:
                values.append(self.decode(field.body, json.get(field.name), depth))
            except JsonFaultError as error:
                error.steps.append(field.name)
                raise
        return RecordValue(tuple(values))

    def may_be_missing(self, schema: SchemaType) -> bool:
        """Whether an absent member is none."""
        return isinstance(self.definitions.resolve(schema).type, OptionType)

    def variant(self, schema: VariantType, json: JsonValue, depth: int) -> SchemaValue:
        """`"case"`, or an object of one member."""
        name, payload, has_payload = _single(json)
        for index, case in enumerate(schema.cases):
            if case.name == name:
                if (case.payload is not None) != has_payload:
                    raise mismatch(f"the case `{name}` has {'no' if case.payload is None else 'a'} payload")
                if case.payload is None:
                    return VariantValue(index)
                with _below(name):
                    return VariantValue(index, self.decode(case.payload, payload, depth))
        raise mismatch("there is no such case")

    def result(self, schema: ResultType, json: JsonValue, depth: int) -> SchemaValue:
        """`{"ok": …}` or `{"err": …}`, `null` for a slot without type."""
        if not isinstance(json, dict) or len(json) != 1 or next(iter(json)) not in ("ok", "err"):
            raise mismatch("a result is an object of one member, `ok` or `err`")
        name, payload = next(iter(json.items()))
        slot = schema.ok if name == "ok" else schema.err
        if slot is None:
            if payload is not None:
                raise mismatch(f"`{name}` has no value, write `null`")
            return ResultValue(name == "ok")
        with _below(name):
            return ResultValue(name == "ok", self.decode(slot, payload, depth))

    def union(self, schema: UnionType, json: JsonValue, depth: int) -> SchemaValue:
        """The body; exactly one rule must hold for the JSON, whatever the bodies are."""
        verdicts = [(b, json_satisfies(b.discriminator, json, self.engines)) for b in schema.branches]
        matching = [branch for branch, verdict in verdicts if verdict]
        if len(matching) > 1:
            tags = ", ".join(f"`{branch.tag}`" for branch in matching)
            raise JsonFaultError(JsonFaultKind.UNION_AMBIGUOUS, f"several branches match: {tags}")
        if any(verdict is None for _, verdict in verdicts):
            raise JsonFaultError(JsonFaultKind.NEEDS_PATTERNS, "a regular expression must be matched")
        if not matching:
            raise JsonFaultError(JsonFaultKind.UNION_NO_MATCH, "no branch matches")
        return UnionValue(matching[0].tag, self.decode(matching[0].body, json, depth))

    def leaf(self, schema: SchemaType, json: JsonValue) -> SchemaValue:
        """A value without parts."""
        match schema:
            case NumberType(kind):
                return number_of(json, kind, self.form)
            case PlainType(kind):
                return self.plain(kind, json)
            case EnumType(cases):
                if not isinstance(json, str) or json not in cases:
                    raise mismatch("an enum is one of its names")
                return EnumValue(cases.index(json))
            case FlagsType(flags):
                return _flags(flags, json)
            case TextType():
                return text_of(json)
            case BinaryType():
                return binary_of(json)
            case PathType():
                return PathValue(filled_string(json))
            case UrlType():
                return UrlValue(filled_string(json))
            case QuantityType():
                return quantity_of(json)
            case SecretType() | QuotaTokenType() | PermissionCardType():
                if not self.trusted:
                    raise mismatch("capabilities cannot come from outside")
                return capability_of(schema, json)
            case FutureType() | StreamType():
                raise JsonFaultError(JsonFaultKind.UNSUPPORTED, "futures and streams have no JSON form")
            case _:
                raise mismatch("the JSON does not have the shape of the type")

    def plain(self, kind: PlainKind, json: JsonValue) -> SchemaValue:
        """A value of a type without restrictions."""
        match kind:
            case PlainKind.BOOL if isinstance(json, bool):
                return BoolValue(json)
            case PlainKind.STRING if isinstance(json, str):
                return StringValue(json)
            case PlainKind.CHAR if isinstance(json, str) and len(json) == 1:
                return CharValue(json)
            case PlainKind.DATETIME:
                return DatetimeValue(instant_of(json))
            case PlainKind.DURATION:
                return duration_of(json, self.form)
            case _:
                raise mismatch(f"the JSON is no `{kind.value}`")


def _array(json: JsonValue, length: int | None = None) -> list[JsonValue]:
    if not isinstance(json, list) or (length is not None and len(json) != length):
        raise mismatch("an array is needed" if length is None else f"an array of {length} is needed")
    return json


def _single(json: JsonValue) -> tuple[str, JsonValue, bool]:
    """Name, payload, and whether there is a payload."""
    if isinstance(json, str):
        return json, None, False
    if isinstance(json, dict) and len(json) == 1:
        name, payload = next(iter(json.items()))
        return name, payload, True
    raise mismatch("a variant is the name of a case, or an object of one member")


def _flags(flags: tuple[str, ...], json: JsonValue) -> FlagsValue:
    names, chosen = frozenset(flags), set[str]()
    for name in _array(json):
        if not isinstance(name, str) or name not in names:
            raise mismatch("flags are an array of their names")
        if name in chosen:
            raise JsonFaultError(JsonFaultKind.DUPLICATE_FLAG, f"`{name}` stands twice")
        chosen.add(name)
    return FlagsValue(tuple(name in chosen for name in flags))
