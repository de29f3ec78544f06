"""Evaluation of predicates over a bag, in the two ways that sites use.

Source: retry 1.4, 3.3.
"""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from policyd.core.retry.glob import glob_matches
from policyd.core.retry.policy import (
    AddDelay,
    AndThen,
    Clamp,
    CountBox,
    Exponential,
    Fibonacci,
    FilteredOn,
    Immediate,
    Intersect,
    Jitter,
    Never,
    Periodic,
    Policy,
    TimeBox,
    Union,
)
from policyd.core.retry.predicate import (
    And,
    Constant,
    Not,
    Or,
    Predicate,
    PropCompare,
    PropExists,
    PropIn,
    PropText,
    TextTest,
)
from policyd.core.retry.value import (
    Bag,
    CoercionFailed,
    EvaluationError,
    PropertyNotFound,
    TargetType,
    compare,
    text_view,
)


class Lenient(Enum):
    """The outcome of a lenient evaluation; only a match selects."""

    MATCH = "match"
    NO_MATCH = "no match"
    MISSING = "missing"


def evaluate_strict(predicate: Predicate, bag: Bag) -> bool | EvaluationError:
    """Whether the predicate holds; `and` and `or` stop at the first side that decides or fails.

    Source: retry 3.3.
    """
    match predicate:
        case And(left, right):
            first = evaluate_strict(left, bag)
            return evaluate_strict(right, bag) if first is True else first
        case Or(left, right):
            first = evaluate_strict(left, bag)
            return evaluate_strict(right, bag) if first is False else first
        case Not(inner):
            outcome = evaluate_strict(inner, bag)
            return not outcome if isinstance(outcome, bool) else outcome
        case Constant(value):
            return value
        case PropExists(name):
            return name in bag
        case PropCompare() | PropIn() | PropText():
            return _leaf(predicate, bag)
        case _:
            assert_never(predicate)


def _leaf(leaf: PropCompare | PropIn | PropText, bag: Bag) -> bool | EvaluationError:
    """The value of a leaf that reads a property."""
    actual = bag.get(leaf.property)
    if actual is None:
        return PropertyNotFound(leaf.property)
    match leaf:
        case PropCompare(comparison, name, value):
            order = compare(name, actual, value)
            return comparison.holds(order) if isinstance(order, int) else order
        case PropIn(name, values):
            failure: CoercionFailed | None = None
            for value in values:
                order = compare(name, actual, value)
                if not isinstance(order, int):
                    failure = failure or order
                elif order == 0:
                    return True
            return failure or False
        case PropText(test, name, operand):
            view = text_view(actual)
            if view is None:
                return CoercionFailed(name, actual, TargetType.TEXT)
            return _text_test(test, view, operand)
        case _:
            assert_never(leaf)


def _text_test(test: TextTest, view: str, operand: str) -> bool:
    match test:
        case TextTest.MATCHES:
            return glob_matches(operand, view)
        case TextTest.STARTS_WITH:
            return view.startswith(operand)
        case TextTest.CONTAINS:
            return operand in view
        case _:
            assert_never(test)


def evaluate_lenient(predicate: Predicate, bag: Bag) -> Lenient | EvaluationError:
    """The three-valued outcome; both sides are always looked at, and a failed coercion anywhere wins.

    Source: retry 3.3.
    """
    match predicate:
        case And(left, right) | Or(left, right):
            first = evaluate_lenient(left, bag)
            if not isinstance(first, Lenient):
                return first
            second = evaluate_lenient(right, bag)
            if not isinstance(second, Lenient):
                return second
            if isinstance(predicate, And):
                both = first is second is Lenient.MATCH
                decided = Lenient.MATCH if both else Lenient.NO_MATCH
                certain = both
            else:
                certain = Lenient.MATCH in (first, second)
                decided = Lenient.MATCH if certain else Lenient.NO_MATCH
            return Lenient.MISSING if not certain and Lenient.MISSING in (first, second) else decided
        case Not(inner):
            outcome = evaluate_lenient(inner, bag)
            if outcome is Lenient.MATCH:
                return Lenient.NO_MATCH
            return Lenient.MATCH if outcome is Lenient.NO_MATCH else outcome
        case _:
            value = evaluate_strict(predicate, bag)
            if isinstance(value, bool):
                return Lenient.MATCH if value else Lenient.NO_MATCH
            return Lenient.MISSING if isinstance(value, PropertyNotFound) else value


def body_applies(policy: Policy, bag: Bag) -> bool | EvaluationError:
    """Whether the body of a policy can apply at all, missing properties counting as no match.

    A leaf applies, `never` included: it decides to give up.

    Source: retry 3.3.
    """
    match policy:
        case FilteredOn(predicate, inner):
            outcome = evaluate_lenient(predicate, bag)
            if not isinstance(outcome, Lenient):
                return outcome
            return body_applies(inner, bag) if outcome is Lenient.MATCH else False
        case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter():
            return body_applies(policy.inner, bag)
        case AndThen(left, right) | Union(left, right):
            first = body_applies(left, bag)
            return body_applies(right, bag) if first is False else first
        case Intersect(left, right):
            first = body_applies(left, bag)
            return body_applies(right, bag) if first is True else first
        case Periodic() | Exponential() | Fibonacci() | Immediate() | Never():
            return True
        case _:
            assert_never(policy)
