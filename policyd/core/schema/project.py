"""Structural projection: whether values of one type can be reshaped into another, and the plan for it.

Width and depth: fields may be dropped and reordered, choices may grow. The comparison stops at its first mismatch.

Source: middleware 3.2, 3.12.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn, TypeAlias, TypeVar

from policyd.core.schema.assignable import is_assignable, leaf_fits
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.graph import NO_DEFINITIONS, Definitions, Graph
from policyd.core.schema.name_index import first_places
from policyd.core.schema.pairs import Proven
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    EnumType,
    FixedListType,
    FlagsType,
    FutureType,
    ListType,
    MapType,
    OptionType,
    PlainType,
    RecordType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    TupleType,
    UnionType,
    VariantType,
    width_of,
)

T = TypeVar("T")

MAX_PLAN_NODES = 4096
"""More nodes than that are refused, as by the platform."""
MAX_PLAN_DEPTH = 127
"""Constructors above any leaf; more are refused, as by the platform."""

Node: TypeAlias = int
"""The index of a step in its plan."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Pass the value on as it is."""


@dataclass(frozen=True, slots=True)
class Pick:
    """Build a record from fields of the source: (index in the source, step) per field of the target."""

    fields: tuple[tuple[int, Node], ...]


@dataclass(frozen=True, slots=True)
class Members:
    """Reshape a tuple member by member."""

    steps: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Each:
    """Reshape every element of a list, or every value of a map, or what is inside an option."""

    step: Node


@dataclass(frozen=True, slots=True)
class Slots:
    """Reshape the slot of a result that is filled; None where there is none."""

    ok: Node | None
    err: Node | None


@dataclass(frozen=True, slots=True)
class Recase:
    """Give a variant or enum value its index in the target: (target index, step of the payload) per source case."""

    cases: tuple[tuple[int, Node | None], ...]


@dataclass(frozen=True, slots=True)
class Reflag:
    """Put flags in the order of the target: the target index per source flag."""

    positions: tuple[int, ...]
    size: int


@dataclass(frozen=True, slots=True)
class Bodies:
    """Reshape the body of a union: (tag, step) per branch of the source."""

    branches: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Relay:
    """Hand a stream on, whole or item by item."""

    item: Node | None


Step: TypeAlias = Keep | Pick | Members | Each | Slots | Recase | Reflag | Bodies | Relay
KEEP = Keep()


@dataclass(frozen=True, slots=True)
class Plan:
    """How to reshape: steps that name each other by index; the first one is the root. Recursive types make cycles."""

    steps: tuple[Step, ...]


