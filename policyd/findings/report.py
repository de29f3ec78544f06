"""A set of findings in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from policyd.findings.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of one run, sorted by source, place and code, without repetitions.

    Attributes:
        findings: sorted; the same input gives the same sequence.
        not_analysed: sentences on what was left out, sorted.
    """

    findings: tuple[Finding, ...]
    not_analysed: tuple[str, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding], not_analysed: Iterable[str] = ()) -> Report:
        """A report over `findings` in any order."""
        return cls(tuple(sorted(set(findings), key=lambda f: f.order)), tuple(sorted(set(not_analysed))))

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def at_least(self, level: Severity) -> tuple[Finding, ...]:
        """The findings as bad as `level`, or worse."""
        return tuple(f for f in self.findings if f.severity.at_least(level))

    def count(self, severity: Severity) -> int:
        """How many findings have exactly this severity."""
        return sum(f.severity is severity for f in self.findings)
