"""A sound extension of projection that the platform does not have: values are lifted into options.

Where the target has an option a plain value will do, and an optional field of a record may be missing in the source.

Source: middleware 3.6 (`option_lift`), 9.11.
"""

from __future__ import annotations

from collections.abc import Iterable

from policyd.core.schema.graph import Graph
from policyd.core.schema.pairs import Pair, all_hold
from policyd.core.schema.project import Plan, project
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    FixedListType,
    ListType,
    MapType,
    OptionType,
    RecordType,
    ResultType,
    SchemaType,
    TupleType,
    UnionType,
    VariantType,
    width_of,
)


def projects_lifted(source: Graph, target: Graph) -> bool:
    """Whether every value of the source has a form in the target when values may be lifted into options."""

    def demands(a: SchemaType, b: SchemaType) -> Iterable[Pair] | None:
        one, other = source.definitions.resolve(a).type, target.definitions.resolve(b).type
        if one is None or other is None:
            return None
        if isinstance(other, OptionType) and not isinstance(one, OptionType):
            return [(one, other.inner)]
        return _demands(one, other, source, target)

    return all_hold((source.root, target.root), demands)


def _demands(one: SchemaType, other: SchemaType, source: Graph, target: Graph) -> Iterable[Pair] | None:
    spend(width_of(one) + width_of(other))
    match one, other:
        case RecordType(fields), RecordType(wanted):
            own = {field.name: field.body for field in reversed(fields)}
            missing = [field.body for field in wanted if field.name not in own]
            if any(not isinstance(target.definitions.resolve(body).type, OptionType) for body in missing):
                return None
            return [(own[field.name], field.body) for field in wanted if field.name in own]
        case TupleType(a), TupleType(b):
            return list(zip(a, b, strict=True)) if len(a) == len(b) else None
        case (ListType(a), ListType(b)) | (OptionType(a), OptionType(b)):
            return [(a, b)]
        case FixedListType(a, n), FixedListType(b, m):
            return [(a, b)] if n == m else None
        case MapType(key, a), MapType(other_key, b):
            keys = source.with_root(MapType(key, key)), target.with_root(MapType(other_key, other_key))
            return [(a, b)] if isinstance(project(*keys), Plan) else None
        case ResultType(), ResultType():
            pairs = [(one.ok, other.ok), (one.err, other.err)]
            if any((a is None) != (b is None) for a, b in pairs):
                return None
            return [(a, b) for a, b in pairs if a is not None and b is not None]
        case VariantType(a), VariantType(b):
            payloads = {case.name: case.payload for case in reversed(b)}
            if any(c.name not in payloads or (c.payload is None) != (payloads[c.name] is None) for c in a):
                return None
            found = [(case.payload, payloads[case.name]) for case in a]
            return [(x, y) for x, y in found if x is not None and y is not None]
        case UnionType(a), UnionType(b):
            bodies = {branch.tag: branch.body for branch in reversed(b)}
            if any(branch.tag not in bodies for branch in a):
                return None
            return [(branch.body, bodies[branch.tag]) for branch in a]
        case _:
            return [] if isinstance(project(source.with_root(one), target.with_root(other)), Plan) else None
