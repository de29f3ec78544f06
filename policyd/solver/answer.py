"""The forms in which the solver answers; *unknown* is never *no*.

Source: style 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from policyd.core.callsets import Answer, Fails, Holds, Undecided

DEFAULT_TIMEOUT_MS = 2_000
"""How long one question may take; the solver answers `Undecided` when it ends."""

__all__ = ["DEFAULT_TIMEOUT_MS", "USED_UP", "Allowance", "Answer", "Disagreement", "Fails", "Holds", "Undecided"]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A class and verb on which the structural procedure and the solver differ: a defect of ours.

    Attributes:
        cls: name of the class.
        verb: the verb.
        structure: what the structural procedure said.
        solver: what the solver said, with its call.
    """

    cls: str
    verb: str
    structure: str
    solver: str


class Allowance:
    """Time that several questions to the solver share."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        """The time begins to run."""
        self._end = monotonic() + seconds

    def timeout_ms(self, most: int) -> int:
        """How long the next question may take, at most `most`; 0 when nothing is left."""
        return min(most, max(0, int((self._end - monotonic()) * 1000)))


USED_UP = Undecided("the time for the cross-check is used up")
"""The answer to questions that are not asked any more."""
