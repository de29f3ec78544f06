"""Whether a schema is well-formed: every fault of a graph.

Source: middleware 1.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import assert_never

from policyd.core.schema.decimals import compare
from policyd.core.schema.engines import Engines
from policyd.core.schema.faults import Fault, FaultKind
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.numbers import Family, NumberKind, to_f32
from policyd.core.schema.restrictions import Bound, NumericRestriction, QuantitySpec, TextRestriction
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
    RefType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
    walk,
)
from policyd.core.schema.union_rules import pattern_verdict, union_faults

_KEY_KINDS = (PlainKind.BOOL, PlainKind.CHAR, PlainKind.STRING)


def faults_of(graph: Graph, engines: Engines) -> tuple[Fault, ...]:
    """Every fault of the definitions, used or not, and of the root.

    Each place counts by itself: a dangling id is told once per reference that leads to it. A fault of kind
    `NEEDS_PATTERNS` says that the answer needs an engine that is not there.
    """
    found = list(_duplicate_ids(graph.definitions))
    for item in graph.definitions.items:
        found.extend(type_faults(item.body, graph.definitions, engines))
    found.extend(type_faults(graph.root, graph.definitions, engines))
    return tuple(found)


def _duplicate_ids(definitions: Definitions) -> Iterator[Fault]:
    for id in _repeated(item.id for item in definitions.items):
        yield Fault(FaultKind.DUPLICATE_TYPE_ID, id=id)


def _repeated(names: Iterable[str]) -> Iterator[str]:
    """Each occurrence of a name after its first."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            yield name
        seen.add(name)


def type_faults(schema: SchemaType, definitions: Definitions, engines: Engines) -> Iterator[Fault]:
    """The faults of one type and everything written inside it; definitions are judged by themselves."""
    for part in walk(schema):
        yield from _own_faults(part, definitions, engines)


def _own_faults(schema: SchemaType, definitions: Definitions, engines: Engines) -> Iterator[Fault]:
    match schema:
        case RefType():
            resolved = definitions.resolve(schema)
            if resolved.type is None:
                kind = FaultKind.RECURSIVE_ALIAS if resolved.is_cycle else FaultKind.DANGLING_REF
                yield Fault(kind, id=resolved.last_id)
        case RecordType(fields):
            yield from _named(FaultKind.DUPLICATE_FIELD_NAME, (f.name for f in fields))
        case VariantType(cases):
            yield from _filled(FaultKind.EMPTY_VARIANT, cases)
            yield from _named(FaultKind.DUPLICATE_VARIANT_CASE, (c.name for c in cases))
        case EnumType(names):
            yield from _filled(FaultKind.EMPTY_ENUM, names)
            yield from _named(FaultKind.DUPLICATE_ENUM_CASE, names)
        case FlagsType(names):
            yield from _filled(FaultKind.EMPTY_FLAGS, names)
            yield from _named(FaultKind.DUPLICATE_FLAG_NAME, names)
        case UnionType(branches):
            yield from _filled(FaultKind.EMPTY_UNION, branches)
            yield from _named(FaultKind.DUPLICATE_UNION_TAG, (b.tag for b in branches))
            yield from union_faults(schema, definitions, engines)
        case MapType(key):
            resolved_key = definitions.resolve(key).type
            if resolved_key is not None and not _is_primitive(resolved_key):
                yield Fault(FaultKind.MAP_KEY_NOT_PRIMITIVE)
        case FixedListType(_, length):
            if length == 0:
                yield Fault(FaultKind.FIXED_LIST_ZERO_LENGTH)
        case OptionType(inner):
            if definitions.is_nullable(inner):
                yield Fault(FaultKind.NULLABLE_NESTING)
        case _:
            yield from _leaf_faults(schema, engines)


def _filled(kind: FaultKind, parts: tuple[object, ...]) -> Iterator[Fault]:
    if not parts:
        yield Fault(kind)


