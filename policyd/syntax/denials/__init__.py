"""From a pasted text to the denials in it."""

from policyd.syntax.denials.reading import (
    KINDS,
    CardEvent,
    Denial,
    OperationGuess,
    Reading,
    Surface,
)
from policyd.syntax.denials.recognise import recognise

__all__ = ["KINDS", "CardEvent", "Denial", "OperationGuess", "Reading", "Surface", "recognise"]
