"""A deployment report as Markdown: the same parts as the HTML, cards in numbers only.

Source: interface, `report`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policyd.report.as_markdown import MAX_ROWS, markdown_code, markdown_text

ReportJson = Mapping[str, Any]


def deployment_markdown(report: ReportJson) -> str:
    """The report for a comment or a page of a wiki; long tables are cut, and it is said."""
    header, summary = report["header"], report["summary"]
    title = f"Authority of `{header['application']}` in `{header['environment']}`"
    out = [
        f"## {markdown_text(title)}",
        "",
        f"Read from {markdown_code(header['source'])}, as of {markdown_text(header['at'])}.",
    ]
    if header["digest"]:
        out.append(f"Digest {markdown_code(header['digest'])}, revision {header['revision']}.")
    switches = "".join(f", {name}={value}" for name, value in header["switches"].items())
    out += [f"Edition {markdown_text(header['edition'] + switches)}.", ""]
    found = summary["findings"]
    out += [
        f"Errors: {found['error']}, warnings: {found['warning']}, remarks: {found['info']},"
        f" accepted findings: {summary['suppressed']}. Agent types: {summary['agents']}, without a ceiling:"
        f" {summary['withoutCeiling']}, grants: {summary['grants']}.",
        "",
    ]
    findings = [
        (
            markdown_text(row["code"]),
            markdown_text(row["severity"]),
            markdown_text(row["message"]),
            markdown_text(_where(row["place"])),
        )
        for row in report["findings"]
    ]
    out += _table("Findings", ("code", "severity", "finding", "place"), findings)
    accepted = [
        (
            markdown_text(row["code"]),
            markdown_text(row["message"]),
            markdown_text(row["reason"]),
            markdown_text(row["until"] or "no end"),
        )
        for row in report["suppressed"]
    ]
    out += _table("Accepted findings", ("code", "finding", "why", "until"), accepted)
    reach = [
        (markdown_code(row["query"]), markdown_text(row["answer"]), markdown_text(row["words"]))
        for row in report["reach"]
    ]
    out += _table("Reach", ("to", "answer", "in words"), reach)
    if report["retry"] is not None:
        retry = [
            (
                markdown_code(row["policy"]),
                markdown_text(row["attempts"]),
                markdown_text(row["totalWait"]),
                markdown_text(row["bounded"]),
            )
            for row in report["retry"]["words"]
        ]
        out += _table("Retries", ("policy", "attempts", "total wait", "bounded"), retry)
    agents = [_agent(agent) for agent in report["agents"]]
    out += _table("Agent types", ("agent type", "card", "floor", "ceiling", "saga"), agents)
    chains = [
        (
            markdown_code(row["tool"]),
            markdown_text(", ".join(row["layers"])),
            markdown_text(", ".join(row["agents"])),
            markdown_text(row["verdict"]),
        )
        for row in report["chains"]
    ]
    out += _table("Chains", ("tool", "layers", "agent types", "verdict"), chains)
    if report["notAnalysed"]:
        out += ["### Not analysed", "", *(f"- {markdown_text(text)}" for text in report["notAnalysed"]), ""]
    return "\n".join(out)


def _agent(agent: ReportJson) -> tuple[str, ...]:
    floor = sum(grant["bound"].startswith("lower") for grant in agent["grants"])
    ceiling = len(agent["grants"]) - floor
    saga = agent["saga"]
    facets = f"{saga['admitted']} · {saga['bounded']} · {saga['replayStable']}" if saga is not None else ""
    return (
        markdown_code(agent["agent"]),
        markdown_text(agent["origin"]),
        f"{floor} grants",
        f"{ceiling} grants" if agent["hasCeiling"] else "none",
        markdown_text(facets),
    )


def _where(place: ReportJson | None) -> str:
    if place is None:
        return ""
    return str(place["source"]) + (f":{place['line']}" if place["line"] else "")


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield from (f"### {title}", "", f"| {' | '.join(head)} |", f"|{'---|' * len(head)}")
    yield from (f"| {' | '.join(row)} |" for row in rows[:MAX_ROWS])
    yield ""
    if len(rows) > MAX_ROWS:
        yield from (f"and {len(rows) - MAX_ROWS} more.", "")
