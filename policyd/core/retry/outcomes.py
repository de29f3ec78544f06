"""What a test comes to, as a number, for tables over many values.

Source: retry 3.3.
"""

from __future__ import annotations

from policyd.core.retry.value import EvaluationError, PropertyNotFound

TRUE, FALSE, MISSING, ERROR = range(4)
"""What a test can come to."""


def kind_of_outcome(outcome: bool | EvaluationError) -> int:
    """The number of the outcome of a strict evaluation."""
    if isinstance(outcome, bool):
        return TRUE if outcome else FALSE
    return MISSING if isinstance(outcome, PropertyNotFound) else ERROR
