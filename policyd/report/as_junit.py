"""Findings as a JUnit report: a test case per code and place that fails where the finding counts.

Source: interface, Flags (`--format junit`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from policyd.findings import Finding, Report, Severity, visible, visible_lines
from policyd.report.as_text import finding_text
from policyd.report.snippet import Lines


@dataclass(frozen=True, slots=True)
class Case:
    """One test of a suite.

    Attributes:
        suite: a name that groups cases.
        name: of the case.
        failure: the first line of what is wrong, empty if it passed.
        detail: all of it.
        skipped: why nothing is said, empty otherwise.
    """

    suite: str
    name: str
    failure: str = ""
    detail: str = ""
    skipped: str = ""


def report_junit(report: Report, lines: Lines, level: Severity, suite: str = "policyd audit") -> str:
    """Findings that are as bad as `level` fail, the others pass with a note; what was not analysed is skipped."""
    cases = [_case(finding, lines, finding.severity.at_least(level)) for finding in report.findings]
    cases += [Case("not analysed", text, skipped=text) for text in report.not_analysed]
    return suite_xml(suite, cases or [Case(suite, "no findings")])


def _case(finding: Finding, lines: Lines, is_failure: bool) -> Case:
    name = f"{finding.where} {finding.message}"
    detail = finding_text(finding, lines)
    return Case(finding.code, name, finding.message if is_failure else "", detail)


def suite_xml(name: str, cases: Sequence[Case]) -> str:
    """A document with one suite; characters that do not print, which XML cannot carry, are shown as escapes."""
    failures, skipped = sum(bool(c.failure) for c in cases), sum(bool(c.skipped) for c in cases)
    head = (
        f"<testsuite name={_attribute(name)} tests={_attribute(str(len(cases)))}"
        f" failures={_attribute(str(failures))} errors={_attribute('0')} skipped={_attribute(str(skipped))}>"
    )
    body = "\n".join(_case_xml(case) for case in cases)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n{head}\n{body}\n</testsuite>\n</testsuites>\n'


def _case_xml(case: Case) -> str:
    head = f"<testcase classname={_attribute(case.suite)} name={_attribute(case.name)}>"
    detail = escape(_lines(case.detail))
    if case.failure:
        return f"{head}<failure message={_attribute(case.failure)}>{detail}</failure></testcase>"
    if case.skipped:
        return f"{head}<skipped message={_attribute(case.skipped)}/></testcase>"
    return f"{head}<system-out>{detail}</system-out></testcase>" if detail else f"{head}</testcase>"


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


def _lines(text: str) -> str:
    return visible_lines(text.split("\n"))
