"""Forms in which findings and answers are shown."""

from policyd.report.as_json import finding_json, report_json
from policyd.report.as_sarif import report_sarif
from policyd.report.as_text import finding_text, report_text
from policyd.report.marks import fingerprint
from policyd.report.snippet import Lines, no_lines, snippet

__all__ = [
    "Lines",
    "finding_json",
    "finding_text",
    "fingerprint",
    "no_lines",
    "report_json",
    "report_sarif",
    "report_text",
    "snippet",
]
