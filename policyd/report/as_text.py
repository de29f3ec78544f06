"""Findings as a person reads them on a terminal."""

from __future__ import annotations

from policyd.findings import Finding, Report, Severity, visible, visible_lines
from policyd.report.snippet import Lines, snippet


def finding_text(finding: Finding, lines: Lines) -> str:
    """One finding: what, where with its line, what to write instead, and its page."""
    out = [f"{finding.severity.value}[{finding.code}]: {finding.message}"]
    if finding.span is not None:
        path = f"  {finding.span.path}" if finding.span.path else ""
        out.append(f"  --> {finding.span.where}{path}")
        out += snippet(finding.span, lines)
    for related in finding.related:
        out.append(f"note: {related.message}")
        out.append(f"  --> {related.span.where}")
        out += snippet(related.span, lines)
    if finding.witness:
        out.append(f"for example: {finding.witness}")
    if finding.help:
        out.append(f"help: {finding.help}")
    if finding.confidence.value != "certain":
        out.append(f"confidence: {finding.confidence.value}")
    out.append(f"page: policyd rule {finding.code}")
    return visible_lines(out)


def report_text(report: Report, lines: Lines) -> str:
    """All findings, what was not analysed, and a line that counts them."""
    parts = [finding_text(finding, lines) for finding in report.findings]
    if report.not_analysed:
        parts.append("not analysed:\n" + "\n".join(f"  - {visible(text)}" for text in report.not_analysed))
    parts.append(summary(report))
    return "\n\n".join(parts) + "\n"


def summary(report: Report) -> str:
    """The findings counted: `2 errors, 1 warning`."""
    words = []
    for severity, word in ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "remark")):
        count = report.count(severity)
        if count:
            words.append(f"{count} {word}{'' if count == 1 else 's'}")
    return ", ".join(words) or "no findings"
