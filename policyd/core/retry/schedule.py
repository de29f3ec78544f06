"""Runs of a policy from its initial state: the decisions in order, with their times.

Source: retry 4.2, 4.4, 9.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policyd.core.retry.duration import add_durations
from policyd.core.retry.policy import Policy
from policyd.core.retry.state import State, initial_state
from policyd.core.retry.step import Draw, Retry, Verdict, lower_end, step
from policyd.core.retry.value import Bag

MAX_STEPS = 100_000
"""No run is followed further than this."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of a run.

    Attributes:
        number: 1 for the decision after the first failure.
        elapsed_ns: the time given to it.
        verdict: what it said.
        state: the state after it.
    """

    number: int
    elapsed_ns: int
    verdict: Verdict
    state: State


@dataclass(frozen=True, slots=True)
class Schedule:
    """The decisions of one run, up to the first that is no retry or to the bound asked for.

    Attributes:
        decisions: in order.
        stopped: whether the run came to an end within the bound.
    """

    decisions: tuple[Decision, ...]
    stopped: bool

    @property
    def delays_ns(self) -> tuple[int, ...]:
        """The waits, in order."""
        return tuple(d.verdict.delay_ns for d in self.decisions if isinstance(d.verdict, Retry))

    @property
    def total_ns(self) -> int:
        """The sum of the waits."""
        return sum(self.delays_ns)


def run_schedule(
    policy: Policy,
    bag: Bag | Callable[[int], Bag],
    max_steps: int,
    *,
    draw: Draw = lower_end,
    execution_ns: int = 0,
    real_elapsed: bool = True,
) -> Schedule:
    """Step a policy from its initial state until it no longer retries.

    Args:
        policy: the tree.
        bag: what the filters see, the same at every decision or by its number (from 1).
        max_steps: at most so many decisions, and never more than `MAX_STEPS`.
        draw: the randomness; `lower_end` and `upper_end` give the two ends of every delay.
        execution_ns: what each execution takes; added before every decision.
        real_elapsed: False where the host gives 0 as the elapsed time.

    Source: retry 4.4.
    """
    state, elapsed = initial_state(policy), 0
    decisions: list[Decision] = []
    for number in range(1, min(max_steps, MAX_STEPS) + 1):
        elapsed = add_durations(elapsed, execution_ns)
        at = elapsed if real_elapsed else 0
        state, verdict = step(policy, state, at, bag(number) if callable(bag) else bag, draw)
        decisions.append(Decision(number, at, verdict, state))
        if not isinstance(verdict, Retry):
            return Schedule(tuple(decisions), stopped=True)
        elapsed = add_durations(elapsed, verdict.delay_ns)
    return Schedule(tuple(decisions), stopped=False)
