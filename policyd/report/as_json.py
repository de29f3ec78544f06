"""Findings as JSON."""

from __future__ import annotations

from policyd.findings import Finding, Report, Span


def span_json(span: Span | None) -> dict[str, object] | None:
    """A place: source, line and column (from 1), length in characters, and the place in the document."""
    if span is None:
        return None
    return {
        "source": span.source,
        "line": span.line,
        "column": span.column,
        "length": span.end - span.start,
        "path": span.path,
    }


def finding_json(finding: Finding) -> dict[str, object]:
    """One finding."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "place": span_json(finding.span),
        "help": finding.help,
        "related": [{"message": r.message, "place": span_json(r.span)} for r in finding.related],
        "witness": finding.witness,
    }


def report_json(report: Report) -> dict[str, object]:
    """All findings and what was not analysed."""
    return {
        "findings": [finding_json(finding) for finding in report.findings],
        "notAnalysed": list(report.not_analysed),
    }
