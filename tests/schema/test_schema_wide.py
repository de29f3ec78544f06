"""Very wide types cost one pass: names are counted while they are compared, never timed."""

from __future__ import annotations

import pytest

from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.graph import Graph
from policyd.core.schema.project import Mismatch, Plan, project
from policyd.core.schema.types import (
    STRING,
    U32,
    Branch,
    Case,
    EnumType,
    Field,
    FlagsType,
    ListType,
    RecordType,
    SchemaType,
    StringRule,
    TextRule,
    UnionType,
    VariantType,
)
from policyd.core.schema.values import EnumValue, FlagsValue, ListValue, RecordValue, StringValue, UnionValue
from policyd.core.schema.witness import Shown, witness
from policyd.usecases.schema_compare import Relation, answer_json, compare_schemas
from policyd.usecases.tool_documents import ENGINES, TEXTS

WIDTH = 300
PER_NAME = 40
"""Comparisons of texts that one name may cost; a search for each name in the other list would cost `WIDTH` halves."""


class Counted(str):
    """A name that counts how often it is compared with another object."""

    __slots__ = ()
    comparisons = 0

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.fixture(autouse=True)
def from_zero():
    Counted.comparisons = 0


def names(*, backwards: bool = False, without: int | None = None) -> tuple[str, ...]:
    """New objects every time, so that no identity spares a comparison."""
    found = [Counted(f"n{i}") for i in range(WIDTH) if i != without]
    return tuple(reversed(found) if backwards else found)


KINDS = {
    "enum": EnumType,
    "flags": FlagsType,
    "variant": lambda all: VariantType(tuple(Case(name) for name in all)),
    "record": lambda all: RecordType(tuple(Field(name, STRING) for name in all)),
    "union": lambda all: UnionType(
        tuple(Branch(name, STRING, StringRule(TextRule.PREFIX, f"{name}:")) for name in all)
    ),
}


def assert_linear() -> None:
    assert 0 < Counted.comparisons <= PER_NAME * WIDTH


@pytest.mark.parametrize("relation", Relation, ids=lambda relation: relation.value)
@pytest.mark.parametrize("kind", KINDS)
def test_a_comparison_is_linear(kind, relation):
    """In another order, with the last one missing, with the first one missing: plan, place, payload and words."""
    source = Graph(KINDS[kind](names()))
    for other in (names(backwards=True), names(backwards=True, without=WIDTH - 1), names(backwards=True, without=0)):
        target = Graph(KINDS[kind](other))
        answer_json(compare_schemas(source, target, relation), source, target)
    assert_linear()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("enum", ListValue(tuple(EnumValue(i) for i in range(WIDTH)))),
        ("union", ListValue(tuple(UnionValue(f"n{i}", StringValue(f"n{i}:")) for i in range(WIDTH)))),
    ],
)
def test_many_values_of_a_wide_choice_are_linear(kind, value):
    """The names of a type are indexed once, however many values of it are carried."""
    source, target = (ListType(KINDS[kind](all)) for all in (names(), names(backwards=True)))
    moved = carry(value, Graph(source), Graph(target), ENGINES)
    assert isinstance(moved, ListValue)
    assert len(moved.elements) == WIDTH
    assert Counted.comparisons <= PER_NAME * WIDTH


def test_carrying_wide_values_is_linear():
    """All flags set, and a record of which only the first field does not fit."""
    one, other = Graph(FlagsType(names())), Graph(FlagsType(names(backwards=True)))
    assert carry(FlagsValue((True,) * WIDTH), one, other, ENGINES) == FlagsValue((True,) * WIDTH)
    assert_linear()
    Counted.comparisons = 0

    def record(first: SchemaType, all: tuple[str, ...]) -> Graph:
        return Graph(RecordType((Field("first", first), *(Field(name, STRING) for name in all))))

    value = RecordValue(tuple(StringValue("") for _ in range(WIDTH + 1)))
    found = carry(value, record(STRING, names()), record(U32, names(backwards=True)), ENGINES)
    assert isinstance(found, Refused)
    assert_linear()


def test_of_several_with_one_name_the_first_counts():
    """Lists of names that repeat one are not well-formed, and still have one reading."""
    plan = project(Graph(EnumType(("a", "b"))), Graph(EnumType(("b", "a", "b"))))
    assert isinstance(plan, Plan)
    assert plan.steps[0].cases == ((1, None), (0, None))
    source, target = Graph(FlagsType(("a", "gone"))), Graph(FlagsType(("a", "a")))
    assert isinstance(project(source, target), Mismatch)
    assert witness(source, target, TEXTS) == Shown(FlagsValue((False, True)), "the flag `gone` is missing")
