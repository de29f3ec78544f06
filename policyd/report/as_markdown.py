"""Findings as Markdown for the comment on a pull request.

Source: interface, Flags (`--format markdown`).
"""

from __future__ import annotations

from itertools import groupby

from policyd.findings import Finding, Report, Severity, visible
from policyd.report.as_text import summary

MAX_ROWS = 200
"""So many findings are listed: comments are cut by their receivers."""

_TITLES = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Remarks"}


def report_markdown(report: Report, title: str = "policyd audit") -> str:
    """A table per severity; what was not analysed; the count first."""
    out = [f"### {markdown_text(title)}: {summary(report)}", ""]
    ranked = sorted(report.findings, key=lambda f: f.severity.rank)
    for severity, findings in groupby(ranked[:MAX_ROWS], key=lambda f: f.severity):
        out += [f"**{_TITLES[severity]}**", "", "| place | code | finding |", "|---|---|---|"]
        out += [_row(finding) for finding in findings]
        out.append("")
    if len(ranked) > MAX_ROWS:
        out += [f"and {len(ranked) - MAX_ROWS} more.", ""]
    if report.not_analysed:
        out += ["Not analysed:", "", *(f"- {markdown_text(text)}" for text in report.not_analysed), ""]
    return "\n".join(out)


def _row(finding: Finding) -> str:
    text = markdown_text(finding.message)
    if finding.witness:
        text += f"<br>for example {markdown_code(finding.witness)}"
    if finding.help:
        text += f"<br>{markdown_text(finding.help)}"
    return f"| {markdown_code(finding.where)} | {finding.code} | {text} |"


def markdown_code(text: str) -> str:
    r"""User text as code that ends where it ends, in a cell of a table, too.

    >>> print(markdown_code("a`b|c"))
    `` a`b\|c ``
    """
    shown = visible(text).replace("|", "\\|")
    longest = max((len(list(run)) for char, run in groupby(shown) if char == "`"), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {shown} {fence}" if longest else f"`{shown}`"


def markdown_text(text: str) -> str:
    r"""A sentence of ours, in which user text stands between backticks: that is code, everything else is text.

    >>> print(markdown_text("`<b>` is *no* tag"))
    `<b>` is \*no\* tag
    """
    parts = visible(text).split("`")
    if len(parts) % 2 == 0:
        return _plain(visible(text))
    return "".join(markdown_code(part) if i % 2 and part else _plain(part) for i, part in enumerate(parts))


def _plain(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return "".join(f"\\{c}" if c in "\\*_[]|#~`!@" else c for c in text)
