"""Showing that a projection does not exist: a smallest value of the source that the target refuses.

The first place at which the types part is the one that is shown. Where no value can show it, because the relation
is stricter than values are, the answer names the reason from a closed list.

Source: middleware 3.2, 3.11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import TypeAlias

from policyd.core.schema.assignable import is_assignable, leaf_fits
from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.examples import EPOCH, MAX_EXAMPLE_NODES, NO_ID, Examples
from policyd.core.schema.graph import NO_DEFINITIONS, Graph
from policyd.core.schema.leaf_witness import NoWitness, refused_leaf
from policyd.core.schema.name_index import first_places
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.pairs import Proven
from policyd.core.schema.project import MAX_PLAN_DEPTH, MAX_PLAN_NODES
from policyd.core.schema.steps import spend
from policyd.core.schema.text_wish import Texts
from policyd.core.schema.types import (
    Branch,
    Case,
    EnumType,
    Field,
    FieldEquals,
    FixedListType,
    FlagsType,
    FutureType,
    ListType,
    MapType,
    OptionType,
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
from policyd.core.schema.validate import validity
from policyd.core.schema.values import (
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    OptionValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    SecretValue,
    TupleValue,
    UnionValue,
    VariantValue,
    parts_of_value,
)

__all__ = ["NoWitness", "Shown", "Witness", "witness"]


@dataclass(frozen=True, slots=True)
class Shown:
    """A value that shows it.

    Attributes:
        value: valid for the source, refused by the target; both have been checked.
        reason: why the target refuses it, in a few words.
    """

    value: SchemaValue
    reason: str


Witness: TypeAlias = Shown | NoWitness


def witness(source: Graph, target: Graph, texts: Texts) -> Witness | None:
    """A value of `source` that does not get into `target`, the reason why none shows it, or None where it projects.

    Args:
        source: well-formed.
        target: well-formed.
        texts: engines, and a finder for texts that match one pattern and not another.
    """
    search = _Search(source, target, texts, Examples(source.definitions, texts))
    try:
        found = search.first(source.root, target.root, 0)
    except RecursionError:
        return NoWitness.TOO_LARGE
    if found is None or isinstance(found, NoWitness):
        return found
    if validity(found, source, texts.engines) is not Validity.VALID:
        return NoWitness.NOT_FOUND
    refused = carry(found, source, target, texts.engines)
    return Shown(found, refused.reason) if isinstance(refused, Refused) else NoWitness.NOT_FOUND


_Found: TypeAlias = SchemaValue | NoWitness | None
_Make: TypeAlias = Callable[[SchemaValue | None], SchemaValue]
_Wrap: TypeAlias = Callable[[SchemaValue], SchemaValue]


class _Presence(Enum):
    """What a slot of both sides comes to."""

    BOTH = "both"
    NEITHER = "neither"
    ONE = "one"


@dataclass(slots=True)
class _Search:
    """One search along the order in which projection compares; as deep as that."""

    source: Graph
    target: Graph
    texts: Texts
    examples: Examples
    known: set[tuple[str, str]] = field(default_factory=set)
    nodes: int = 0
    proven: Proven = field(default_factory=dict)

    def first(self, source: SchemaType, target: SchemaType, depth: int) -> _Found:
        """The value for the first place below a pair at which it parts, or None where it projects."""
        if depth > MAX_PLAN_DEPTH:
            return NoWitness.TOO_LARGE
        a, b = self.source.definitions.resolve(source), self.target.definitions.resolve(target)
        if a.last_id is not None and b.last_id is not None:
            if (a.last_id, b.last_id) in self.known:
                return None
            self.known.add((a.last_id, b.last_id))
        if self.nodes >= MAX_PLAN_NODES:
            return NoWitness.TOO_LARGE
        self.nodes += 1
        if a.type is None or b.type is None:
            return NoWitness.NOT_FOUND
        spend(1 + width_of(a.type) + width_of(b.type))
        return self.step(a.type, b.type, depth + 1)

    def step(self, source: SchemaType, target: SchemaType, depth: int) -> _Found:
        """Two resolved types."""
        match source, target:
            case RecordType(), RecordType():
                return self.record(source, target, depth)
            case TupleType(a), TupleType(b) if len(a) == len(b):
                return self.members(a, b, depth)
            case ListType(a), ListType(b):
                return _inside(self.first(a, b, depth), lambda part: ListValue((part,)))
            case FixedListType(a, n), FixedListType(b, m) if n == m:
                return self.fixed(a, b, n, depth)
            case OptionType(a), OptionType(b):
                return _inside(self.first(a, b, depth), OptionValue)
            case MapType(), MapType():
                return self.entries(source, target, depth)
            case ResultType(), ResultType():
                return self.result(source, target, depth)
            case VariantType(a), VariantType(b):
                return self.variant(a, b, depth)
            case UnionType(a), UnionType(b):
                return self.union(a, b, depth)
            case EnumType(a), EnumType(b):
                names = frozenset(b)
                return next((EnumValue(i) for i, name in enumerate(a) if name not in names), None)
            case FlagsType(a), FlagsType(b):
                names = frozenset(b)
                missing = next((name for name in a if name not in names), None)
                return None if missing is None else FlagsValue(tuple(name == missing for name in a))
            case StreamType(a), StreamType(b):
                return self.stream(a, b, depth)
            case SecretType(), SecretType():
                return _secret(source, target)
            case _:
                return self.leaf(source, target)

    def leaf(self, source: SchemaType, target: SchemaType) -> _Found:
        """Types without parts, and types of different kinds."""
        if isinstance(source, FutureType) or isinstance(target, FutureType):
            return NoWitness.FUTURE
        if type(source) is type(target) and leaf_fits(source, target):
            return None
        if isinstance(target, OptionType) and self.first(source, target.inner, MAX_PLAN_DEPTH - 1) is None:
            return NoWitness.NO_LIFT
        found = refused_leaf(source, target, self.texts)
        if found is not None:
            return found
        example = self.examples.of(source)
        return self.missing(source) if example is None else example

    def record(self, source: RecordType, target: RecordType, depth: int) -> _Found:
        """Every field of the target must be there and project."""
        index_of = first_places(own.name for own in source.fields)
        for wanted in target.fields:
            place = index_of.get(wanted.name)
            if place is None:
                return self.filled(source.fields, {})
            found = self.first(source.fields[place].body, wanted.body, depth)
            if isinstance(found, NoWitness):
                return found
            if found is not None:
                return self.filled(source.fields, {place: found})
        return None

    def filled(self, fields: tuple[Field, ...], given: dict[int, SchemaValue]) -> SchemaValue | NoWitness:
        """A record with smallest values in the fields that are not given."""
        return self.whole([f.body for f in fields], given, RecordValue)

    def whole(
        self, types: list[SchemaType], given: dict[int, SchemaValue], make: type[RecordValue] | type[TupleValue]
    ) -> SchemaValue | NoWitness:
        """All the parts, smallest ones where none is given."""
        parts: list[SchemaValue] = []
        for index, schema in enumerate(types):
            part = given[index] if index in given else self.examples.of(schema)
            if part is None:
                return self.missing(schema)
            parts.append(part)
        return make(tuple(parts))

    def missing(self, schema: SchemaType) -> NoWitness:
        """Why a type has no example: there is no value, or none was found."""
        return NoWitness.UNINHABITED if self.examples.is_empty(schema) else NoWitness.NOT_FOUND

    def members(self, source: tuple[SchemaType, ...], target: tuple[SchemaType, ...], depth: int) -> _Found:
        """Position by position."""
        for index, (a, b) in enumerate(zip(source, target, strict=True)):
            found = self.first(a, b, depth)
            if isinstance(found, NoWitness):
                return found
            if found is not None:
                return self.whole(list(source), {index: found}, TupleValue)
        return None

    def fixed(self, source: SchemaType, target: SchemaType, length: int, depth: int) -> _Found:
        """All elements alike; a value larger than any example is not made."""
        found = self.first(source, target, depth)
        if found is None or isinstance(found, NoWitness):
            return found
        room = MAX_EXAMPLE_NODES // max(length, 1)
        return NoWitness.TOO_LARGE if _is_larger(found, room) else FixedListValue((found,) * length)

    def entries(self, source: MapType, target: MapType, depth: int) -> _Found:
        """Keys must be the same type, which some values show; values project."""
        keys = Graph(source.key, self.source.definitions), Graph(target.key, self.target.definitions)
        if not are_equivalent(*keys, self.proven):
            found = self.first(source.key, target.key, depth)
            if found is None or isinstance(found, NoWitness):
                return NoWitness.MAP_KEY
            value = self.examples.of(source.value)
            return self.missing(source.value) if value is None else MapValue(((found, value),))
        found = self.first(source.value, target.value, depth)
        if found is None or isinstance(found, NoWitness):
            return found
        key = self.examples.of(source.key)
        return self.missing(source.key) if key is None else MapValue(((key, found),))

    def result(self, source: ResultType, target: ResultType, depth: int) -> _Found:
        """Slot by slot; presence must be the same."""
        for is_ok, own, other in ((True, source.ok, target.ok), (False, source.err, target.err)):
            found = self.slot(own, other, depth)
            if isinstance(found, NoWitness):
                return found
            match found:
                case _Presence.ONE:
                    return self.presented(own, partial(ResultValue, is_ok))
                case _Presence():
                    continue
                case value:
                    return ResultValue(is_ok, value)
        return None

    def slot(self, own: SchemaType | None, other: SchemaType | None, depth: int) -> SchemaValue | NoWitness | _Presence:
        """The witness for a payload, or how it stands with its presence."""
        if own is None or other is None:
            return _Presence.NEITHER if own is other else _Presence.ONE
        found = self.first(own, other, depth)
        return _Presence.BOTH if found is None else found

    def presented(self, own: SchemaType | None, make: _Make) -> SchemaValue | NoWitness:
        """A value for a slot that only one side fills."""
        if own is None:
            return make(None)
        example = self.examples.of(own)
        return self.missing(own) if example is None else make(example)

    def variant(self, source: tuple[Case, ...], target: tuple[Case, ...], depth: int) -> _Found:
        """Every case of the source must be there."""
        places = first_places(case.name for case in target)
        for index, case in enumerate(source):
            place = places.get(case.name)
            found = _Presence.ONE if place is None else self.slot(case.payload, target[place].payload, depth)
            if isinstance(found, NoWitness):
                return found
            match found:
                case _Presence.ONE:
                    return self.presented(case.payload, partial(VariantValue, index))
                case _Presence():
                    continue
                case value:
                    return VariantValue(index, value)
        return None

    def union(self, source: tuple[Branch, ...], target: tuple[Branch, ...], depth: int) -> _Found:
        """Every branch of the source must be there; its rule has to hold for the value that shows it."""
        places = first_places(branch.tag for branch in target)
        for branch in source:
            place = places.get(branch.tag)
            if place is None:
                body = self.examples.body_of(branch)
            else:
                found = self.first(branch.body, target[place].body, depth)
                if found is None:
                    continue
                if isinstance(found, NoWitness):
                    return found
                body = self.ruled(branch, found)
            return self.missing(branch.body) if body is None else UnionValue(branch.tag, body)
        return None

    def ruled(self, branch: Branch, found: SchemaValue) -> SchemaValue | None:
        """A body of a branch that satisfies its rule and keeps what was found."""
        example = self.examples.body_of(branch)
        if example is None:
            return None
        rule = branch.discriminator
        record = self.source.definitions.resolve(branch.body).type
        if isinstance(rule, FieldEquals) and isinstance(record, RecordType) and isinstance(found, RecordValue):
            assert isinstance(example, RecordValue)
            index = next((i for i, f in enumerate(record.fields) if f.name == rule.field_name), None)
            if index is not None and rule.literal is not None:
                parts = list(found.fields)
                parts[index] = example.fields[index]
                return RecordValue(tuple(parts))
        if not isinstance(record, RecordType):
            return example
        return found

    def stream(self, source: SchemaType | None, target: SchemaType | None, depth: int) -> _Found:
        """Streams are not looked into, so no value shows a difference of their items."""
        if source is None or target is None:
            return None if source is target else NoWitness.STREAM_ITEM
        one, other = Graph(source, self.source.definitions), Graph(target, self.target.definitions)
        if are_equivalent(one, other, self.proven) or self.first(source, target, depth) is None:
            return None
        return NoWitness.STREAM_ITEM


def _is_larger(value: SchemaValue, size: int) -> bool:
    """Whether a value has more parts than that, itself counted."""
    pending = [value]
    while pending:
        size -= 1
        if size < 0:
            return True
        pending.extend(parts_of_value(pending.pop()))
    return False


def _inside(found: _Found, make: _Wrap) -> _Found:
    return found if found is None or isinstance(found, NoWitness) else make(found)


def _secret(source: SecretType, target: SecretType) -> _Found:
    if source.category != target.category:
        # a value keeps its category, and a target without one does not look at it
        if target.category is None:
            return NoWitness.SECRET_CATEGORY
        return SecretValue(NO_ID, 0, EPOCH, category=source.category)
    if is_assignable(source.inner, target.inner, NO_DEFINITIONS):
        return None
    refs = any(isinstance(part, RefType) for side in (source, target) for part in walk(side.inner))
    return NoWitness.SECRET_REF if refs else NoWitness.SECRET_PAYLOAD
