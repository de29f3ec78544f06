"""Work budgets: how much a question may cost before its answer is *undecided*."""

from __future__ import annotations

MAX_STEPS = 200_000
"""Steps of one search (one class, verb and grant): values tried, and states of path automata.

A search also pays one step for every 32 grants that it lays out. Ordinary wallets need a few dozen. Only
shapes in which many wildcards at different places overlap
without covering each other come near: there the cost can double with every further wildcard.
"""


MAX_PARTS = 192
"""Paths, hosts and keys of more parts are not told apart; real ones have fewer than ten."""


class ExhaustedError(Exception):
    """The budget is spent, or a pattern is too long; the caller answers `Undecided` with this text."""


class Budget:
    """A number of steps that is used up by one search."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int = 1) -> None:
        """Use up `steps`.

        Raises:
            ExhaustedError: when none are left.
        """
        self.left -= steps
        if self.left < 0:
            raise ExhaustedError("the steps of the search are used up")


SEARCHES_AT_FULL_COST = 5
"""So many searches of one question may use their whole budget before the rest of it is undecided, too."""


class Effort:
    """The budget of a question that takes many searches, or of several questions together.

    Attributes:
        left: steps that all searches together may still take.
    """

    __slots__ = ("_steps", "left")

    def __init__(self, steps: int = MAX_STEPS, total: int | None = None) -> None:
        """Nothing is spent yet.

        Args:
            steps: the most of one search.
            total: the most of all together; None for those of a few searches.
        """
        self._steps = steps
        self.left = steps * SEARCHES_AT_FULL_COST if total is None else total

    @property
    def is_spent(self) -> bool:
        """Whether no search can be made any more."""
        return self.left <= 0

    def search(self) -> Budget:
        """The budget of the next search."""
        return Budget(min(self._steps, self.left))

    def account(self, granted: int, budget: Budget) -> None:
        """Take what a search has used of the `granted` steps from the whole."""
        self.left -= granted - max(budget.left, 0)


Steps = int | Effort
"""How much a question may cost: the steps of one search, or an effort that it shares with others."""


def effort_of(steps: Steps) -> Effort:
    """The effort of one question."""
    return steps if isinstance(steps, Effort) else Effort(steps)


def check_parts(count: int) -> None:
    """Refuse patterns of too many parts.

    Raises:
        ExhaustedError: for more than `MAX_PARTS`.
    """
    if count > MAX_PARTS:
        raise ExhaustedError(f"a resource of more than {MAX_PARTS} parts")
