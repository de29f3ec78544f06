"""Predicates over property bags.

Source: retry 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from policyd.core.retry.value import PropertyValue


class Comparison(Enum):
    """How a property is compared with a constant."""

    EQ = "Eq"
    NEQ = "Neq"
    GT = "Gt"
    GTE = "Gte"
    LT = "Lt"
    LTE = "Lte"

    def holds(self, order: int) -> bool:
        """Whether the comparison is true when the two sides stand in `order` (negative: below)."""
        match self:
            case Comparison.EQ:
                return order == 0
            case Comparison.NEQ:
                return order != 0
            case Comparison.GT:
                return order > 0
            case Comparison.GTE:
                return order >= 0
            case Comparison.LT:
                return order < 0
            case Comparison.LTE:
                return order <= 0
            case _:
                assert_never(self)


class TextTest(Enum):
    """What is asked of the text view of a property."""

    MATCHES = "Matches"
    STARTS_WITH = "StartsWith"
    CONTAINS = "Contains"


@dataclass(frozen=True, slots=True)
class PropCompare:
    """True when the property compares as stated with `value`."""

    comparison: Comparison
    property: str
    value: PropertyValue


@dataclass(frozen=True, slots=True)
class PropExists:
    """True when the bag has the property; never an error."""

    property: str


@dataclass(frozen=True, slots=True)
class PropIn:
    """True when the property equals one of `values` (0..n, in order)."""

    property: str
    values: tuple[PropertyValue, ...]


@dataclass(frozen=True, slots=True)
class PropText:
    """True when the text view of the property passes the test with `operand`."""

    test: TextTest
    property: str
    operand: str


@dataclass(frozen=True, slots=True)
class And:
    """True when both sides are."""

    left: Predicate
    right: Predicate


@dataclass(frozen=True, slots=True)
class Or:
    """True when one side is."""

    left: Predicate
    right: Predicate


@dataclass(frozen=True, slots=True)
class Not:
    """True when `predicate` is false."""

    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Constant:
    """Always `value`."""

    value: bool


Predicate = PropCompare | PropExists | PropIn | PropText | And | Or | Not | Constant
ALWAYS, NEVER_TRUE = Constant(True), Constant(False)


def leaves(predicate: Predicate) -> Iterator[PropCompare | PropExists | PropIn | PropText | Constant]:
    """The leaves of a predicate, left to right."""
    stack: list[Predicate] = [predicate]
    while stack:
        node = stack.pop()
        match node:
            case And(left, right) | Or(left, right):
                stack += (right, left)
            case Not(inner):
                stack.append(inner)
            case _:
                yield node


def properties_of(predicate: Predicate) -> frozenset[str]:
    """The names of the properties that the predicate mentions anywhere.

    Source: retry 3.4.
    """
    return frozenset(leaf.property for leaf in leaves(predicate) if not isinstance(leaf, Constant))
