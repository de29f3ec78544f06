"""Bounds of a policy by structure: sound for every run, whether or not the runs can be followed.

Source: retry 5.4, 5.5, 5.7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from policyd.core.retry.domain import Filters, Truth
from policyd.core.retry.duration import add_durations, scale_duration
from policyd.core.retry.machine import Forever, Steps, tail_of
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
    nodes_of,
)
from policyd.core.retry.step import FIBONACCI_CONSTANT, leaf_delay

_PREFIXES = (1, 2, 4, 8, 16, 64, 256, 1024, 2**20)
_FEW_PREFIXES = (1, 8, 256)
_LARGE = 100
"""Trees of more nodes are looked at over fewer prefixes, which loosens bounds and saves time."""


class Filter(Enum):
    """How a filter behaves over one sequence."""

    BROKEN = "always an error"
    UNSAT = "never true"
    TAUT = "always true"
    ENDS = "known by the attempt, false in the end"
    GAPS = "known by the attempt, false at some attempt"
    SCHEDULE = "known by the attempt"
    FREE = "anything"


@dataclass(frozen=True, slots=True)
class Classified:
    """A filter with what is known of it."""

    kind: Filter
    may_fail: bool


def classify(filters: Filters) -> tuple[Classified, ...]:
    """The class of every filter, in order.

    Source: retry 5.3.
    """
    samples = filters.samples()
    if samples is None or not filters.is_tractable:
        return tuple(Classified(Filter.FREE, may_fail=True) for _ in filters.predicates)
    table = [filters.rows(k) for k in samples]
    return tuple(
        _class_of([{row[place] for row in rows} for rows in table]) for place in range(len(filters.predicates))
    )


def _class_of(outcomes: list[set[Truth]]) -> Classified:
    """The class of a filter from what it may come to at each sampled decision, the last for ever."""
    ever = set().union(*outcomes)
    may_fail = Truth.ERROR in ever
    if ever == {Truth.ERROR}:
        kind = Filter.BROKEN
    elif Truth.TRUE not in ever:
        kind = Filter.UNSAT
    elif ever == {Truth.TRUE}:
        kind = Filter.TAUT
    elif any(len(seen) > 1 for seen in outcomes):
        kind = Filter.FREE
    elif outcomes[-1] != {Truth.TRUE}:
        kind = Filter.ENDS
    elif any(seen != {Truth.TRUE} for seen in outcomes):
        kind = Filter.GAPS
    else:
        kind = Filter.SCHEDULE
    return Classified(kind, may_fail)


@dataclass(frozen=True, slots=True)
class Interval:
    """The delays that a node may return; empty where `low` is None."""

    low: int | None
    high: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether no delay is returned at all."""
        return self.low is None


_EMPTY = Interval(None)


def delay_interval(node: Policy, steps: Steps) -> Interval:
    """The delays of a node over its first `steps` steps, jitter included.

    Source: retry 5.5.
    """
    if steps <= 0:
        return _EMPTY
    match node:
        case Never():
            return _EMPTY
        case Immediate():
            return Interval(0, 0)
        case Periodic(delay):
            return Interval(delay, delay)
        case Exponential():
            return _exponential_interval(node, steps)
        case Fibonacci(first, second):
            if steps == 1:
                return Interval(first, first)
            high = leaf_delay(node, int(min(steps - 1, FIBONACCI_CONSTANT)))
            return Interval(min(first, second), max(first, second, high))
        case CountBox(most, inner):
            return delay_interval(inner, min(steps, most))
        case TimeBox(limit, inner):
            return delay_interval(inner, steps) if limit else _EMPTY
        case FilteredOn(_, inner):
            return delay_interval(inner, steps)
        case Clamp(low, high, inner):
            below = delay_interval(inner, steps)
            if below.low is None or low > high:
                return _EMPTY
            return Interval(max(low, min(high, below.low)), max(low, min(high, below.high)))
        case AddDelay(extra, inner):
            below = delay_interval(inner, steps)
            if below.low is None:
                return below
            return Interval(add_durations(below.low, extra), add_durations(below.high, extra))
        case Jitter(factor, inner):
            below = delay_interval(inner, steps)
            if below.low is None or not 0 < factor < math.inf:
                return below
            return Interval(below.low, add_durations(below.high, scale_duration(below.high, factor)))
        case AndThen(left, right) | Union(left, right):
            one, other = delay_interval(left, steps), delay_interval(right, steps)
            if one.low is None or other.low is None:
                return other if one.low is None else one
            return Interval(min(one.low, other.low), max(one.high, other.high))
        case Intersect(left, right):
            one, other = delay_interval(left, steps), delay_interval(right, steps)
            if one.low is None or other.low is None:
                return _EMPTY
            return Interval(max(one.low, other.low), max(one.high, other.high))
        case _:
            assert_never(node)


