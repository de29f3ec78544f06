"""Policies with other predicates in their filters, everything else the same.

Source: retry 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import assert_never

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
from policyd.core.retry.predicate import Predicate


def with_predicates(policy: Policy, predicates: Sequence[Predicate]) -> Policy:
    """The policy with the predicates of its filters replaced, in the order of `nodes_of`."""
    given: Iterator[Predicate] = iter(predicates)
    return _rewritten(policy, lambda _: next(given))


def _rewritten(policy: Policy, predicate: Callable[[Predicate], Predicate]) -> Policy:
    match policy:
        case FilteredOn(old, inner):
            new = predicate(old)
            return FilteredOn(new, _rewritten(inner, predicate))
        case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter():
            return replace(policy, inner=_rewritten(policy.inner, predicate))
        case AndThen(left, right) | Union(left, right) | Intersect(left, right):
            first = _rewritten(left, predicate)
            return replace(policy, left=first, right=_rewritten(right, predicate))
        case Periodic() | Exponential() | Fibonacci() | Immediate() | Never():
            return policy
        case _:
            assert_never(policy)
