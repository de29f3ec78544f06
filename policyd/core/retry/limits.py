"""Where a policy ends: its most retries, its longest wait, and how sure that is.

Source: retry 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from policyd.core.retry.bounds import Bounds, Classified, Filter, bounds_of, classify, delay_interval
from policyd.core.retry.domain import Domain, Filters
from policyd.core.retry.explore import Figures, explore
from policyd.core.retry.machine import Forever, Machine, Steps, make_ready
from policyd.core.retry.policy import AndThen, FilteredOn, Jitter, Policy, TimeBox, children, nodes_of
from policyd.core.retry.simulate import STORM_DELAY_NS, Run, simulate

STORM_COUNT = 100
"""So many retries in a row with delays up to `STORM_DELAY_NS` are a storm."""

MAX_ASSIGNMENTS = 64
"""Combinations of stable values that are looked at one by one."""

SMALL_TREE = 48
"""Trees up to this size may take the full effort."""

MANY = 20
"""So many policies of one set may each take the full effort."""


class Elapsed(Enum):
    """What the host gives as the elapsed time."""

    REAL = "real"
    ZERO = "zero"


class LimitClass(Enum):
    """The strongest statement about the end of a policy, the first of the list that is proved.

    Source: retry 5.2, 5.8.
    """

    DEGENERATE = "degenerate"
    ATTEMPT_BOUNDED = "attempt_bounded"
    TIME_BOUNDED = "time_bounded"
    TERMINATING = "terminating"
    UNBOUNDED = "unbounded"
    UNKNOWN = "unknown"


class Cause(Enum):
    """What bounds a policy."""

    COUNT = "count"
    TIME = "time"
    PREDICATE = "predicate"


class Facet(Enum):
    """Whether a policy is bounded, as answers say it."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much work an answer may take, in visits of nodes; past it bounds are given, or nothing.

    Attributes:
        explore: for following all runs.
        simulate: for following one.
    """

    explore: int = 100_000
    simulate: int = 200_000


FULL_EFFORT = Effort()
LARGE_TREE_EFFORT = Effort(explore=6_000, simulate=11_000)
"""Keeps the answer on a tree of 200 nodes within some milliseconds."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A figure: its value, or what encloses it.

    Attributes:
        at_least: a value that is reached, or below which none lies.
        at_most: a value that none exceeds; None for no such value.
        exact: whether `at_most` is the figure itself (None: there is none, however large).
    """

    at_least: int
    at_most: int | None
    exact: bool

    @classmethod
    def known(cls, value: int | None, least: int = 0) -> Amount:
        """An exact figure."""
        return cls(least if value is None else value, value, exact=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a policy ends.

    Attributes:
        limit_class: the strongest statement that is proved.
        causes: what bounds it, sorted; empty where nothing does.
        retries: the most retries of one run.
        min_retries: the fewest of a run that ends; None where not known, or where no run ends.
        some_run_ends: whether some run ends; None where not known.
        always_ends: whether every run ends where time passes; None where not known.
        horizon: the time below which every retry is given.
        delay_low_ns: no delay is smaller; None where there is no retry.
        delay_high_ns: no delay is larger; None where there is no retry.
        total: the largest sum of the delays of one run that ends.
        least_total_ns: the smallest such sum; None where not known.
        storm: whether many retries can follow each other closely.
        elapsed: the elapsed time it was computed for.
    """

    limit_class: LimitClass
    causes: tuple[Cause, ...]
    retries: Amount
    min_retries: int | None
    some_run_ends: bool | None
    always_ends: bool | None
    horizon: Amount
    delay_low_ns: int | None
    delay_high_ns: int | None
    total: Amount
    least_total_ns: int | None
    storm: bool
    elapsed: Elapsed

    @property
    def executions_max(self) -> int | None:
        """The most executions; None for no bound."""
        return None if self.retries.at_most is None else self.retries.at_most + 1

    @property
    def bounded(self) -> Facet:
        """The facet `bounded`.

        Source: retry 5.8; questions 5.
        """
        match self.limit_class:
            case LimitClass.DEGENERATE | LimitClass.ATTEMPT_BOUNDED | LimitClass.TIME_BOUNDED:
                return Facet.YES
            case LimitClass.UNBOUNDED:
                return Facet.NO
            case LimitClass.TERMINATING if self.retries.at_most is not None or self.horizon.at_most is not None:
                return Facet.YES
            case _:
                return Facet.UNKNOWN

    @property
    def is_admissible(self) -> bool:
        """Whether the host's test for sagas lets it through, in the lenient reading.

        Source: retry 5.8.
        """
        return self.limit_class not in (LimitClass.UNBOUNDED, LimitClass.UNKNOWN)

    @property
    def is_strictly_admissible(self) -> bool:
        """Whether the host's test for sagas lets it through in every reading.

        Source: retry 5.8.
        """
        if self.limit_class is LimitClass.DEGENERATE:
            return True
        return self.limit_class is LimitClass.ATTEMPT_BOUNDED and self.causes != (Cause.PREDICATE,)