class MismatchKind(Enum):
    """Why a projection does not exist."""

    NOT_SUBSTITUTABLE = "not substitutable"
    TOO_LARGE = "too large to project"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first place at which the types part.

    Attributes:
        path: from the root: `.field`, `[i]`, `[]`, `.some`, `.ok`, `.err`, `.case`, `.key`, `.value`, `.item`.
        kind: whether the types do not fit or the comparison hit a limit.
        source: the type of the source there; of something missing, the type around it. None where there is nothing.
        target: the type of the target, likewise.
        missing: what the other side has not (`field`, `variant case`, `union branch`), named by the last step of the
            path; empty when something stands there.
    """

    path: str
    kind: MismatchKind
    source: SchemaType | None = None
    target: SchemaType | None = None
    missing: str = ""


class _MismatchError(Exception):
    def __init__(self, mismatch: Mismatch) -> None:
        super().__init__(mismatch.path)
        self.mismatch = mismatch


def project(source: Graph, target: Graph) -> Plan | Mismatch:
    """The plan that turns values of the source's root into values of the target's, or where the two part.

    Both graphs are taken to be well-formed.
    """
    compiler = _Compiler(source.definitions, target.definitions, [], {}, {})
    try:
        compiler.compile(source.root, target.root, "", 0)
    except _MismatchError as error:
        return error.mismatch
    return Plan(tuple(compiler.steps))


@dataclass(frozen=True, slots=True)
class _Compiler:
    """One comparison; recursion is bounded by `MAX_PLAN_DEPTH`."""

    sources: Definitions
    targets: Definitions
    steps: list[Step]
    known: dict[tuple[str, str], Node]
    proven: Proven

    def compile(self, source: SchemaType, target: SchemaType, path: str, depth: int) -> Node:
        """The step for a pair; a pair of named types that was met before is not looked at again."""
        if depth > MAX_PLAN_DEPTH:
            raise _MismatchError(Mismatch(path, MismatchKind.TOO_LARGE, source, target))
        if isinstance(source, PlainType) and isinstance(target, PlainType) and source.kind is target.kind:
            return self.keep(source, target, path)
        a, b = self.sources.resolve(source), self.targets.resolve(target)
        named = None if a.last_id is None or b.last_id is None else (a.last_id, b.last_id)
        if named is not None and named in self.known:
            return self.known[named]
        if len(self.steps) >= MAX_PLAN_NODES:
            raise _MismatchError(Mismatch(path, MismatchKind.TOO_LARGE, source, target))
        spend()
        node = len(self.steps)
        self.steps.append(KEEP)
        if named is not None:
            self.known[named] = node
        if a.type is None or b.type is None:
            self.refuse(source, target, path)
        else:
            self.steps[node] = self.step(a.type, b.type, path, depth + 1)
        return node

    def keep(self, source: SchemaType, target: SchemaType, path: str) -> Node:
        """The step for two types that are the same and have no parts: most of them, so they take a short way."""
        if len(self.steps) >= MAX_PLAN_NODES:
            raise _MismatchError(Mismatch(path, MismatchKind.TOO_LARGE, source, target))
        self.steps.append(KEEP)
        return len(self.steps) - 1

    def refuse(self, source: SchemaType | None, target: SchemaType | None, path: str) -> NoReturn:
        """End the comparison at this place.

        Raises:
            _MismatchError: always.
        """
        raise _MismatchError(Mismatch(path, MismatchKind.NOT_SUBSTITUTABLE, source, target))

    def step(self, source: SchemaType, target: SchemaType, path: str, depth: int) -> Step:
        """The step for two resolved types."""
        spend(width_of(source) + width_of(target))
        match source, target:
            case RecordType(), RecordType():
                return Pick(tuple(self.picks(source, target, path, depth)))
            case TupleType(a), TupleType(b) if len(a) == len(b):
                pairs = enumerate(zip(a, b, strict=True))
                return Members(tuple(self.compile(s, t, f"{path}[{i}]", depth) for i, (s, t) in pairs))
            case ListType(a), ListType(b):
                return Each(self.compile(a, b, f"{path}[]", depth))
            case FixedListType(a, n), FixedListType(b, m) if n == m:
                return Each(self.compile(a, b, f"{path}[]", depth))
            case OptionType(a), OptionType(b):
                return Each(self.compile(a, b, f"{path}.some", depth))
            case MapType(key, value), MapType(other_key, other_value):
                if not self.are_equivalent(key, other_key):
                    self.refuse(key, other_key, f"{path}.key")
                return Each(self.compile(value, other_value, f"{path}.value", depth))
            case ResultType(), ResultType():
                return self.slots(source, target, path, depth)
            case VariantType(), VariantType():
                return Recase(tuple(self.cases(source, target, path, depth)))
            case EnumType(a), EnumType(b) if set(a) <= set(b):
                places = first_places(b)
                return Recase(tuple((places[name], None) for name in a))
            case FlagsType(a), FlagsType(b) if set(a) <= set(b):
                places = first_places(b)
                return Reflag(tuple(places[name] for name in a), len(b))
            case UnionType(), UnionType():
                return Bodies(tuple(self.branches(source, target, path, depth)))
            case StreamType(), StreamType():
                return Relay(self.item(source, target, path, depth))
            case SecretType(a, category), SecretType(b, other_category) if category == other_category:
                # the platform compares payloads without definitions: a reference only meets its own id
                if not is_assignable(a, b, NO_DEFINITIONS):
                    self.refuse(source, target, path)
                return KEEP
            case _:
                if isinstance(source, FutureType) or not leaf_fits(source, target):
                    self.refuse(source, target, path)
                return KEEP

    def are_equivalent(self, source: SchemaType, target: SchemaType) -> bool:
        """Whether the two are the same type."""
        return are_equivalent(Graph(source, self.sources), Graph(target, self.targets), self.proven)

    def picks(self, source: RecordType, target: RecordType, path: str, depth: int) -> Iterator[tuple[int, Node]]:
        """Every field of the target from the field of the same name."""
        by_name = _first(((f.name, (i, f)) for i, f in enumerate(source.fields)))
        for field in target.fields:
            found = by_name.get(field.name)
            if found is None:
                place = f"{path}.{field.name}"
                raise _MismatchError(Mismatch(place, MismatchKind.NOT_SUBSTITUTABLE, source, target, "field"))
            index, own = found
            yield index, self.field(own.body, field.body, path, field.name, depth)

    def field(self, source: SchemaType, target: SchemaType, path: str, name: str, depth: int) -> Node:
        """The step for a field; the same plain type on both sides, which most fields are, needs no path."""
        if type(source) is PlainType and type(target) is PlainType and source.kind is target.kind:
            node = len(self.steps)
            if depth <= MAX_PLAN_DEPTH and node < MAX_PLAN_NODES:
                self.steps.append(KEEP)
                return node
        return self.compile(source, target, f"{path}.{name}", depth)

    def slots(self, source: ResultType, target: ResultType, path: str, depth: int) -> Slots:
        """Both slots; presence must be the same."""

        def slot(own: SchemaType | None, other: SchemaType | None, name: str) -> Node | None:
            if own is None or other is None:
                if own is not other:
                    self.refuse(own, other, f"{path}.{name}")
                return None
            return self.compile(own, other, f"{path}.{name}", depth)

        return Slots(slot(source.ok, target.ok, "ok"), slot(source.err, target.err, "err"))

    def cases(
        self, source: VariantType, target: VariantType, path: str, depth: int
    ) -> Iterator[tuple[int, Node | None]]:
        """Every case of the source in the case of the same name; payload presence must be the same."""
        by_name = _first(((c.name, (i, c)) for i, c in enumerate(target.cases)))
        for case in source.cases:
            place = f"{path}.{case.name}"
            found = by_name.get(case.name)
            if found is None:
                raise _MismatchError(Mismatch(place, MismatchKind.NOT_SUBSTITUTABLE, source, target, "variant case"))
            index, other = found
            if case.payload is None or other.payload is None:
                if case.payload is not other.payload:
                    self.refuse(case.payload, other.payload, place)
                yield index, None
            else:
                yield index, self.compile(case.payload, other.payload, place, depth)

    def branches(self, source: UnionType, target: UnionType, path: str, depth: int) -> Iterator[tuple[str, Node]]:
        """Every branch of the source in the branch of the same tag; discriminators are not compared."""
        by_tag = _first((b.tag, b) for b in target.branches)
        for branch in source.branches:
            place = f"{path}.{branch.tag}"
            other = by_tag.get(branch.tag)
            if other is None:
                kind = MismatchKind.NOT_SUBSTITUTABLE
                raise _MismatchError(Mismatch(place, kind, source, target, "union branch"))
            yield branch.tag, self.compile(branch.body, other.body, place, depth)

    def item(self, source: StreamType, target: StreamType, path: str, depth: int) -> Node | None:
        """None when the stream is handed on whole: without item type, or with the same."""
        if source.inner is None or target.inner is None:
            if source.inner is not target.inner:
                self.refuse(source.inner, target.inner, f"{path}.item")
            return None
        if self.are_equivalent(source.inner, target.inner):
            return None
        return self.compile(source.inner, target.inner, f"{path}.item", depth)


def _first(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """The first of each name."""
    found: dict[str, T] = {}
    for name, value in pairs:
        found.setdefault(name, value)
    return found
