"""A policy made ready for many steps: small states, and leaps over stretches in which nothing changes.

States keep only what still matters: an exhausted count box, an expired time box, and the left side of a
sequence that was handed over are forgotten; a leaf counts up to where its delays repeat.

Source: retry 4.2, 5.4, 5.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, assert_never

from policyd.core.retry.domain import Row, Truth
from policyd.core.retry.duration import DMAX_NS, add_durations, power, scale_duration
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
from policyd.core.retry.step import fibonacci_delays, leaf_delay

GIVE_UP, END = -1, -2
"""Verdicts beside delays: a give-up, and an error or an abort, which ends the run wherever it happens."""

Forever = math.inf
Steps = int | float
"""A number of steps, or `Forever`."""

State = Any
"""What a part remembers: None, a counter, or a tuple of what its own parts remember."""

_MAX_TABLE = 4_096


class Part(Protocol):
    """A node of the tree, made ready."""

    start: State

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        """One step: the new state and the verdict."""

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        """For how many steps the verdict, its delay limited to `low`..`high`, stays that of the next; and that one."""

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        """The state after `count` steps, no more than are steady."""


@dataclass(frozen=True, slots=True)
class Tail:
    """From which step on the delays of a leaf repeat, and with which period."""

    start: Steps
    period: int = 1


@lru_cache(maxsize=512)
def tail_of(leaf: Periodic | Exponential | Fibonacci | Immediate) -> Tail:
    """Where the delays of a leaf begin to repeat.

    >>> tail_of(Exponential(10**9, 2.0)), tail_of(Exponential(10**9, -1.0))
    (Tail(start=1024, period=1), Tail(start=0, period=2))

    Source: retry 4.3.
    """
    match leaf:
        case Periodic() | Immediate():
            return Tail(0)
        case Fibonacci(first, second):
            if first == second == 0:
                return Tail(0)
            # The first term may be the largest delay before smaller ones follow.
            return Tail(fibonacci_delays(first, second).index(DMAX_NS, 1))
        case Exponential(base, factor):
            return _exponential_tail(base, factor)
        case _:
            assert_never(leaf)


def _exponential_tail(base: int, factor: float) -> Tail:
    if base == 0 or factor == 1:
        return Tail(0)
    if not math.isfinite(factor) or factor == 0:
        return Tail(1)
    size = abs(factor)
    if size == 1:
        return Tail(0, 2)
    if size > 1:
        return Tail(_least(lambda n: math.isinf(power(size, n))))
    return Tail(_least(lambda n: scale_duration(base, power(size, n)) == 0))


def _least(holds: Any) -> int:
    """The least number from which on `holds` is true; it is false before and true ever after."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


class _LeafPart:
    """A leaf that retries."""

    def __init__(self, leaf: Periodic | Exponential | Fibonacci | Immediate) -> None:
        self.leaf = leaf
        self.start: State = 0
        tail = tail_of(leaf)
        self.tail, self.period = tail.start, tail.period
        self.table: dict[int, int] = {}
        exponent = leaf.factor if isinstance(leaf, Exponential) else 1.0
        # From here on delays only grow until the tail, or only shrink.
        self.grows = exponent > 1 or isinstance(leaf, Fibonacci)
        self.shrinks = 0 < exponent < 1
        self.ends_high = isinstance(leaf, Fibonacci)

    def delay(self, steps: int) -> int:
        known = self.table.get(steps)
        if known is None:
            known = leaf_delay(self.leaf, steps)
            if len(self.table) < _MAX_TABLE:
                self.table[steps] = known
        return known

    def held(self, steps: int) -> int:
        return steps if steps < self.tail else int(self.tail) + (steps - int(self.tail)) % self.period

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        return self.held(state + 1), self.delay(state)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        delay = self.delay(state)
        if low >= high or (state >= self.tail and self.period == 1):
            return Forever, delay
        if self.grows and delay >= high and (state > 0 or not self.ends_high):
            return (Forever if self.ends_high else self.tail - state), delay
        if self.shrinks and delay <= low:
            return Forever, delay
        return 1, delay

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return self.held(state + count)


class _UntimedLeafPart:
    """A leaf that retries, where delays do not matter."""

    start: State = 0

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        return 0, 0

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        return Forever, 0

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return 0


class _NeverPart:
    """A part that always gives up."""

    start: State = None

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        return None, GIVE_UP

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        return Forever, GIVE_UP

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return None


