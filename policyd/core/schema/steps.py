"""Steps of work: one question about types may take so many, and is undecided past them, never answered by a guess.

What is counted belongs to a question and not to the pairs of types inside it, so the count goes along with the calls of
one thread instead of through every signature. It decides nothing but whether there is an answer: without a bound,
and below it, every function gives the same.

Source: middleware 3.2 (bounds of a comparison).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


class OutOfStepsError(Exception):
    """The question took all its steps; who bounded it says what that means."""


@dataclass(slots=True)
class _Left:
    steps: int


_LEFT: ContextVar[_Left | None] = ContextVar("steps left", default=None)


@contextmanager
def within(steps: int) -> Iterator[None]:
    """Bound the work inside; of bounds within each other, all count.

    Raises:
        OutOfStepsError: from inside, once the steps are taken.

    >>> with within(10):
    ...     spend(10)
    """
    around = _LEFT.get()
    given = steps if around is None else min(steps, around.steps)
    left = _Left(given)
    token = _LEFT.set(left)
    try:
        yield
    finally:
        _LEFT.reset(token)
        if around is not None:
            around.steps -= given - left.steps


def spend(steps: int = 1) -> None:
    """Take steps, where they are bounded.

    Raises:
        OutOfStepsError: if there are not so many left.
    """
    left = _LEFT.get()
    if left is not None:
        left.steps -= steps
        if left.steps < 0:
            raise OutOfStepsError
