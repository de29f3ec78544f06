"""Predicates made ready for many bags: the same answers as the evaluation of the tree, sooner.

Source: retry 1.4, 3.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from policyd.core.retry.evaluate import Lenient, evaluate_strict
from policyd.core.retry.predicate import (
    And,
    Comparison,
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
    Boolean,
    EvaluationError,
    Integer,
    PropertyNotFound,
    Text,
    compare,
)

Strict = Callable[[Bag], bool | EvaluationError]
LenientTest = Callable[[Bag], Lenient | EvaluationError]
_MATCH, _NO_MATCH, _MISSING = Lenient.MATCH, Lenient.NO_MATCH, Lenient.MISSING


def compile_strict(predicate: Predicate) -> Strict:
    """A function that gives what `evaluate_strict` gives for the predicate."""
    match predicate:
        case And(left, right):
            return _both(compile_strict(left), compile_strict(right))
        case Or(left, right):
            return _either(compile_strict(left), compile_strict(right))
        case Not(inner):
            return _negated(compile_strict(inner))
        case Constant(value):
            return lambda bag: value
        case PropExists(name):
            return lambda bag: name in bag
        case PropCompare():
            return _comparison(predicate)
        case PropIn() | PropText():
            return _leaf(predicate)
        case _:
            assert_never(predicate)


def _both(left: Strict, right: Strict) -> Strict:
    def test(bag: Bag) -> bool | EvaluationError:
        first = left(bag)
        return right(bag) if first is True else first

    return test


def _either(left: Strict, right: Strict) -> Strict:
    def test(bag: Bag) -> bool | EvaluationError:
        first = left(bag)
        return right(bag) if first is False else first

    return test


def _negated(inner: Strict) -> Strict:
    def test(bag: Bag) -> bool | EvaluationError:
        outcome = inner(bag)
        return not outcome if isinstance(outcome, bool) else outcome

    return test


def _leaf(leaf: PropIn | PropText) -> Strict:
    name = leaf.property
    missing = PropertyNotFound(name)
    texts = frozenset(v.value for v in leaf.values if type(v) is Text) if isinstance(leaf, PropIn) else frozenset()
    numbers = frozenset(v.value for v in leaf.values if type(v) is Integer) if isinstance(leaf, PropIn) else frozenset()
    only_texts = isinstance(leaf, PropIn) and len(texts) == len(set(leaf.values))
    only_numbers = isinstance(leaf, PropIn) and len(numbers) == len(set(leaf.values))
    prefix = leaf.operand if isinstance(leaf, PropText) and leaf.test is TextTest.STARTS_WITH else None

    def test(bag: Bag) -> bool | EvaluationError:
        actual = bag.get(name)
        if actual is None:
            return missing
        if type(actual) is Text:
            if only_texts:
                return actual.value in texts
            if prefix is not None:
                return actual.value.startswith(prefix)
        elif only_numbers and type(actual) is Integer:
            return actual.value in numbers
        return evaluate_strict(leaf, bag)

    return test


def _comparison(leaf: PropCompare) -> Strict:
    name, expected, comparison = leaf.property, leaf.value, leaf.comparison
    missing = PropertyNotFound(name)
    kind: type[object] = type(expected)
    wanted = expected.value
    equal = comparison is Comparison.EQ
    plain = comparison in (Comparison.EQ, Comparison.NEQ) and not isinstance(expected, Boolean)

    def test(bag: Bag) -> bool | EvaluationError:
        actual = bag.get(name)
        if actual is None:
            return missing
        if plain and type(actual) is kind:
            return (actual.value == wanted) is equal
        order = compare(name, actual, expected)
        return comparison.holds(order) if isinstance(order, int) else order

    return test


def compile_lenient(predicate: Predicate) -> LenientTest:
    """A function that gives what `evaluate_lenient` gives for the predicate."""
    match predicate:
        case And(left, right):
            return _lenient_pair(compile_lenient(left), compile_lenient(right), is_or=False)
        case Or(left, right):
            return _lenient_pair(compile_lenient(left), compile_lenient(right), is_or=True)
        case Not(inner):
            return _lenient_negated(compile_lenient(inner))
        case _:
            return _lenient_leaf(compile_strict(predicate))


def _lenient_pair(left: LenientTest, right: LenientTest, *, is_or: bool) -> LenientTest:
    def test(bag: Bag) -> Lenient | EvaluationError:
        first, second = left(bag), right(bag)
        if not isinstance(first, Lenient):
            return first
        if not isinstance(second, Lenient):
            return second
        if is_or and (first is _MATCH or second is _MATCH):
            return _MATCH
        if first is _MISSING or second is _MISSING:
            return _MISSING
        return _MATCH if first is second is _MATCH else _NO_MATCH

    return test


def _lenient_negated(inner: LenientTest) -> LenientTest:
    def test(bag: Bag) -> Lenient | EvaluationError:
        outcome = inner(bag)
        if outcome is _MATCH:
            return _NO_MATCH
        return _MATCH if outcome is _NO_MATCH else outcome

    return test


def _lenient_leaf(strict: Strict) -> LenientTest:
    def test(bag: Bag) -> Lenient | EvaluationError:
        value = strict(bag)
        if isinstance(value, bool):
            return _MATCH if value else _NO_MATCH
        return _MISSING if isinstance(value, PropertyNotFound) else value

    return test