class _CountPart:
    """A count box; None once it is exhausted."""

    def __init__(self, most: int, inner: Part) -> None:
        self.most, self.inner = most, inner
        self.start: State = (0, inner.start) if most else None

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        if state is None:
            return None, GIVE_UP
        count, below = state
        below, verdict = self.inner.step(below, elapsed, row)
        return ((count + 1, below) if count + 1 < self.most else None), verdict

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        if state is None:
            return Forever, GIVE_UP
        count, below = state
        steps, verdict = self.inner.steady(below, elapsed, row, low, high)
        return min(steps, self.most - count), verdict

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        if state is None or state[0] + count >= self.most:
            return None
        return (state[0] + count, self.inner.leap(state[1], elapsed, row, count))


class _TimePart:
    """A time box; None once it is expired."""

    def __init__(self, limit: int, inner: Part) -> None:
        self.limit, self.inner = limit, inner
        self.start: State = inner.start if limit else _EXPIRED

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        if elapsed >= self.limit:
            return _EXPIRED, GIVE_UP
        return self.inner.step(state, elapsed, row)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        if elapsed >= self.limit:
            return Forever, GIVE_UP
        return self.inner.steady(state, elapsed, row, low, high)

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return _EXPIRED if elapsed >= self.limit else self.inner.leap(state, elapsed, row, count)


_EXPIRED = "expired"


class _ClampPart:
    """A clamp; one with its ends the wrong way round aborts the host when a delay comes through."""

    def __init__(self, low: int, high: int, inner: Part) -> None:
        self.low, self.high, self.inner = low, high, inner
        self.start = inner.start

    def shown(self, verdict: int) -> int:
        if verdict < 0:
            return verdict
        return max(self.low, min(self.high, verdict)) if self.low <= self.high else END

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        state, verdict = self.inner.step(state, elapsed, row)
        return state, self.shown(verdict)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        steps, verdict = self.inner.steady(state, elapsed, row, max(low, self.low), min(high, self.high))
        return steps, self.shown(verdict)

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return self.inner.leap(state, elapsed, row, count)


class _AddPart:
    """An added delay."""

    def __init__(self, extra: int, inner: Part) -> None:
        self.extra, self.inner = extra, inner
        self.start = inner.start

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        state, verdict = self.inner.step(state, elapsed, row)
        return state, verdict if verdict < 0 else add_durations(verdict, self.extra)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        below, above = max(0, low - self.extra), max(0, high - self.extra)
        steps, verdict = self.inner.steady(state, elapsed, row, below, above)
        return steps, verdict if verdict < 0 else add_durations(verdict, self.extra)

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return self.inner.leap(state, elapsed, row, count)


class _JitterPart:
    """A jitter at its upper end; at its lower end it is left out."""

    def __init__(self, factor: float, inner: Part) -> None:
        self.factor, self.inner = factor, inner
        self.start = inner.start

    def shown(self, verdict: int) -> int:
        if verdict < 0:
            return verdict
        if math.isinf(self.factor):
            return END
        return add_durations(verdict, scale_duration(verdict, self.factor))

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        state, verdict = self.inner.step(state, elapsed, row)
        return state, self.shown(verdict)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        steps, verdict = self.inner.steady(state, elapsed, row, 0, DMAX_NS)
        return steps, self.shown(verdict)

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return self.inner.leap(state, elapsed, row, count)


class _FilterPart:
    """A filter; the row says what its predicate comes to."""

    def __init__(self, place: int, inner: Part) -> None:
        self.place, self.inner = place, inner
        self.start = inner.start

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        truth = row[self.place]
        if truth is Truth.TRUE:
            return self.inner.step(state, elapsed, row)
        return state, GIVE_UP if truth is Truth.FALSE else END

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        truth = row[self.place]
        if truth is Truth.TRUE:
            return self.inner.steady(state, elapsed, row, low, high)
        return Forever, GIVE_UP if truth is Truth.FALSE else END

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        return self.inner.leap(state, elapsed, row, count) if row[self.place] is Truth.TRUE else state