_RANK = tuple(LimitClass)


def effort_for(policy: Policy, among: int = 1) -> Effort:
    """The work that the limits of one of `among` policies may take; many share what `MANY` may take in all."""
    size = sum(1 for _ in nodes_of(policy))
    effort = FULL_EFFORT if size <= SMALL_TREE else LARGE_TREE_EFFORT
    if among <= MANY:
        return effort
    return Effort(effort.explore * MANY // among, effort.simulate * MANY // among)


def limits_of(policy: Policy, elapsed: Elapsed, domain: Domain | None = None, effort: Effort | None = None) -> Limits:
    """Find out where a policy ends.

    Args:
        policy: the tree.
        elapsed: what the host gives as the elapsed time.
        domain: what its filters see; by default nothing.
        effort: the work allowed; by default by the size of the tree.

    Source: retry 5.
    """
    domain = Domain() if domain is None else domain
    effort = effort_for(policy) if effort is None else effort
    if not domain.stable:
        return _Inquiry(policy, elapsed, Filters.of(policy, domain), effort).limits()
    assigned = domain.assignments(MAX_ASSIGNMENTS)
    if assigned is None:
        found = _Inquiry(policy, elapsed, Filters.of(policy, domain.loosened()), effort).limits()
        return _as_bound(found)
    share = replace(effort, explore=effort.explore // 4, simulate=effort.simulate // 4)
    limits = [_Inquiry(policy, elapsed, Filters.of(policy, d), share).limits() for d in assigned]
    return worst_of(limits)


def _as_bound(limits: Limits) -> Limits:
    """The limits of a wider domain as bounds for a narrower one: nothing is exact, and no run is certain."""
    unbounded = limits.limit_class is LimitClass.UNBOUNDED
    return replace(
        limits,
        limit_class=LimitClass.UNKNOWN if unbounded else limits.limit_class,
        retries=_loose(limits.retries),
        min_retries=None,
        some_run_ends=None,
        always_ends=limits.always_ends or None,
        horizon=_loose(limits.horizon),
        total=_loose(limits.total),
        least_total_ns=None,
    )


def _loose(amount: Amount) -> Amount:
    is_zero = amount.at_most == 0
    return Amount(0, amount.at_most, exact=is_zero)


def worst_of(limits: Sequence[Limits]) -> Limits:
    """The limits that hold for each of several possibilities, one of which is the case."""
    first = limits[0]
    for other in limits[1:]:
        ends = {first.always_ends, other.always_ends}
        runs = {first.some_run_ends, other.some_run_ends}
        lows = [x for x in (first.delay_low_ns, other.delay_low_ns) if x is not None]
        highs = [x for x in (first.delay_high_ns, other.delay_high_ns) if x is not None]
        fewest = [x.min_retries for x in (first, other) if x.some_run_ends is not False]
        totals = (first.least_total_ns, other.least_total_ns)
        first = Limits(
            max(first.limit_class, other.limit_class, key=_RANK.index),
            tuple(sorted({*first.causes, *other.causes}, key=lambda c: c.value)),
            _larger(first.retries, other.retries),
            None if not fewest or None in fewest else min(x for x in fewest if x is not None),
            True if True in runs else None if None in runs else False,
            False if False in ends else None if None in ends else True,
            _larger(first.horizon, other.horizon),
            min(lows, default=None),
            max(highs, default=None),
            _larger(first.total, other.total),
            None if None in totals else min(t for t in totals if t is not None),
            first.storm or other.storm,
            first.elapsed,
        )
    return first


def _larger(one: Amount, other: Amount) -> Amount:
    """The larger of two figures, as far as they are known."""
    at_least = max(one.at_least, other.at_least)
    if one.at_most is None or other.at_most is None:
        sure = any(a.at_most is None and a.exact for a in (one, other))
        return Amount(at_least, None, exact=sure)
    at_most = max(one.at_most, other.at_most)
    return Amount(at_least, at_most, exact=any(a.exact and a.at_most == at_most for a in (one, other)))


def _number(steps: Steps) -> int | None:
    return None if steps == Forever else int(steps)


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """One question about one policy, with one domain that leaves nothing stable but unknown."""

    policy: Policy
    elapsed: Elapsed
    filters: Filters
    effort: Effort

    @property
    def real(self) -> bool:
        return self.elapsed is Elapsed.REAL

    @property
    def is_jittered(self) -> bool:
        return any(isinstance(n, Jitter) for n in nodes_of(self.policy))

    def limits(self) -> Limits:
        classes = classify(self.filters)
        bounds = bounds_of(self.policy, classes, real=self.real)
        machine = make_ready(self.policy, real=self.real)
        forced = self.filters.is_forced
        run = simulate(machine, self.filters, self.effort.simulate) if forced else None
        figures = self._figures(machine, run)
        return self._assembled(classes, bounds, machine, run, figures)

    def _figures(self, machine: Machine, run: Run | None) -> Figures | None:
        """The exact figures, where they can be had: from the only run, or from all of them."""
        if run is not None and run.is_known and not machine.limits:
            return self._figures_of_only_run(run)
        if not self.filters.is_tractable or not self.filters.is_exact:
            return None
        if machine.limits:
            figures = explore(machine, self.filters, self.effort.explore)
            if figures is None or figures.max_retries is None:
                return figures
            return replace(figures, least_total_ns=None, most_total_ns=None) if self.is_jittered else figures
        untimed = make_ready(self.policy, real=self.real, timed=False)
        figures = explore(untimed, self.filters, self.effort.explore)
        if figures is None or figures.max_retries is None:
            return figures
        lower = explore(machine, self.filters, self.effort.explore)
        upper = explore(self._upper(), self.filters, self.effort.explore) if self.is_jittered else lower
        return replace(
            figures,
            least_total_ns=lower.least_total_ns if lower else None,
            most_total_ns=upper.most_total_ns if upper else None,
        )

    def _upper(self) -> Machine:
        return make_ready(self.policy, real=self.real, upper=True)

    def _figures_of_only_run(self, run: Run) -> Figures:
        horizon = None if run.retries or not run.ends else 0
        if not run.ends:
            return Figures(None, None, False, horizon, None, None)
        upper = simulate(self._upper(), self.filters, self.effort.simulate)
        most = upper.total_ns if upper.ends else None
        return Figures(run.retries, run.retries, True, horizon, run.total_ns, most)

    def _assembled(
        self,
        classes: tuple[Classified, ...],
        bounds: Bounds,
        machine: Machine,
        run: Run | None,
        figures: Figures | None,
    ) -> Limits:
        retries = self._retries(classes, bounds, run, figures)
        always_ends = figures.always_ends if figures else self._always_ends(bounds, machine, run)
        horizon = self._horizon(bounds, retries, figures)
        limit_class = self._class(bounds, retries, horizon, always_ends)
        # A run retries at every step but its last, so that it makes no more steps than it may retry.
        reach = bounds.reach if retries.at_most is None else min(bounds.reach, retries.at_most)
        interval = delay_interval(self.policy, reach) if retries.at_most != 0 else None
        low, high = (interval.low, interval.high) if interval and interval.low is not None else (None, None)
        return Limits(
            limit_class,
            self._causes(classes, limit_class),
            retries,
            figures.min_retries if figures else None,
            figures.min_retries is not None if figures else None,
            always_ends,
            horizon,
            low,
            high if low is not None else None,
            self._total(retries, horizon, high, run, figures),
            figures.least_total_ns if figures else None,
            self._storm(retries, low, run),
            self.elapsed,
        )

    def _retries(
        self, classes: tuple[Classified, ...], bounds: Bounds, run: Run | None, figures: Figures | None
    ) -> Amount:
        if figures is not None:
            return Amount.known(figures.max_retries, run.retries if run else 0)
        at_most = _number(bounds.first_most)
        seen = run.retries if run else 0
        if run is not None and run.is_known and self._run_is_longest(classes):
            return Amount.known(run.retries if run.ends else None, seen)
        return Amount(seen, at_most, exact=at_most is not None and seen == at_most)

    def _run_is_longest(self, classes: tuple[Classified, ...]) -> bool:
        """Whether no run has more retries than the one without further time.

        Source: retry 5.6.
        """
        if not self.real:
            return True
        # INVARIANT: this walk meets the filters in the order of `nodes_of`, which is that of the classes.
        known = iter(classes)
        stack: list[tuple[Policy, bool, bool]] = [(self.policy, False, False)]
        while stack:
            node, left, boxed = stack.pop()
            match node:
                case TimeBox(limit, inner):
                    if left and limit:
                        return False
                    stack.append((inner, left, boxed or limit > 0))
                case FilteredOn(_, inner):
                    if next(known).may_fail and boxed:
                        return False
                    stack.append((inner, left, boxed))
                case AndThen(first, second):
                    stack += ((second, left, boxed), (first, True, boxed))
                case _:
                    stack += ((child, left, boxed) for child in reversed(children(node)))
        return True

    def _always_ends(self, bounds: Bounds, machine: Machine, run: Run | None) -> bool | None:
        if bounds.gives_up:
            return True
        if run is not None and run.repeats_ns is not None and (run.expired or run.repeats_ns):
            return False
        if machine.limits and run is not None:
            late = simulate(machine, self.filters, self.effort.simulate, machine.limits[-1])
            if late.repeats_ns is not None:
                return False
        return None

    def _horizon(self, bounds: Bounds, retries: Amount, figures: Figures | None) -> Amount:
        if retries.at_most == 0:
            return Amount.known(0)
        if figures is not None:
            return Amount.known(figures.horizon_ns)
        return Amount(0, _number(bounds.horizon) if self.real else None, exact=False)

    def _class(self, bounds: Bounds, retries: Amount, horizon: Amount, always_ends: bool | None) -> LimitClass:
        if retries.at_most == 0:
            return LimitClass.DEGENERATE
        if retries.at_most is not None:
            return LimitClass.ATTEMPT_BOUNDED
        if self.real and horizon.at_most is not None:
            return LimitClass.TIME_BOUNDED
        if bounds.gives_up or always_ends:
            return LimitClass.TERMINATING
        return LimitClass.UNBOUNDED if always_ends is False else LimitClass.UNKNOWN

    def _causes(self, classes: tuple[Classified, ...], limit_class: LimitClass) -> tuple[Cause, ...]:
        """What bounds the policy: each cause that suffices alone, else each without which it is not bounded."""
        if limit_class in (LimitClass.UNBOUNDED, LimitClass.UNKNOWN):
            return ()
        opened = tuple(Classified(Filter.FREE, c.may_fail) for c in classes)
        alone = (
            (Cause.COUNT, self._ends(opened, counts=True, times=False)),
            (Cause.TIME, self._ends(opened, counts=False, times=True)),
            (Cause.PREDICATE, self._ends(classes, counts=False, times=False)),
        )
        causes = tuple(cause for cause, suffices in alone if suffices)
        if causes:
            return causes
        needed = (
            (Cause.COUNT, self._ends(classes, counts=False, times=True)),
            (Cause.TIME, self._ends(classes, counts=True, times=False)),
            (Cause.PREDICATE, self._ends(opened, counts=True, times=True)),
        )
        causes = tuple(cause for cause, spared in needed if not spared)
        return causes or (Cause.PREDICATE,)

    def _ends(self, classes: tuple[Classified, ...], *, counts: bool, times: bool) -> bool:
        bounds = bounds_of(self.policy, classes, real=self.real, counts=counts, times=times)
        return bounds.gives_up or bounds.first_most != Forever or bounds.horizon != Forever

    def _total(
        self, retries: Amount, horizon: Amount, high: int | None, run: Run | None, figures: Figures | None
    ) -> Amount:
        if figures is not None and figures.most_total_ns is not None:
            return Amount.known(figures.most_total_ns)
        if retries.at_most is None and retries.exact:
            endless = self.elapsed is Elapsed.ZERO or horizon.at_most is None
            return Amount(run.total_ns if run else 0, None, exact=endless)
        at_most: list[int] = []
        if retries.at_most is not None:
            at_most.append(retries.at_most * (high or 0))
        if self.real and horizon.at_most is not None:
            at_most.append(horizon.at_most + (high or 0))
        return Amount(run.total_ns if run and run.ends else 0, min(at_most, default=None), exact=False)

    def _storm(self, retries: Amount, low: int | None, run: Run | None) -> bool:
        """Whether many retries can follow each other closely.

        Source: retry 8.4 F10.
        """
        if low is None or low > STORM_DELAY_NS:
            return False
        if run is not None and run.is_known:
            return run.streak >= STORM_COUNT
        return retries.at_most is None or retries.at_most >= STORM_COUNT
