"""Findings as a GitLab code quality report.

Source: interface, Flags (`--format gitlab`).
"""

from __future__ import annotations

from pathlib import PurePath

from policyd.findings import Finding, Report, Severity
from policyd.report.marks import distinct_fingerprints, told

_LEVELS = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def report_gitlab(report: Report) -> list[dict[str, object]]:
    """One issue per finding; the receiver needs a line, so a finding without one stands at the first."""
    marks = distinct_fingerprints(report.findings)
    return [_issue(finding, mark) for finding, mark in zip(report.findings, marks, strict=True)]


def _issue(finding: Finding, mark: str) -> dict[str, object]:
    span = finding.span
    return {
        "description": told(finding),
        "check_name": finding.code,
        "fingerprint": mark,
        "severity": _LEVELS[finding.severity],
        "location": {
            "path": PurePath(span.source).as_posix() if span is not None else "golem.yaml",
            "lines": {"begin": max(1, span.line) if span is not None else 1},
        },
    }
