"""One report in every form that tools and people read.

Source: interface, Flags (`--format`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from policyd.findings import Report, Severity
from policyd.report.as_github import report_github
from policyd.report.as_gitlab import report_gitlab
from policyd.report.as_html import report_html
from policyd.report.as_json import report_json
from policyd.report.as_junit import report_junit
from policyd.report.as_markdown import report_markdown
from policyd.report.as_sarif import report_sarif
from policyd.report.as_text import report_text
from policyd.report.snippet import Lines

FORMS = ("text", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
"""The names of the forms."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a report says about the run that made it.

    Attributes:
        title: of what was done, such as `policyd audit`.
        version: of policyd.
        level: as bad as this, findings make the run fail.
        about: further facts, as name and value.
        members: further members of the JSON form.
        closing: lines under the text form.
    """

    title: str
    version: str
    level: Severity
    about: tuple[tuple[str, str], ...] = ()
    members: dict[str, object] = field(default_factory=dict)
    closing: tuple[str, ...] = ()


def rendered(report: Report, form: str, lines: Lines, run: Run) -> str:
    """The report in one of `FORMS`.

    Args:
        report: what was found.
        form: its name.
        lines: the source, for the forms that show it.
        run: what is said beside the findings.
    """
    match form:
        case "json":
            return _json({**report_json(report), **run.members})
        case "sarif":
            return _json(report_sarif(report, run.version))
        case "gitlab":
            return _json(report_gitlab(report))
        case "junit":
            return report_junit(report, lines, run.level, run.title)
        case "github":
            return report_github(report)
        case "markdown":
            return report_markdown(report, run.title)
        case "html":
            return report_html(report, lines, run.title, run.about)
        case _:
            return report_text(report, lines) + "".join(f"{line}\n" for line in run.closing)


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