def _named(kind: FaultKind, names: Iterable[str]) -> Iterator[Fault]:
    for name in _repeated(names):
        yield Fault(kind, name=name)


def _is_primitive(key: SchemaType) -> bool:
    return isinstance(key, NumberType) or (isinstance(key, PlainType) and key.kind in _KEY_KINDS)


def _leaf_faults(schema: SchemaType, engines: Engines) -> Iterator[Fault]:
    match schema:
        case NumberType(kind, restriction):
            reason = None if restriction is None else numeric_fault(kind, restriction)
            if reason is not None:
                yield Fault(FaultKind.INVALID_NUMERIC_RESTRICTION, reason=reason)
        case TextType(text):
            yield from _text_faults(text, engines)
        case BinaryType(binary):
            if _inverted(binary.min_bytes, binary.max_bytes):
                yield Fault(FaultKind.BINARY_BYTE_RANGE_INVERTED)
        case QuantityType(spec):
            yield from _quantity_faults(spec)
        case PlainType() | TupleType() | ListType() | ResultType() | PathType() | UrlType():
            return
        case SecretType() | QuotaTokenType() | PermissionCardType() | FutureType() | StreamType():
            return
        case RefType() | RecordType() | VariantType() | EnumType() | FlagsType() | UnionType():
            return
        case MapType() | FixedListType() | OptionType():
            return
        case _:
            assert_never(schema)


def _inverted(low: int | None, high: int | None) -> bool:
    return low is not None and high is not None and low > high


def _text_faults(text: TextRestriction, engines: Engines) -> Iterator[Fault]:
    if _inverted(text.min_length, text.max_length):
        yield Fault(FaultKind.TEXT_LENGTH_RANGE_INVERTED)
    if text.regex:
        verdict = pattern_verdict(text.regex, engines)
        if verdict is not True:
            yield Fault(FaultKind.NEEDS_PATTERNS if verdict is None else FaultKind.INVALID_TEXT_REGEX)


def _quantity_faults(spec: QuantitySpec) -> Iterator[Fault]:
    low_fits = spec.low is None or spec.low.unit == spec.base_unit
    high_fits = spec.high is None or spec.high.unit == spec.base_unit
    if not low_fits:
        yield Fault(FaultKind.QUANTITY_MIN_UNIT_MISMATCH)
    if not high_fits:
        yield Fault(FaultKind.QUANTITY_MAX_UNIT_MISMATCH)
    if low_fits and high_fits and spec.low is not None and spec.high is not None:
        order = compare(spec.low, spec.high)
        if order is None:
            yield Fault(FaultKind.QUANTITY_COMPARISON_OVERFLOW)
        elif order > 0:
            yield Fault(FaultKind.QUANTITY_MIN_GREATER_THAN_MAX)


def numeric_fault(kind: NumberKind, restriction: NumericRestriction) -> str | None:
    """Why the bounds do not fit the kind of number, by the platform's name, or None.

    >>> numeric_fault(NumberKind.U8, NumericRestriction(high=Bound(Family.UNSIGNED, 300)))
    'BoundOutOfRange'
    """
    for bound in (restriction.low, restriction.high):
        reason = None if bound is None else bound_fault(kind, bound)
        if reason is not None:
            return reason
    low, high = restriction.low, restriction.high
    return "MinGreaterThanMax" if low is not None and high is not None and low.number > high.number else None


def bound_fault(kind: NumberKind, bound: Bound) -> str | None:
    """Why one bound does not fit the kind of number, by the platform's name, or None."""
    if bound.family is not kind.family:
        return "FamilyMismatch"
    if bound.family is not Family.FLOAT:
        return None if kind.holds(bound.raw) else "BoundOutOfRange"
    if not math.isfinite(bound.number):
        return "NonFiniteFloat"
    return "FloatNotRoundTrippable" if kind is NumberKind.F32 and to_f32(bound.number) != bound.number else None
