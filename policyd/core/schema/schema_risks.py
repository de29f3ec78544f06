"""Places at which a projection is accepted although values may fail or change on the way.

Source: middleware 3.11, 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from policyd.core.schema.graph import Graph
from policyd.core.schema.project import MAX_PLAN_NODES
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    FixedListType,
    ListType,
    MapType,
    OptionType,
    QuantityType,
    RecordType,
    RefType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    TupleType,
    UnionType,
    VariantType,
    walk,
    width_of,
)


class SchemaRiskKind(Enum):
    """The labels of Appendix A that a pair of types can raise."""

    QUANTITY_UNITS = "RISK_QUANTITY_UNITS"
    UNION_DISCRIMINATOR = "RISK_UNION_DISCRIMINATOR"
    SECRET_REF = "RISK_SECRET_REF"


@dataclass(frozen=True, slots=True)
class SchemaRisk:
    """One risk at a place, which is written as in a mismatch."""

    kind: SchemaRiskKind
    path: str
    source: SchemaType
    target: SchemaType


def schema_risks(source: Graph, target: Graph, seen: set[tuple[str, str]] | None = None) -> tuple[SchemaRisk, ...]:
    """The risks of a pair, as far as the two types go together; a pair that does not project is looked at too.

    Args:
        source: what is given.
        target: what is taken.
        seen: pairs of named types that are not looked at again; those met now are added.
    """
    walk = _Walk(source, target, set() if seen is None else seen)
    return tuple(walk.risks(source.root, target.root, ""))


@dataclass(slots=True)
class _Walk:
    source: Graph
    target: Graph
    known: set[tuple[str, str]] = field(default_factory=set)
    nodes: int = 0

    def risks(self, source: SchemaType, target: SchemaType, path: str) -> Iterator[SchemaRisk]:
        """The risks at a pair and below it."""
        pending = [(source, target, path)]
        while pending and self.nodes < MAX_PLAN_NODES:
            one, other, place = pending.pop()
            a, b = self.source.definitions.resolve(one), self.target.definitions.resolve(other)
            if a.last_id is not None and b.last_id is not None:
                if (a.last_id, b.last_id) in self.known:
                    continue
                self.known.add((a.last_id, b.last_id))
            self.nodes += 1
            if a.type is None or b.type is None:
                continue
            spend(1 + width_of(a.type) + width_of(b.type))
            yield from _own(a.type, b.type, place)
            pending.extend(reversed(list(_parts(a.type, b.type, place))))


def _own(source: SchemaType, target: SchemaType, path: str) -> Iterator[SchemaRisk]:
    match source, target:
        case QuantityType(a), QuantityType(b):
            if not a.suffixes and b.suffixes and a.base_unit not in b.suffixes:
                yield SchemaRisk(SchemaRiskKind.QUANTITY_UNITS, path, source, target)
        case UnionType(a), UnionType(b):
            rules = {branch.tag: branch.discriminator for branch in reversed(b)}
            if any(branch.tag in rules and rules[branch.tag] != branch.discriminator for branch in a):
                yield SchemaRisk(SchemaRiskKind.UNION_DISCRIMINATOR, path, source, target)
        case SecretType(a), SecretType(b):
            if any(isinstance(part, RefType) for side in (a, b) for part in walk(side)):
                yield SchemaRisk(SchemaRiskKind.SECRET_REF, path, source, target)
        case _:
            return


def _parts(source: SchemaType, target: SchemaType, path: str) -> Iterator[tuple[SchemaType, SchemaType, str]]:
    """The pairs directly inside, by name."""
    match source, target:
        case RecordType(a), RecordType(b):
            own = {f.name: f.body for f in reversed(a)}
            yield from ((own[f.name], f.body, f"{path}.{f.name}") for f in b if f.name in own)
        case TupleType(a), TupleType(b):
            yield from ((s, t, f"{path}[{i}]") for i, (s, t) in enumerate(zip(a, b, strict=False)))
        case (ListType(a), ListType(b)) | (FixedListType(a), FixedListType(b)):
            yield a, b, f"{path}[]"
        case OptionType(a), OptionType(b):
            yield a, b, f"{path}.some"
        case MapType(k, v), MapType(l, w):
            yield k, l, f"{path}.key"
            yield v, w, f"{path}.value"
        case ResultType(ok, err), ResultType(other_ok, other_err):
            if ok is not None and other_ok is not None:
                yield ok, other_ok, f"{path}.ok"
            if err is not None and other_err is not None:
                yield err, other_err, f"{path}.err"
        case VariantType(a), VariantType(b):
            payloads = {c.name: c.payload for c in reversed(b)}
            for case in a:
                other = payloads.get(case.name)
                if case.payload is not None and other is not None:
                    yield case.payload, other, f"{path}.{case.name}"
        case UnionType(a), UnionType(b):
            bodies = {branch.tag: branch.body for branch in reversed(b)}
            yield from ((x.body, bodies[x.tag], f"{path}.{x.tag}") for x in a if x.tag in bodies)
        case StreamType(a), StreamType(b):
            if a is not None and b is not None:
                yield a, b, f"{path}.item"
        case _:
            return
