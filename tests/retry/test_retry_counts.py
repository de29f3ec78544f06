"""Limits against stepping on many random trees; a twentieth of the full count runs every time."""

import random
from collections.abc import Iterator

import pytest
from test_retry_laws_limits import FOLLOWED, _bags, _reached

from policyd.core.retry import Boolean, Domain, Elapsed, Integer, LimitClass, Policy, Retry, limits_of, step
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.policy import TimeBox, nodes_of
from policyd.core.retry.state import State, initial_state

TREES = 50_000
SHARE = 20
SECOND = 1_000_000_000
DELAYS = tuple(n * SECOND // 4 for n in (0, 1, 2, 4, 8, 12))
FAR = 10_000
WIDTH = 12
"""Runs that are followed side by side where an endless one is looked for."""


def predicate_of(source: random.Random) -> q.Predicate:
    """A test on what changes, on what never changes, or on what does not exist."""
    match source.randrange(4):
        case 0:
            return q.PropCompare(q.Comparison.EQ, "flag", Boolean(source.random() < 0.5))
        case 1:
            return q.PropCompare(q.Comparison.EQ, "nope", Integer(1))
        case _:
            return q.PropCompare(source.choice(tuple(q.Comparison)), "attempt", Integer(source.randrange(6)))


def tree_of(source: random.Random, leaves: int) -> Policy:
    """A tree with so many leaves at most."""
    if leaves <= 1 and source.random() < 0.6:
        factor = source.choice((0.5, 1.0, 1.5, 2.0, -2.0, -1.0, 0.0))
        return source.choice(
            (
                p.Periodic(source.choice(DELAYS)),
                p.Exponential(source.choice(DELAYS), factor),
                p.Fibonacci(source.choice(DELAYS), source.choice(DELAYS)),
                p.Immediate(),
                p.Never(),
            )
        )
    if leaves > 1 and source.random() < 0.6:
        left = source.randrange(1, leaves)
        build = source.choice((p.AndThen, p.Union, p.Intersect))
        return build(tree_of(source, left), tree_of(source, leaves - left))
    inner = tree_of(source, leaves)
    match source.randrange(6):
        case 0 | 1:
            return p.CountBox(source.randrange(5), inner)
        case 2:
            return p.TimeBox(source.choice(DELAYS), inner)
        case 3:
            low, high = sorted((source.choice(DELAYS), source.choice(DELAYS)))
            return p.Clamp(low, high, inner)
        case 4:
            return p.AddDelay(source.choice(DELAYS), inner)
        case _:
            return p.FilteredOn(predicate_of(source), inner)


def _questions(numbers: range) -> Iterator[tuple[int, Policy, Domain, Elapsed]]:
    for number in numbers:
        source = random.Random(number)
        policy = tree_of(source, source.randrange(1, 5))
        free = (("flag", (Boolean(True), Boolean(False))),) if source.random() < 0.4 else ()
        domain = Domain(free=free, attempt=source.random() < 0.5)
        yield number, policy, domain, source.choice(tuple(Elapsed))


def _check(numbers: range, far: int) -> None:
    for number, policy, domain, elapsed in _questions(numbers):
        limits = limits_of(policy, elapsed, domain)
        most, fewest, latest = _reached(policy, domain, elapsed)
        assert limits.retries.exact, number
        if most <= FOLLOWED:
            assert limits.retries.at_most == most, number
        else:
            assert limits.retries.at_most is None or limits.retries.at_most > FOLLOWED, number
        if fewest is not None:
            assert limits.min_retries == fewest, number
        if elapsed is Elapsed.REAL and limits.horizon.at_most is not None and latest >= 0:
            assert latest < limits.horizon.at_most, number
        if limits.limit_class is LimitClass.UNBOUNDED:
            assert _goes_on(policy, domain, elapsed, far), number


def _goes_on(policy: Policy, domain: Domain, elapsed: Elapsed, far: int) -> bool:
    """Whether some run has more than `far` retries."""
    boxes = sorted({n.limit_ns for n in nodes_of(policy) if isinstance(n, TimeBox)})
    cap = boxes[-1] if boxes else 0
    frontier: list[tuple[State, int]] = [(initial_state(policy), 0)]
    for k in range(1, far + 2):
        later: dict[tuple[State, int], None] = {}
        for state, at in frontier:
            moments = [at, *(b for b in boxes if b > at)] if elapsed is Elapsed.REAL else [0]
            # Late moments first: an endless run is one that goes on after every time box.
            for moment in reversed(moments):
                for bag in _bags(domain, k):
                    after, verdict = step(policy, state, moment, bag)
                    if isinstance(verdict, Retry):
                        later[(after, min(moment + verdict.delay_ns, cap))] = None
        if not later:
            return False
        frontier = list(later)[:WIDTH]
    return True


@pytest.mark.parametrize("part", range(5))
def test_limits_of_random_trees(part: int) -> None:
    """What limits say of a tree is what stepping it shows, and what is unbounded goes on."""
    share = TREES // SHARE // 5
    _check(range(part * share, (part + 1) * share), 40)


@pytest.mark.acceptance
def test_limits_of_random_trees_in_full() -> None:
    """The same on 50,000 trees; what is unbounded goes on past 10,000 retries."""
    _check(range(TREES), 40)
    for number, policy, domain, elapsed in _questions(range(0, TREES, 100)):
        if limits_of(policy, elapsed, domain).limit_class is LimitClass.UNBOUNDED:
            assert _goes_on(policy, domain, elapsed, FAR), number
