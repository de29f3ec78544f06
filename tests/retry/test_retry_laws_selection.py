"""Evaluation and selection: how strict, lenient and compiled evaluation stand to each other."""

from hypothesis import given
from hypothesis import strategies as st
from retry_strategies import BAGS, PATTERNS, POLICIES, PREDICATES

from policyd.core.retry import (
    Bag,
    Lenient,
    NamedPolicy,
    Outcome,
    Policy,
    Predicate,
    Resolver,
    RuleSet,
    body_applies,
    evaluate_lenient,
    evaluate_strict,
    glob_matches,
    mentions,
    select,
)
from policyd.core.retry.compiled import compile_lenient, compile_strict
from policyd.core.retry.glob import _InvalidPatternError, _Pass
from policyd.core.retry.policy import FilteredOn, nodes_of
from policyd.core.retry.value import CoercionFailed, PropertyNotFound

RULES = st.lists(st.builds(NamedPolicy, st.sampled_from("abcdef"), st.integers(0, 2), PREDICATES, POLICIES), max_size=4)


@given(PREDICATES, BAGS)
def test_compiled_predicates_give_the_same(predicate: Predicate, bag: Bag) -> None:
    """A predicate made ready gives what the evaluation of the tree gives."""
    assert compile_strict(predicate)(bag) == evaluate_strict(predicate, bag)
    assert compile_lenient(predicate)(bag) == evaluate_lenient(predicate, bag)


@given(PREDICATES, BAGS)
def test_lenient_agrees_with_strict_where_nothing_is_missing(predicate: Predicate, bag: Bag) -> None:
    """A certain lenient outcome is the strict one, unless a property is missing on the way."""
    strict, lenient = evaluate_strict(predicate, bag), evaluate_lenient(predicate, bag)
    if isinstance(lenient, Lenient) and lenient is not Lenient.MISSING:
        assert strict == (lenient is Lenient.MATCH) or isinstance(strict, PropertyNotFound)
    if isinstance(strict, CoercionFailed):
        assert isinstance(lenient, CoercionFailed)
    if isinstance(strict, PropertyNotFound):
        assert not mentions(predicate, "nowhere")
        assert mentions(predicate, strict.property)


@given(RULES, BAGS)
def test_resolvers_stand_to_each_other(rules: list[NamedPolicy], bag: Bag) -> None:
    """Skipping what is missing changes a strict selection only where that ends in a missing property."""
    ready = RuleSet.of(rules)
    strict = ready.select(bag, Resolver.STRICT)
    skipping = ready.select(bag, Resolver.SKIP_MISSING)
    if not isinstance(strict.error, PropertyNotFound):
        assert (strict.rule, strict.error) == (skipping.rule, skipping.error)
    for resolver in Resolver:
        selection = ready.select(bag, resolver)
        assert selection == select(rules, bag, resolver)
        assert ready.pick(bag, resolver) == (selection.rule if selection.error is None else selection.error)
        assert [c.rule for c in selection.considered] == list(ready.rules)
        assert sum(c.outcome in (Outcome.SELECTED, Outcome.ERROR) for c in selection.considered) <= 1


@given(POLICIES, BAGS)
def test_a_body_without_filters_applies(policy: Policy, bag: Bag) -> None:
    """Only a filter keeps a body from applying."""
    if not any(isinstance(node, FilteredOn) for node in nodes_of(policy)):
        assert body_applies(policy, bag) is True


@given(PATTERNS, st.text("ab/5é", max_size=8))
def test_globs_are_those_of_the_pass(pattern: str, text: str) -> None:
    """What is told before a pass is what the pass comes to, toggled by each leading `!`."""
    start = len(pattern) - len(pattern.lstrip("!"))
    try:
        wanted = _Pass(pattern.encode(), text.encode(), start).run() != (start % 2 == 1)
    except _InvalidPatternError:
        wanted = False
    assert glob_matches(pattern, text) is wanted
