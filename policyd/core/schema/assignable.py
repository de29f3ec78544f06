"""Assignability within one graph: depth only, records and enums exact.

Source: middleware 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable

from policyd.core.schema.equivalent import meaning, same_leaf, slots, together, union_demands
from policyd.core.schema.graph import Definitions
from policyd.core.schema.narrowing import binaries_fit, numbers_fit, paths_fit, quantities_fit, texts_fit, urls_fit
from policyd.core.schema.pairs import Pair, Proven, all_hold
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    BinaryType,
    Case,
    FixedListType,
    FutureType,
    ListType,
    MapType,
    NumberType,
    OptionType,
    PathType,
    QuantityType,
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


def is_assignable(
    source: SchemaType, target: SchemaType, definitions: Definitions, proven: Proven | None = None
) -> bool:
    """Whether every value of `source` is one of `target` as it stands; both use the same definitions.

    A reference that leads nowhere is assignable only to one that ends at the same id.

    Args:
        source: a type.
        target: another one.
        definitions: what references of both mean.
        proven: what was found assignable before among the same definitions, whose types must still exist.
    """

    def demands(a: SchemaType, b: SchemaType) -> Iterable[Pair] | None:
        return _demands(meaning(a, definitions), meaning(b, definitions))

    return all_hold((source, target), demands, proven)


def _demands(source: SchemaType, target: SchemaType) -> Iterable[Pair] | None:
    spend(width_of(source) + width_of(target))
    match source, target:
        case RecordType(a), RecordType(b):
            if [f.name for f in a] != [f.name for f in b]:
                return None
            return [(f.body, g.body) for f, g in zip(a, b, strict=True)]
        case VariantType(a), VariantType(b):
            return _both_ways(a, b)
        case UnionType(), UnionType():
            return union_demands(source, target)
        case TupleType(a), TupleType(b):
            return list(zip(a, b, strict=True)) if len(a) == len(b) else None
        case (ListType(a), ListType(b)) | (OptionType(a), OptionType(b)):
            return [(a, b)]
        case FixedListType(a, n), FixedListType(b, m):
            return [(a, b)] if n == m else None
        case MapType(key, value), MapType(other_key, other_value):
            return [(key, other_key), (value, other_value)]
        case ResultType(ok, err), ResultType(other_ok, other_err):
            return together([slots(ok, other_ok), slots(err, other_err)])
        case SecretType(a, category), SecretType(b, other_category):
            return [(a, b)] if category == other_category else None
        case (FutureType(a), FutureType(b)) | (StreamType(a), StreamType(b)):
            return slots(a, b)
        case _:
            return [] if leaf_fits(source, target) else None


def _both_ways(a: tuple[Case, ...], b: tuple[Case, ...]) -> list[Pair] | None:
    """The payloads of variants must be assignable in both directions."""
    if [c.name for c in a] != [c.name for c in b]:
        return None
    forward = together([slots(c.payload, d.payload) for c, d in zip(a, b, strict=True)])
    return None if forward is None else [*forward, *((right, left) for left, right in forward)]


def leaf_fits(source: SchemaType, target: SchemaType) -> bool:
    """Whether a type without parts fits another of its kind: restrictions inside, everything else the same."""
    match source, target:
        case NumberType(kind, narrow), NumberType(other, wide):
            return kind is other and numbers_fit(kind, narrow, wide)
        case TextType(narrow), TextType(wide):
            return texts_fit(narrow, wide)
        case BinaryType(narrow), BinaryType(wide):
            return binaries_fit(narrow, wide)
        case PathType(narrow), PathType(wide):
            return paths_fit(narrow, wide)
        case UrlType(narrow), UrlType(wide):
            return urls_fit(narrow, wide)
        case QuantityType(narrow), QuantityType(wide):
            return quantities_fit(narrow, wide)
        case _:
            return same_leaf(source, target)
