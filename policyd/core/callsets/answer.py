"""The three forms of an answer about all calls.

Source: questions 2; style 10.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants import Target


@dataclass(frozen=True, slots=True)
class Holds:
    """It is proved for all calls.

    Attributes:
        over: what was quantified over, in words.
        left_out: what the proof does not speak about.
    """

    over: str
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fails:
    """There is a call against it.

    Attributes:
        witness: the call, confirmed by the plain evaluator.
    """

    witness: Target


@dataclass(frozen=True, slots=True)
class Undecided:
    """The effort ended first.

    Attributes:
        reason: on what.
    """

    reason: str


Answer = Holds | Fails | Undecided
