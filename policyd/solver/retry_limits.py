"""The limits of small policies by arithmetic: is there a run with so many retries?

A run is unrolled decision by decision; the time between decisions is free apart from the waits. Nothing is shared
with the procedure that it checks but the delays of single leaves.

Source: retry 4.2, 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, assert_never

import z3

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
from policyd.core.retry.step import leaf_delay
from policyd.solver.answer import DEFAULT_TIMEOUT_MS

MAX_RETRIES = 40
"""Longer runs are not unrolled."""


class Verdict(NamedTuple):
    """Whether a node retries, after which delay, and the state of its part of the tree afterwards."""

    retries: z3.BoolRef
    delay: z3.ArithRef
    state: tuple[z3.ExprRef, ...]


@dataclass(frozen=True, slots=True)
class _Unrolling:
    context: z3.Context
    steps: int

    def number(self, value: int) -> z3.ArithRef:
        return z3.IntVal(value, self.context)

    def truth(self, value: bool) -> z3.BoolRef:
        return z3.BoolVal(value, self.context)

    def initial(self, node: Policy) -> tuple[z3.ExprRef, ...]:
        """The state of a node and of what is below it, flat."""
        match node:
            case Periodic() | Exponential() | Fibonacci() | Immediate():
                return (self.number(0),)
            case Never():
                return ()
            case CountBox(_, inner):
                return (self.number(0), *self.initial(inner))
            case TimeBox() | Clamp() | AddDelay() | Jitter() | FilteredOn():
                return self.initial(node.inner)
            case AndThen(left, right):
                return (self.truth(False), *self.initial(left), *self.initial(right))
            case Union(left, right) | Intersect(left, right):
                return (*self.initial(left), *self.initial(right))
            case _:
                assert_never(node)

    def step(self, node: Policy, state: tuple[z3.ExprRef, ...], elapsed: z3.ArithRef) -> Verdict:
        """One decision."""
        match node:
            case Periodic() | Exponential() | Fibonacci() | Immediate():
                delay = self.number(leaf_delay(node, self.steps))
                for count in range(self.steps - 1, -1, -1):
                    delay = z3.If(state[0] == count, self.number(leaf_delay(node, count)), delay)
                return Verdict(self.truth(True), delay, (state[0] + 1,))
            case Never():
                return Verdict(self.truth(False), self.number(0), ())
            case CountBox(most, inner):
                below = self.step(inner, state[1:], elapsed)
                is_open = state[0] < most
                after = tuple(z3.If(is_open, new, old) for new, old in zip(below.state, state[1:], strict=True))
                count = z3.If(is_open, state[0] + 1, state[0])
                return Verdict(z3.And(is_open, below.retries), below.delay, (count, *after))
            case TimeBox(limit, inner):
                below = self.step(inner, state, elapsed)
                is_open = elapsed < limit
                after = tuple(z3.If(is_open, new, old) for new, old in zip(below.state, state, strict=True))
                return Verdict(z3.And(is_open, below.retries), below.delay, after)
            case Clamp(low, high, inner):
                below = self.step(inner, state, elapsed)
                capped = z3.If(below.delay > high, self.number(high), below.delay)
                return below._replace(delay=z3.If(capped < low, self.number(low), capped))
            case AddDelay(extra, inner):
                below = self.step(inner, state, elapsed)
                return below._replace(delay=below.delay + extra)
            case Jitter(_, inner) | FilteredOn(_, inner):
                return self.step(inner, state, elapsed)
            case AndThen(left, right):
                return self._sequence(left, right, state, elapsed)
            case Union(left, right) | Intersect(left, right):
                return self._pair(node, left, right, state, elapsed)
            case _:
                assert_never(node)

    def _sequence(self, left: Policy, right: Policy, state: tuple[z3.ExprRef, ...], elapsed: z3.ArithRef) -> Verdict:
        size = len(self.initial(left))
        on_right, first, second = state[0], state[1 : 1 + size], state[1 + size :]
        one, two = self.step(left, first, elapsed), self.step(right, second, elapsed)
        switches = z3.And(z3.Not(on_right), z3.Not(one.retries))
        uses_right = z3.Or(on_right, switches)
        after_left = tuple(z3.If(on_right, old, new) for old, new in zip(first, one.state, strict=True))
        after_right = tuple(z3.If(uses_right, new, old) for old, new in zip(second, two.state, strict=True))
        return Verdict(
            z3.If(uses_right, two.retries, one.retries),
            z3.If(uses_right, two.delay, one.delay),
            (uses_right, *after_left, *after_right),
        )

    def _pair(
        self, node: Union | Intersect, left: Policy, right: Policy, state: tuple[z3.ExprRef, ...], elapsed: z3.ArithRef
    ) -> Verdict:
        size = len(self.initial(left))
        one, two = self.step(left, state[:size], elapsed), self.step(right, state[size:], elapsed)
        after = (*one.state, *two.state)
        if isinstance(node, Intersect):
            delay = z3.If(one.delay > two.delay, one.delay, two.delay)
            return Verdict(z3.And(one.retries, two.retries), delay, after)
        shorter = z3.If(one.delay < two.delay, one.delay, two.delay)
        delay = z3.If(z3.And(one.retries, two.retries), shorter, z3.If(one.retries, one.delay, two.delay))
        return Verdict(z3.Or(one.retries, two.retries), delay, after)


def has_run(policy: Policy, retries: int, *, real: bool, timeout_ms: int = DEFAULT_TIMEOUT_MS) -> bool | None:
    """Whether some run of a policy without filters has `retries` retries before it ends; None where undecided.

    Unsatisfiable when not: moments of that many decisions, each at least its wait after the one before, at all of
    which the policy retries. Jitter is left out; it only lengthens waits.

    Args:
        policy: without filters, and with every clamp the right way round.
        retries: at most `MAX_RETRIES`.
        real: whether time boxes see the elapsed time; else it is always 0.
        timeout_ms: for the question.
    """
    assert retries <= MAX_RETRIES
    assert not any(isinstance(node, FilteredOn) for node in nodes_of(policy))
    context = z3.Context()
    unrolling = _Unrolling(context, retries)
    solver = z3.Solver(ctx=context)
    solver.set("timeout", timeout_ms)
    state = unrolling.initial(policy)
    elapsed: z3.ArithRef = unrolling.number(0)
    for number in range(retries):
        if real:
            moment = z3.Int(f"at{number}", context)
            solver.add(moment >= elapsed)
        else:
            moment = unrolling.number(0)
        verdict = unrolling.step(policy, state, moment)
        solver.add(verdict.retries)
        state, elapsed = verdict.state, moment + verdict.delay
    found = solver.check()
    return True if found == z3.sat else False if found == z3.unsat else None
