"""The one run of a policy whose filters leave no choice, with no time spent but the waits.

Source: retry 5.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.retry.domain import Filters
from policyd.core.retry.duration import DMAX_NS
from policyd.core.retry.machine import END, Forever, Machine

STORM_DELAY_NS = 10_000_000
"""Delays up to this count for a storm."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run as far as it was followed.

    Attributes:
        retries: how many retries were seen.
        total_ns: the sum of their delays.
        least_ns: the smallest delay; None without a retry.
        most_ns: the largest delay; None without a retry.
        streak: the most retries in a row with delays up to `STORM_DELAY_NS`.
        ends: whether the run ended.
        fails: whether it ended with an error.
        repeats_ns: for a run that goes on for ever, the delay that repeats; None where it does not repeat.
        expired: whether all time limits were passed when it began to repeat.
    """

    retries: int
    total_ns: int
    least_ns: int | None
    most_ns: int | None
    streak: int
    ends: bool
    fails: bool = False
    repeats_ns: int | None = None
    expired: bool = False

    @property
    def is_known(self) -> bool:
        """Whether the run was followed to its end, or to where it repeats."""
        return self.ends or self.repeats_ns is not None


def simulate(machine: Machine, filters: Filters, work: int, elapsed: int = 0) -> Run:
    """Follow the run that takes the first row of the filters at every decision.

    Args:
        machine: the policy.
        filters: what its filters see; with exactly one row at every decision the run is the only one.
        work: node visits before the run is left unfinished.
        elapsed: the time at the first decision.
    """
    root, state = machine.root, machine.root.start
    last = machine.limits[-1] if machine.limits else 0
    k, retries, total, streak, longest = 1, 0, 0, 0, 0
    least: int | None = None
    most: int | None = None
    while work > 0:
        work -= 2 * machine.size
        row = filters.rows(k)[0]
        count, verdict = root.steady(state, elapsed, row, 0, DMAX_NS)
        if verdict < 0:
            return Run(retries, total, least, most, longest, ends=True, fails=verdict == END)
        least = verdict if least is None else min(least, verdict)
        most = verdict if most is None else max(most, verdict)
        rows_steady = filters.steady(k)
        if rows_steady is not None:
            count = min(count, rows_steady)
        limit = machine.next_limit(elapsed)
        if limit is not None and verdict:
            count = min(count, -(-(limit - elapsed) // verdict))
        if count == Forever:
            if verdict <= STORM_DELAY_NS:
                longest = max(longest, 1 << 62)
            expired = elapsed >= last
            return Run(retries, total, least, most, longest, ends=False, repeats_ns=verdict, expired=expired)
        jump = int(count)
        if jump == 1:
            state, verdict = root.step(state, elapsed, row)
        else:
            state = root.leap(state, elapsed, row, jump)
        streak = streak + jump if verdict <= STORM_DELAY_NS else 0
        longest = max(longest, streak)
        k, retries, total = k + jump, retries + jump, total + jump * verdict
        elapsed = min(elapsed + jump * verdict, max(last, elapsed)) if machine.limits else 0
    return Run(retries, total, least, most, longest, ends=False)
