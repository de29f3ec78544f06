"""What a test comes to, as a number, for tables over many values.

Source: retry 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from policyd.core.retry.evaluate import evaluate_strict
from policyd.core.retry.representatives import Leaf
from policyd.core.retry.value import EvaluationError, PropertyNotFound, PropertyValue

TRUE, FALSE, MISSING, ERROR = range(4)
"""What a test can come to."""


def kind_of_test(leaf: Leaf, cell: Mapping[str, PropertyValue]) -> int:
    """What a test comes to: one of the four numbers above."""
    return kind_of_outcome(evaluate_strict(leaf, cell))


def kind_of_outcome(outcome: bool | EvaluationError) -> int:
    """The number of the outcome of a strict evaluation."""
    if isinstance(outcome, bool):
        return TRUE if outcome else FALSE
    return MISSING if isinstance(outcome, PropertyNotFound) else ERROR
