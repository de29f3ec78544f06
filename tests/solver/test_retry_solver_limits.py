"""Limits are what arithmetic says: a run of the greatest length exists, and none is longer."""

import random

import pytest

from policyd.core.retry import Elapsed, Policy, limits_of
from policyd.core.retry import policy as p
from policyd.solver.retry_limits import has_run

SECOND = 1_000_000_000
MOST = 7


def tree_of(source: random.Random, leaves: int) -> Policy:
    """A small tree without filters."""
    delays = tuple(n * SECOND // 2 for n in range(5))
    if leaves <= 1 and source.random() < 0.6:
        leaf: Policy = source.choice(
            (
                p.Periodic(source.choice(delays)),
                p.Exponential(source.choice(delays), source.choice((0.5, 1.0, 2.0))),
                p.Fibonacci(source.choice(delays), source.choice(delays)),
                p.Immediate(),
                p.Never(),
            )
        )
        return leaf
    if leaves > 1 and source.random() < 0.6:
        left = source.randrange(1, leaves)
        build = source.choice((p.AndThen, p.Union, p.Intersect))
        return build(tree_of(source, left), tree_of(source, leaves - left))
    inner = tree_of(source, leaves)
    match source.randrange(5):
        case 0 | 1:
            return p.CountBox(source.randrange(4), inner)
        case 2:
            return p.TimeBox(source.choice(delays), inner)
        case 3:
            low, high = sorted((source.choice(delays), source.choice(delays)))
            return p.Clamp(low, high, inner)
        case _:
            return p.AddDelay(source.choice(delays), inner)


@pytest.mark.parametrize("part", range(4))
def test_greatest_run(part: int) -> None:
    """A run with the most retries exists, and none with one more."""
    for number in range(part * 15, part * 15 + 15):
        source = random.Random(number)
        policy, elapsed = tree_of(source, source.randrange(1, 4)), source.choice(tuple(Elapsed))
        most = limits_of(policy, elapsed).retries.at_most
        real = elapsed is Elapsed.REAL
        if most is None or most > MOST:
            assert has_run(policy, MOST, real=real) is True, number
            continue
        assert has_run(policy, most, real=real) is True, number
        assert has_run(policy, most + 1, real=real) is False, number
