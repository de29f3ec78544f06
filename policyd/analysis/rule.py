"""Rules: what a rule is, and how it tells what it found.

Source: style 9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity, Span


class Scope(Enum):
    """When a finding of a rule counts, where several environments are audited."""

    ANY = "in any environment"
    ALL = "in every environment that has the place"


Check = Callable[["Rule", Subject], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be wrong.

    Attributes:
        code: family and three digits.
        slug: the name of its module and page.
        severity: how bad, unless a finding says otherwise.
        confidence: how sure, unless a finding says otherwise.
        check: looks at one deployment and yields findings; formats nothing and stores nothing.
        scope: when a finding counts.
    """

    code: str
    slug: str
    severity: Severity
    confidence: Confidence
    check: Check
    scope: Scope = Scope.ANY

    @property
    def family(self) -> str:
        """The folder of its module and page."""
        return self.code[:-3].lower()

    def finding(
        self,
        message: str,
        span: Span | None,
        *,
        help: str = "",
        related: Iterable[Related] = (),
        severity: Severity | None = None,
        confidence: Confidence | None = None,
        witness: str = "",
    ) -> Finding:
        """A finding with the code of this rule."""
        return Finding(
            self.code,
            severity or self.severity,
            message,
            span,
            help,
            tuple(related),
            confidence or self.confidence,
            witness,
        )

    def run(self, subject: Subject) -> Iterator[Finding]:
        """All findings on one deployment."""
        return self.check(self, subject)
