"""The forms in which the solver answers; *unknown* is never *no*.

Source: style 10.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.callsets import Answer, Fails, Holds, Undecided

DEFAULT_TIMEOUT_MS = 2_000
"""How long one question may take; the solver answers `Undecided` when it ends."""

__all__ = ["DEFAULT_TIMEOUT_MS", "Answer", "Disagreement", "Fails", "Holds", "Undecided"]


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
