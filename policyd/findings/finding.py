"""The one record for everything that is told to a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.findings.span import Span


class Severity(Enum):
    """How bad it is if the finding is right; ordered by `rank`."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for the worst, so that sorting puts errors first."""
        return ("error", "warning", "info").index(self.value)

    def at_least(self, level: Severity) -> bool:
        """Whether this is as bad as `level`, or worse."""
        return self.rank <= level.rank


class Confidence(Enum):
    """How sure the finding is, apart from how bad it would be."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains a finding, with a few words on why."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to tell, with its stable code and its place.

    Attributes:
        code: a family and three digits (`CARD001`); its meaning never changes.
        severity: how bad.
        message: one line, lower-case start, no full stop, user text in backticks.
        span: where, or None when no source is at hand.
        help: what to write instead; empty when there is nothing to add.
        related: other places that belong to it.
        confidence: how sure.
        witness: a concrete call (target text) that shows it, empty where none applies.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    confidence: Confidence = Confidence.CERTAIN
    witness: str = ""

    @property
    def where(self) -> str:
        """The place as text, or a dash."""
        return self.span.where if self.span else "-"

    @property
    def order(self) -> tuple[str, int, int, str, str]:
        """The key by which reports are sorted: source, place, code, message."""
        span = self.span
        if span is None:
            return ("", 0, 0, self.code, self.message)
        return (span.source, span.line, span.column, self.code, self.message)
