"""Findings as SARIF 2.1.0."""

from __future__ import annotations

from pathlib import PurePath
from urllib.parse import quote

from policyd.findings import Finding, Report, Severity, Span
from policyd.report.marks import fingerprint

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def report_sarif(report: Report, version: str) -> dict[str, object]:
    """One run with a result per finding; fingerprints do not depend on line numbers."""
    codes = sorted({finding.code for finding in report.findings})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "policyd",
                        "version": version,
                        "rules": [
                            {"id": code, "help": {"text": f"policyd rule {code}"}, "properties": {"tags": ["policyd"]}}
                            for code in codes
                        ],
                    }
                },
                "results": [_result(finding, codes) for finding in report.findings],
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {"level": "note", "message": {"text": text}} for text in report.not_analysed
                        ],
                    }
                ],
            }
        ],
    }


def _result(finding: Finding, codes: list[str]) -> dict[str, object]:
    text = finding.message + (f" ({finding.help})" if finding.help else "")
    result: dict[str, object] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "partialFingerprints": {"policyd/v1": fingerprint(finding)},
        "properties": {"confidence": finding.confidence.value, "witness": finding.witness},
    }
    if finding.span is not None:
        result["locations"] = [_location(finding.span)]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "message": {"text": related.message}, **_location(related.span)}
            for number, related in enumerate(finding.related)
        ]
    return result


def _location(span: Span) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": quote(PurePath(span.source).as_posix())}}
    if span.line:
        physical["region"] = {
            "startLine": span.line,
            "startColumn": span.column,
            "endColumn": span.column + max(span.end - span.start, 1),
        }
    location: dict[str, object] = {"physicalLocation": physical}
    if span.path:
        location["logicalLocations"] = [{"fullyQualifiedName": span.path}]
    return location