class _SequencePart:
    """A sequence; its state says on which side it is."""

    def __init__(self, left: Part, right: Part) -> None:
        self.left, self.right = left, right
        self.start: State = (False, left.start)

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        on_right, below = state
        if not on_right:
            below, verdict = self.left.step(below, elapsed, row)
            if verdict != GIVE_UP:
                return (False, below), verdict
            below = self.right.start
        below, verdict = self.right.step(below, elapsed, row)
        return (True, below), verdict

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        on_right, below = state
        if on_right:
            return self.right.steady(below, elapsed, row, low, high)
        steps, verdict = self.left.steady(below, elapsed, row, low, high)
        if verdict != GIVE_UP:
            return steps, verdict
        return 1, self.right.steady(self.right.start, elapsed, row, low, high)[1]

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        on_right, below = state
        return (on_right, (self.right if on_right else self.left).leap(below, elapsed, row, count))


class _PairPart:
    """A union, or with `longer` an intersection."""

    def __init__(self, left: Part, right: Part, *, longer: bool) -> None:
        self.left, self.right, self.longer = left, right, longer
        self.start: State = (left.start, right.start)

    def joined(self, one: int, other: int) -> int:
        if one == END or other == END:
            return END
        if self.longer:
            return max(one, other) if one >= 0 and other >= 0 else GIVE_UP
        if one < 0 or other < 0:
            return max(one, other)
        return min(one, other)

    def step(self, state: State, elapsed: int, row: Row) -> tuple[State, int]:
        first, one = self.left.step(state[0], elapsed, row)
        second, other = self.right.step(state[1], elapsed, row)
        return (first, second), self.joined(one, other)

    def steady(self, state: State, elapsed: int, row: Row, low: int, high: int) -> tuple[Steps, int]:
        steps, one = self.left.steady(state[0], elapsed, row, low, high)
        # Beyond the delay of the left side the right one changes nothing.
        if one >= 0 and self.longer:
            low = max(low, one)
        elif one >= 0:
            high = min(high, one)
        more, other = self.right.steady(state[1], elapsed, row, low, high)
        return min(steps, more), self.joined(one, other)

    def leap(self, state: State, elapsed: int, row: Row, count: int) -> State:
        first = self.left.leap(state[0], elapsed, row, count)
        return (first, self.right.leap(state[1], elapsed, row, count))


@dataclass(frozen=True, slots=True)
class Machine:
    """A policy made ready.

    Attributes:
        root: the root.
        size: the number of its nodes.
        limits: its positive time limits, ascending; empty where the elapsed time is always 0.
    """

    root: Part
    size: int
    limits: tuple[int, ...]

    def next_limit(self, elapsed: int) -> int | None:
        """The smallest time limit above `elapsed`."""
        return next((limit for limit in self.limits if limit > elapsed), None)


def make_ready(policy: Policy, *, real: bool, timed: bool = True, upper: bool = False) -> Machine:
    """Make a policy ready.

    Args:
        policy: the tree.
        real: whether time boxes see the elapsed time; else only a limit of 0 ever gives up.
        timed: whether delays matter; without them fewer states differ.
        upper: whether jitter is at its upper end, else at its lower.
    """
    places = iter(range(1 << 30))
    size = 0
    limits: set[int] = set()

    def part(node: Policy) -> Part:
        nonlocal size
        size += 1
        match node:
            case Periodic() | Exponential() | Fibonacci() | Immediate():
                return _LeafPart(node) if timed else _UntimedLeafPart()
            case Never():
                return _NeverPart()
            case CountBox(most, inner):
                return _CountPart(most, part(inner))
            case TimeBox(limit, inner):
                below = part(inner)
                if real and limit:
                    limits.add(limit)
                return below if limit and not real else _TimePart(limit, below)
            case Clamp(low, high, inner):
                return _ClampPart(low, high, part(inner)) if timed or low > high else part(inner)
            case AddDelay(extra, inner):
                return _AddPart(extra, part(inner)) if timed else part(inner)
            case Jitter(factor, inner):
                active = factor > 0 and (math.isinf(factor) or (upper and timed))
                return _JitterPart(factor, part(inner)) if active else part(inner)
            case FilteredOn(_, inner):
                place = next(places)
                return _FilterPart(place, part(inner))
            case AndThen(left, right):
                first = part(left)
                return _SequencePart(first, part(right))
            case Union(left, right) | Intersect(left, right):
                first = part(left)
                return _PairPart(first, part(right), longer=isinstance(node, Intersect))
            case _:
                assert_never(node)

    root = part(policy)
    return Machine(root, size, tuple(sorted(limits)))
