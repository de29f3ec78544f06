"""Parts of a retry policy that never matter, wherever the policy is selected.

Source: retry 8.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policyd.analysis.retry_view import RetryView
from policyd.core.retry import NamedPolicy, Policy
from policyd.core.retry.bounds import Classified, Filter, bounds_of, delay_interval
from policyd.core.retry.duration import duration_text
from policyd.core.retry.machine import Forever
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
    TimeBox,
    Union,
    nodes_of,
)

MAX_EXACT_BASE_NS = 2**51
"""Up to this base a factor of 1 changes nothing; above, the way through binary numbers may shift some nanoseconds."""


def idle_parts(view: RetryView, policy: NamedPolicy) -> Iterator[str]:
    """What never matters in the policy, each part in words; nothing where the policy matches nowhere."""
    classes = filter_classes(view, policy)
    if classes is not None:
        yield from dict.fromkeys(_Walk(view.counts_time).parts(policy.policy, classes))


def filter_classes(view: RetryView, policy: NamedPolicy) -> tuple[Classified, ...] | None:
    """What each filter of the policy comes to where the selector holds; None where it holds nowhere.

    Source: retry 5.3.
    """
    matching = list(view.matching(policy))
    if not matching:
        return None
    found = []
    for node in nodes_of(policy.policy):
        if not isinstance(node, FilteredOn):
            continue
        true = false = fails = False
        for site, judged in matching:
            space = view.study.space(site)
            outcomes = space.strict(node.predicate)
            selected = judged.match | (space.strict(policy.selector).true if not judged.match else 0)
            true |= bool(outcomes.true & selected)
            false |= bool(outcomes.false & selected)
            fails |= bool(outcomes.fails & selected)
        found.append(Classified(_kind(true, false, fails), fails))
    return tuple(found)


def _kind(true: bool, false: bool, fails: bool) -> Filter:
    if not true and not false:
        return Filter.BROKEN
    if not true:
        return Filter.UNSAT
    return Filter.FREE if false or fails else Filter.TAUT


@dataclass(frozen=True, slots=True)
class _Part:
    """A node with the classes of the filters in and below it."""

    node: Policy
    classes: tuple[Classified, ...]

    @property
    def may_fail(self) -> bool:
        """Whether a predicate in it can report an error, or a clamp aborts the host."""
        aborts = any(isinstance(n, Clamp) and n.low_ns > n.high_ns for n in nodes_of(self.node))
        return aborts or any(c.may_fail for c in self.classes)


class _Walk:
    """One look at a policy."""

    def __init__(self, real: bool) -> None:
        self.real = real

    def parts(self, root: Policy, classes: Sequence[Classified]) -> Iterator[str]:
        stack = [_Part(root, tuple(classes))]
        while stack:
            part = stack.pop()
            yield from self._of(part)
            stack.extend(reversed(_below(part)))

    def most(self, part: _Part) -> float:
        """The most retries over any number of steps."""
        return bounds_of(part.node, part.classes, real=self.real).most

    def gives_up(self, part: _Part) -> bool:
        """Whether some run of it has a give-up.

        Source: retry 8.5, CanGiveUp.
        """
        below = _below(part)
        match part.node:
            case Never() | CountBox():
                return True
            case Periodic() | Exponential() | Fibonacci() | Immediate():
                return False
            case TimeBox(limit, _):
                return limit == 0 or self.real or self.gives_up(below[0])
            case Clamp() | AddDelay() | Jitter():
                return self.gives_up(below[0])
            case FilteredOn():
                kind = part.classes[0].kind
                if kind is Filter.BROKEN:
                    return False
                return kind is not Filter.TAUT or self.gives_up(below[0])
            case AndThen() | Union():
                return all(map(self.gives_up, below))
            case Intersect():
                return any(map(self.gives_up, below))

    def always_retries(self, part: _Part) -> bool:
        return not self.gives_up(part) and not part.may_fail

    def _of(self, part: _Part) -> Iterator[str]:
        below = _below(part)
        match part.node:
            case FilteredOn():
                kind = part.classes[0].kind
                if kind in (Filter.UNSAT, Filter.BROKEN):
                    yield "what `filteredOn` guards is never reached: its predicate holds nowhere"
                elif kind is Filter.TAUT:
                    yield "`filteredOn` changes nothing: its predicate holds wherever the policy is selected"
            case AndThen(Never(), _):
                yield "the first part of `andThen` is `never`, so that only the second counts"
            case AndThen():
                if not self.gives_up(below[0]):
                    yield "the second part of `andThen` is never reached: the first never gives up"
            case Union():
                yield from self._pair(below, longer=False)
            case Intersect():
                yield from self._pair(below, longer=True)
            case CountBox(most, _) if most:
                yield from _nested_counts(part.node)
            case TimeBox(limit, _) if limit:
                yield from self._nested_times(part)
            case Clamp(low, high, inner) if low <= high:
                yield from _clamped(low, high, inner)
            case Jitter(factor, inner):
                yield from _jittered(factor, inner)
            case AddDelay(0, _):
                yield "`addDelay` adds nothing"
            case Exponential(base, factor) if factor == 1.0 and base <= MAX_EXACT_BASE_NS:
                yield f"`exponential` with factor 1 is `periodic` of `{duration_text(base)}`"
            case _:
                pass

    def _pair(self, below: list[_Part], *, longer: bool) -> Iterator[str]:
        name = "intersect" if longer else "union"
        one, other = below
        if longer and (self.most(one) == 0 or self.most(other) == 0):
            # A literal `never` beside it is told as a policy without a retry.
            if not one.may_fail and not other.may_fail and not any(isinstance(p.node, Never) for p in below):
                yield "`intersect` never retries: one of its parts never does"
            return
        for words, part, beside in (("second", other, one), ("first", one, other)):
            if part.may_fail:
                continue
            mine, its = delay_interval(part.node, Forever), delay_interval(beside.node, Forever)
            if not longer and self.most(part) == 0:
                yield f"the {words} part of `{name}` never retries, so that only the other counts"
                return
            if mine.low is None or its.low is None:
                continue
            if longer and self.always_retries(part) and mine.high <= its.low:
                yield f"the {words} part of `{name}` never matters: its waits are never the longer ones"
                return
            if not longer and not self.gives_up(beside) and its.high <= mine.low:
                yield f"the {words} part of `{name}` never matters: the other goes on for ever with shorter waits"
                return

    def _nested_times(self, part: _Part) -> Iterator[str]:
        assert isinstance(part.node, TimeBox)  # the caller has looked
        limit = part.node.limit_ns
        for node in list(nodes_of(part.node))[1:]:
            if isinstance(node, TimeBox) and node.limit_ns >= limit:
                yield f"the inner `timeBox` of `{duration_text(node.limit_ns)}` ends later than the outer one"
        current = _below(part)[0]
        while isinstance(current.node, Clamp | AddDelay | Jitter | CountBox | FilteredOn):
            if isinstance(current.node, FilteredOn) and current.classes[0].may_fail:
                return
            current = _below(current)[0]
        if isinstance(current.node, TimeBox) and 0 < current.node.limit_ns < limit:
            yield f"the outer `timeBox` of `{duration_text(limit)}` ends later than the inner one"


def _below(part: _Part) -> list[_Part]:
    classes = part.classes[1:] if isinstance(part.node, FilteredOn) else part.classes
    match part.node:
        case AndThen(left, right) | Union(left, right) | Intersect(left, right):
            count = sum(isinstance(n, FilteredOn) for n in nodes_of(left))
            return [_Part(left, classes[:count]), _Part(right, classes[count:])]
        case CountBox() | TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
            return [_Part(part.node.inner, classes)]
        case _:
            return []


def _nested_counts(outer: CountBox) -> Iterator[str]:
    node: Policy = outer.inner
    while isinstance(node, Clamp | AddDelay | Jitter | TimeBox):
        node = node.inner
    if isinstance(node, CountBox):
        if outer.max_retries >= node.max_retries:
            yield f"the outer `countBox` of {outer.max_retries} never counts: the inner one ends first or together"
        else:
            yield f"the inner `countBox` of {node.max_retries} never counts: the outer one ends first"


def _clamped(low: int, high: int, inner: Policy) -> Iterator[str]:
    below = delay_interval(inner, Forever)
    if below.low is None:
        return
    if low == high:
        if below.low != below.high:
            yield f"`clamp` makes every wait `{duration_text(low)}`, so that the delays inside it do not matter"
    elif low <= below.low and below.high <= high:
        yield "`clamp` changes nothing: every wait inside it is within its bounds"


def _jittered(factor: float, inner: Policy) -> Iterator[str]:
    if not factor > 0:
        yield "`jitter` with factor 0 changes nothing"
    elif delay_interval(inner, Forever).high == 0:
        yield "`jitter` changes nothing: there is no wait to lengthen"
