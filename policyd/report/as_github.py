"""Findings as annotations of GitHub workflows, one command per line.

Source: interface, Flags (`--format github`).
"""

from __future__ import annotations

from policyd.findings import Finding, Report, Severity, visible
from policyd.report.as_text import summary
from policyd.report.marks import told

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def report_github(report: Report) -> str:
    """One annotation per finding, then one that counts them and names what was not analysed."""
    lines = [annotation(finding) for finding in report.findings]
    closing = summary(report)
    if report.not_analysed:
        closing += f"; not analysed: {'; '.join(report.not_analysed)}"
    lines.append(f"::notice title=policyd::{escaped(closing)}")
    return "\n".join(lines) + "\n"


def annotation(finding: Finding) -> str:
    """The workflow command for one finding."""
    place = ""
    if finding.span is not None:
        place = f"file={escaped(finding.span.source, is_property=True)},"
        if finding.span.line:
            place += f"line={finding.span.line},col={finding.span.column},"
    return f"::{_LEVELS[finding.severity]} {place}title={finding.code}::{escaped(told(finding))}"


def escaped(text: str, *, is_property: bool = False) -> str:
    """Text as workflow commands carry it: no line ends, no marks that end a property.

    >>> escaped("100 % a,b", is_property=True)
    '100 %25 a%2Cb'
    """
    found = visible(text).replace("%", "%25")
    return found.replace(":", "%3A").replace(",", "%2C") if is_property else found