def _exponential_interval(leaf: Exponential, steps: Steps) -> Interval:
    tail = tail_of(leaf)
    first = leaf_delay(leaf, 0)
    if leaf.factor > 1 and math.isfinite(leaf.factor):
        last = leaf_delay(leaf, int(min(steps, tail.start)) - 1) if tail.start else first
        return Interval(0 if steps > tail.start else first, max(first, last))
    if 0 < leaf.factor <= 1:
        last = leaf_delay(leaf, int(min(steps - 1, tail.start)))
        return Interval(last, first)
    if leaf.factor < -1 and math.isfinite(leaf.factor):
        even = int(min(steps, tail.start)) - 1
        last = max(leaf_delay(leaf, max(even - 1, 0)), leaf_delay(leaf, even))
        return Interval(0 if steps > 1 else first, max(first, last))
    return Interval(0 if steps > 1 else first, first)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds for every run of a node, as its structure shows.

    Attributes:
        failing: whether its first step surely fails.
        ends: whether it retries only finitely often where time passes (E).
        gives_up: whether it comes to a give-up or an error where time passes (G); None where undecided.
        most: the most retries over any number of steps (V).
        reach: the last step at which it can retry (H).
        first_most: the most retries before its first give-up or error (N).
        horizon: retries come only below this time (T).
    """

    failing: bool
    ends: bool
    gives_up: bool
    most: Steps
    reach: Steps
    first_most: Steps
    horizon: Steps


_NOTHING = Bounds(False, True, True, 0, 0, 0, 0)
_FAILING = Bounds(True, True, True, 0, 0, 0, 0)
_OPEN = Bounds(False, False, False, Forever, Forever, Forever, Forever)


class _Analysis:
    """One analysis of a tree; with `counts` or `times` False those boxes are taken for open.

    Then nothing is made of the smallest delays, which the open boxes would change.
    """

    def __init__(self, root: Policy, classes: tuple[Classified, ...], *, real: bool, counts: bool, times: bool) -> None:
        self.root, self.real, self.counts, self.times = root, real, counts, times
        self.whole = counts and times
        self.classes = iter(classes)
        self._least: list[tuple[Steps, int]] | None = None

    def least_delays(self) -> list[tuple[Steps, int]]:
        """Pairs of a number of steps and the smallest delay of the root within them, where it is above 0."""
        if self._least is None:
            self._least = _least_delays(self.root, 0)
        return self._least

    def clipped(self, b: Bounds) -> Bounds:
        """The bounds with the horizon taken into account."""
        if not self.real or b.failing or b.horizon == Forever:
            return b
        if b.horizon == 0:
            return Bounds(b.failing, b.ends, b.gives_up, 0, 0, 0, 0)
        if not self.whole:
            return b
        most = _within(self.least_delays(), b.horizon)
        return Bounds(
            b.failing, b.ends, b.gives_up, min(b.most, most), min(b.reach, most), min(b.first_most, most), b.horizon
        )

    def of_root(self) -> Bounds:
        """The bounds of the tree."""
        return self.clipped(self._of(self.root, False, True))

    def _of(self, node: Policy, late: bool, plain: bool) -> Bounds:
        """The bounds of a node before clipping.

        One call for each level of the tree, so that the deepest tree is far from exhausting the stack.

        Args:
            node: the node.
            late: whether it is first stepped after the first decision.
            plain: whether its delays reach the root undiminished.
        """
        match node:
            case Periodic() | Exponential() | Fibonacci() | Immediate():
                return _OPEN
            case Never():
                return _NOTHING
            case CountBox(most, inner):
                b = self.clipped(self._of(inner, late, plain))
                if not self.counts:
                    return b
                if most == 0:
                    return _NOTHING
                if b.failing:
                    return _FAILING
                return Bounds(
                    False, True, True, min(most, b.most), min(most, b.reach), min(most, b.first_most), b.horizon
                )
            case TimeBox(limit, inner):
                b = self.clipped(self._of(inner, late, plain))
                if limit == 0:
                    return _NOTHING if self.times else b
                if not self.real or not self.times:
                    return b
                # An error inside may be spared by the expiry, so that it is not certain.
                boxed = Bounds(False, True, True, b.most, b.reach, b.first_most, min(limit, b.horizon))
                return _NOTHING if b.failing else boxed
            case Clamp(low, high, inner):
                b = self.clipped(self._of(inner, late, False))
                return b if low <= high or b.failing else _NOTHING
            case AddDelay(_, inner) | Jitter(_, inner):
                return self.clipped(self._of(inner, late, plain))
            case FilteredOn(_, inner):
                known = next(self.classes)
                return self._filtered(known, self.clipped(self._of(inner, late, plain)), late)
            case AndThen(left, right):
                one = self.clipped(self._of(left, late, plain))
                two = self.clipped(self._of(right, late or one.first_most > 0, plain))
                if one.failing:
                    return _FAILING
                n = one.first_most
                return Bounds(
                    False, one.gives_up and two.ends, one.gives_up and two.gives_up, n + two.most, n + two.reach,
                    n + two.first_most, max(one.horizon, two.horizon),
                )  # fmt: skip
            case Union(left, right):
                one = self.clipped(self._of(left, late, False))
                two = self.clipped(self._of(right, late, False))
                if one.failing or two.failing:
                    return _FAILING
                return self._union(node, one, two, plain)
            case Intersect(left, right):
                one, two = self.clipped(self._of(left, late, plain)), self.clipped(self._of(right, late, plain))
                if one.failing or two.failing:
                    return _FAILING
                return Bounds(
                    False, one.ends or two.ends, one.gives_up or two.gives_up, min(one.most, two.most),
                    min(one.reach, two.reach), min(one.first_most, two.first_most), min(one.horizon, two.horizon),
                )  # fmt: skip
            case _:
                assert_never(node)

    def _filtered(self, known: Classified, b: Bounds, late: bool) -> Bounds:
        match known.kind:
            case Filter.BROKEN:
                return _FAILING
            case Filter.UNSAT:
                return _NOTHING
            case Filter.TAUT:
                return b
            case _:
                pass
        if b.most == 0:
            return Bounds(False, b.ends, b.gives_up, 0, 0, 0, 0)
        ends = b.ends or known.kind is Filter.ENDS
        gives_up = b.gives_up or known.kind is Filter.ENDS or (known.kind is Filter.GAPS and not late)
        return Bounds(False, ends, gives_up, b.most, Forever, b.first_most, b.horizon)

    def _union(self, node: Union, one: Bounds, two: Bounds, plain: bool) -> Bounds:
        reach = max(one.reach, two.reach)
        most = min(one.most + two.most, reach)
        if most == Forever and self.real and plain and self.whole:
            most = min(_mixed(one, node.right, two), _mixed(two, node.left, one))
        done = one.ends and two.ends
        return Bounds(False, done, done, most, reach, most, max(one.horizon, two.horizon))


def _mixed(counted: Bounds, timed: Policy, time: Bounds) -> Steps:
    """The refined bound of a union of one side that ends by count and one that ends by time.

    Source: retry 5.5.
    """
    if counted.reach == Forever or not 0 < time.horizon < Forever:
        return Forever
    return counted.reach + _within(_least_delays(timed, counted.reach), time.horizon)


def _least_delays(node: Policy, offset: Steps) -> list[tuple[Steps, int]]:
    found: list[tuple[Steps, int]] = []
    is_large = sum(1 for _ in nodes_of(node)) > _LARGE
    for steps in (*(_FEW_PREFIXES if is_large else _PREFIXES), Forever):
        low = delay_interval(node, offset + steps).low
        if low is not None and low > 0:
            found.append((steps, low))
    return found


def _within(least: list[tuple[Steps, int]], horizon: Steps) -> Steps:
    """The most decisions before `horizon`, no two nearer than the smallest delays allow."""
    best: Steps = Forever
    for steps, low in least:
        count = -(-int(horizon) // low)
        if count <= steps:
            best = min(best, count)
    return best


def bounds_of(
    policy: Policy, classes: tuple[Classified, ...], *, real: bool, counts: bool = True, times: bool = True
) -> Bounds:
    """The bounds of a policy.

    Args:
        policy: the tree.
        classes: its filters, as `classify` gives them.
        real: whether time boxes see the elapsed time.
        counts: False takes every count box for open.
        times: False takes every time box for open.
    """
    return _Analysis(policy, classes, real=real, counts=counts, times=times).of_root()
