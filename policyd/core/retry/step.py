"""One decision of a policy: its new state and its verdict.

Source: retry 4.2, 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from policyd.core.retry.duration import DMAX_NS, U32_MAX, add_durations, power, scale_duration
from policyd.core.retry.errors import Label
from policyd.core.retry.evaluate import evaluate_strict
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
from policyd.core.retry.state import (
    Counted,
    Counter,
    Paired,
    Sequenced,
    State,
    Terminal,
    Wrapped,
    initial_state,
)
from policyd.core.retry.value import Bag, EvaluationError, InvalidState

FIBONACCI_CONSTANT = 145
"""Past this many terms every sequence of `fibonacci` is at its largest delay, or constantly zero."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again after `delay_ns`."""

    delay_ns: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Do not try again."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The decision itself failed."""

    error: EvaluationError


@dataclass(frozen=True, slots=True)
class Aborts:
    """The platform's own code aborts at this decision, because of `label`."""

    label: Label


Verdict = Retry | GiveUp | Failed | Aborts
Draw = Callable[[float], float]
"""Gives, for a jitter factor f > 0, the part of the delay to add: at least 0, below f."""

GIVE_UP = GiveUp()
_INVALID = Failed(InvalidState())


class _HostAbortError(Exception):
    """Carries the reason for which the platform's code would abort."""

    def __init__(self, label: Label) -> None:
        super().__init__(label.text)
        self.label = label


def lower_end(_factor: float) -> float:
    """The draw that adds nothing: the lower end of every delay."""
    return 0.0


def upper_end(factor: float) -> float:
    """The draw at the upper end, which no real draw reaches."""
    return factor


def fraction_of(part: float) -> Draw:
    """The draw that takes the same part (0 to below 1) of every factor."""
    return lambda factor: part * factor


def step(policy: Policy, state: State, elapsed_ns: int, bag: Bag, draw: Draw = lower_end) -> tuple[State, Verdict]:
    """Make one decision.

    Where the state does not fit, the verdict is an error and the new state is the initial one of
    the node that did not fit. Where the platform would abort, the state is given back unchanged.

    Args:
        policy: the tree.
        state: what the last decision left, or `initial_state(policy)`.
        elapsed_ns: the time given to the decision; 0 always, under switch `elapsed=zero`.
        bag: what the filters see.
        draw: the randomness.

    Source: retry 4.2.
    """
    try:
        return _step(policy, state, elapsed_ns, bag, draw)
    except _HostAbortError as abort:
        return state, Aborts(abort.label)


def _step(policy: Policy, state: State, elapsed: int, bag: Bag, draw: Draw) -> tuple[State, Verdict]:
    match policy, state:
        case ((Periodic() | Exponential() | Fibonacci() | Immediate()), Counter(steps)):
            return Counter(min(steps + 1, U32_MAX)), Retry(leaf_delay(policy, steps))
        case Never(), Terminal():
            return state, GIVE_UP
        case CountBox(most, inner), Counted(attempts, below):
            if attempts >= most:
                return state, GIVE_UP
            after, verdict = _step(inner, below, elapsed, bag, draw)
            return Counted(min(attempts + 1, U32_MAX), after), verdict
        case TimeBox(limit, inner), Wrapped(below):
            if elapsed >= limit:
                return state, GIVE_UP
            after, verdict = _step(inner, below, elapsed, bag, draw)
            return Wrapped(after), verdict
        case ((Clamp() | AddDelay() | Jitter()), Wrapped(below)):
            after, verdict = _step(policy.inner, below, elapsed, bag, draw)
            if isinstance(verdict, Retry):
                verdict = Retry(wrapped_delay(policy, verdict.delay_ns, draw))
            return Wrapped(after), verdict
        case FilteredOn(predicate, inner), Wrapped(below):
            outcome = evaluate_strict(predicate, bag)
            if outcome is True:
                after, verdict = _step(inner, below, elapsed, bag, draw)
                return Wrapped(after), verdict
            return state, GIVE_UP if outcome is False else Failed(outcome)
        case AndThen(left, right), Sequenced(first, second, on_right):
            if not on_right:
                first, verdict = _step(left, first, elapsed, bag, draw)
                if not isinstance(verdict, GiveUp):
                    return Sequenced(first, second, False), verdict
            second, verdict = _step(right, second, elapsed, bag, draw)
            return Sequenced(first, second, True), verdict
        case ((Union() | Intersect()), Paired(first, second)):
            first, one = _step(policy.left, first, elapsed, bag, draw)
            second, other = _step(policy.right, second, elapsed, bag, draw)
            return Paired(first, second), _joined(policy, one, other)
        case _:
            return initial_state(policy), _INVALID


def _joined(policy: Union | Intersect, one: Verdict, other: Verdict) -> Verdict:
    """The verdict of a pair: an error of the left side first, then one of the right."""
    if isinstance(one, Failed | Aborts):
        return one
    if isinstance(other, Failed | Aborts):
        return other
    if isinstance(one, Retry) and isinstance(other, Retry):
        pick = min if isinstance(policy, Union) else max
        return Retry(pick(one.delay_ns, other.delay_ns))
    if isinstance(policy, Union):
        return other if isinstance(one, GiveUp) else one
    return GIVE_UP


def leaf_delay(leaf: Periodic | Exponential | Fibonacci | Immediate, steps: int) -> int:
    """The delay of a leaf that has made `steps` steps before.

    Source: retry 4.2, 4.3.
    """
    match leaf:
        case Periodic(delay):
            return delay
        case Immediate():
            return 0
        case Exponential(base, factor):
            return scale_duration(base, power(factor, steps))
        case Fibonacci(first, second):
            return fibonacci_delays(first, second)[min(steps, FIBONACCI_CONSTANT)]
        case _:
            assert_never(leaf)


@lru_cache(maxsize=512)
def fibonacci_delays(first: int, second: int) -> tuple[int, ...]:
    """The delays of `fibonacci` up to where they no longer change.

    Source: retry 4.2.
    """
    delays = [first, second]
    while len(delays) <= FIBONACCI_CONSTANT:
        delays.append(add_durations(delays[-2], delays[-1]))
    return tuple(delays)


def wrapped_delay(wrapper: Clamp | AddDelay | Jitter, delay: int, draw: Draw) -> int:
    """The delay that a wrapper makes of the inner one."""
    match wrapper:
        case Clamp(low, high, _):
            if low > high:
                raise _HostAbortError(Label.CLAMP_RANGE)
            return max(low, min(high, delay))
        case AddDelay(extra, _):
            return add_durations(delay, extra)
        case Jitter(factor, _):
            if not factor > 0:
                return delay
            if math.isinf(factor):
                raise _HostAbortError(Label.FACTOR_NOT_FINITE)
            return min(DMAX_NS, delay + scale_duration(delay, draw(factor)))
        case _:
            assert_never(wrapper)
