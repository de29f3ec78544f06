"""RETRY008: bounds that contradict each other. Page: contradiction.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.analysis.retry_view import conjuncts, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Integer, Predicate, PropertyValue
from policyd.core.retry.duration import duration_text
from policyd.core.retry.policy import Clamp, nodes_of
from policyd.core.retry.predicate import Comparison, Not, Or, PropCompare, PropIn, leaves
from policyd.core.retry.space import predicates_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report clamps with their ends the wrong way round, empty intervals, empty lists and two equalities at once."""
    view = view_of(subject)
    for policy in view.rules:
        for node in nodes_of(policy.policy):
            if isinstance(node, Clamp) and node.low_ns > node.high_ns:
                low, high = duration_text(node.low_ns), duration_text(node.high_ns)
                yield rule.finding(
                    f"retry policy `{policy.name}` clamps delays to at least {low} and at most {high}, which aborts"
                    " the host at the first retry",
                    view.span(policy),
                    help="`minDelay` must not be above `maxDelay`",
                    severity=Severity.ERROR,
                )
        for predicate in predicates_of((policy,)):
            for message in contradictions(predicate):
                yield rule.finding(f"retry policy `{policy.name}`: {message}", view.span(policy))


def contradictions(predicate: Predicate) -> Iterator[str]:
    """What cannot be true in a predicate, whatever the bag.

    Source: retry 8.4, F08.
    """
    for leaf in dict.fromkeys(leaves(predicate)):
        if isinstance(leaf, PropIn) and not leaf.values:
            yield f"`{leaf.property}` is looked for in an empty list"
    for part in _conjunctions(predicate):
        yield from _of_conjunction(part)


def _conjunctions(predicate: Predicate) -> Iterator[tuple[Predicate, ...]]:
    """The groups of parts that must be true together."""
    parts = tuple(conjuncts(predicate))
    yield parts
    for part in parts:
        match part:
            case Or(left, right):
                yield from _conjunctions(left)
                yield from _conjunctions(right)
            case Not(inner) if not isinstance(inner, PropCompare | PropIn):
                yield from _conjunctions(inner)
            case _:
                pass


def _of_conjunction(parts: Sequence[Predicate]) -> Iterator[str]:
    equal: dict[str, PropertyValue] = {}
    low: dict[str, int] = {}
    high: dict[str, int] = {}
    for part in parts:
        if not isinstance(part, PropCompare):
            continue
        name = part.property
        if part.comparison is Comparison.EQ:
            known = equal.setdefault(name, part.value)
            if known != part.value and type(known) is type(part.value):
                yield f"`{name}` cannot be both `{known.value}` and `{part.value.value}`"
        if not isinstance(part.value, Integer):
            continue
        number = part.value.value
        match part.comparison:
            case Comparison.GT:
                low[name] = max(low.get(name, number + 1), number + 1)
            case Comparison.GTE:
                low[name] = max(low.get(name, number), number)
            case Comparison.LT:
                high[name] = min(high.get(name, number - 1), number - 1)
            case Comparison.LTE:
                high[name] = min(high.get(name, number), number)
            case _:
                pass
    for name, least in low.items():
        if name in high and least > high[name]:
            yield f"no `{name}` is at least {least} and at most {high[name]}"
    for name, value in equal.items():
        if isinstance(value, Integer) and not low.get(name, value.value) <= value.value <= high.get(name, value.value):
            yield f"`{name}` cannot be {value.value} within its other bounds"


RULE = Rule("RETRY008", "contradiction", Severity.WARNING, Confidence.CERTAIN, check)
