"""A report on chains as text, as JSON, and as a JUnit suite with a test per chain; the forms of findings are shared.

Source: middleware 6.5; interface, Flags.
"""

from __future__ import annotations

from collections.abc import Sequence

from policyd.core.tools.chain import Edge, Layer, Verdict
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.middleware import Universal
from policyd.core.tools.tool import Body, Tool
from policyd.findings import Finding, Report, Severity, visible_lines
from policyd.report import Lines, finding_json, finding_text, fingerprint
from policyd.report.as_junit import Case, suite_xml
from policyd.usecases.chain_check import ChainReport, ChainRow
from policyd.usecases.chain_permissions import PermissionRow
from policyd.usecases.chain_words import layer_name

MAX_SHOWN_AGENTS = 8
"""Agent types named in a line; more are counted."""


def word(verdict: Verdict) -> str:
    """A verdict as JSON carries it, with hyphens.

    >>> word(Verdict.ACCEPT_WITH_WARNINGS)
    'accept-with-warnings'
    """
    return verdict.value.replace(" ", "-")


def row_name(row: ChainRow) -> str:
    """A chain in words: where, which tool, for whom."""
    shown = ", ".join(row.agents[:MAX_SHOWN_AGENTS])
    more = len(row.agents) - MAX_SHOWN_AGENTS
    agents = f" for {shown}{f' and {more} more' if more > 0 else ''}" if row.agents else ""
    return f"{row.environment + ': ' if row.environment else ''}{row.tool}{agents}"


def drawn(row: ChainRow) -> str:
    """The chain outside-in: `audit → stock-policy → inventory`."""
    return " → ".join(
        [*(layer.name for layer in row.chain.layers), row.chain.leaf.name if row.chain.leaf else row.tool]
    )


def report_text(report: ChainReport, lines: Lines, label: str) -> str:
    """The report as a person reads it: each chain with its verdict, then the findings."""
    out: list[str] = []
    for row in report.rows:
        out.append(f"{row_name(row)}: {row.verdict.value} ({row.chain.mode.value})")
        out.append(f"  chain: {drawn(row)}")
        out += [f"  not analysable: {text}" for text in row.not_analysed]
        for caller in row.callers:
            out.append(f"  caller {caller.name}: {caller.verdict.value}")
        out += [f"  {line}" for line in _permission_lines(row.permissions)]
    if not report.rows:
        out.append("no chain: no tool is bound")
    for finding in (*report.findings, *report.unmet):
        out += ["", *finding_text(finding, lines).split("\n")]
    if report.not_analysed:
        out += ["", "not analysed:", *(f"  - {text}" for text in report.not_analysed)]
    out += ["", f"{_counted(report)} · edition: {label}"]
    return visible_lines(out)


def _counted(report: ChainReport) -> str:
    words = []
    for verdict in Verdict:
        count = sum(row.verdict is verdict for row in report.rows)
        if count:
            words.append(f"{count} {verdict.value}")
    return ", ".join(words) or "nothing decided"


def _permission_lines(rows: Sequence[PermissionRow]) -> list[str]:
    """The calls along the chain, those that are decided alike together."""
    groups: dict[tuple[str, str, str, str], int] = {}
    for row in rows:
        key = (row.agent, row.source, row.tool, row.decided.value)
        groups[key] = groups.get(key, 0) + 1
    return [
        f"permission of {agent}, {source} → {tool}: {decided}" + (f" ({count} commands)" if count > 1 else "")
        for (agent, source, tool, decided), count in groups.items()
    ]


def report_json(report: ChainReport, label: str) -> dict[str, object]:
    """The report as JSON."""
    return {
        "policyd": 1,
        "report": [_row_json(row) for row in report.rows],
        "findings": [_finding_json(finding) for finding in report.findings],
        "unmet": [_finding_json(finding) for finding in report.unmet],
        "notAnalysed": list(report.not_analysed),
        "edition": label,
    }


def _finding_json(finding: Finding) -> dict[str, object]:
    return {**finding_json(finding), "fingerprint": fingerprint(finding)}


def _row_json(row: ChainRow) -> dict[str, object]:
    return {
        "environment": row.environment,
        "agents": list(row.agents),
        "tool": row.tool,
        "deployment": {"verdict": word(row.verdict), "mode": row.chain.mode.value},
        "chain": [*(f"{layer.name}#{i}" for i, layer in enumerate(row.chain.layers, 1)), f"leaf:{row.tool}"],
        "effective": None if row.chain.effective is None else _effective_json(row.chain.effective),
        "edges": [_edge_json(edge, row.chain.layers[edge.layer - 1]) for edge in row.chain.edges],
        "callers": [
            {"name": c.name, "verdict": word(c.verdict), "findings": [_finding_json(f) for f in c.findings]}
            for c in row.callers
        ],
        "permissions": [
            {"agent": p.agent, "from": p.source, "target": p.target, "decided": p.decided.value}
            for p in row.permissions
        ],
        "diagnostics": [_finding_json(finding) for finding in row.findings],
        "notAnalysed": list(row.not_analysed),
    }


def _effective_json(tool: Tool) -> dict[str, object]:
    commands = {
        ".".join(path): {"errors": [error.name for error in (tool.commands[place.index].body or Body()).errors]}
        for path, place in sorted(callable_paths(tool).items())
    }
    return {"name": tool.name, "commands": commands}


def _edge_json(edge: Edge, layer: Layer) -> dict[str, object]:
    kind = "unknown"
    if edge.found is not None:
        kind = "expects"
    elif layer.middleware is not None and edge.inner is not None and edge.expected is None:
        kind = "passes" if isinstance(layer.middleware.scope, Universal) else "wildcard"
    discarded = () if edge.found is None else edge.found.discarded
    return {
        "layer": edge.layer,
        "name": edge.name,
        "kind": kind,
        "expected": None if edge.expected is None else edge.expected.name,
        "over": "leaf" if edge.below is None else edge.below,
        "verdict": "reject" if edge.is_refused else "accept",
        "injected": [{"command": ".".join(path), "input": name} for path, name in edge.injected],
        "discarded": [{"command": ".".join(d.path), "input": d.name} for d in discarded],
        "inherited": [name for name, _ in edge.inherited],
        "warnings": [remark.label for remark in edge.remarks],
    }


def as_report(report: ChainReport) -> Report:
    """Only the findings, for the formats of findings."""
    open_ends = [f"{row_name(row)}: {text}" for row in report.rows for text in row.not_analysed]
    return Report.of((*report.findings, *report.unmet), (*report.not_analysed, *open_ends))


def report_junit(report: ChainReport, lines: Lines) -> str:
    """One test per chain and per expectation that does not hold; undecided chains are skipped tests."""
    cases: list[Case] = []
    for row in report.rows:
        suite, name = row.environment or "chain", row_name(row)
        errors = [f for f in row.findings if f.severity is Severity.ERROR]
        if row.verdict is Verdict.REJECT or errors:
            told = errors or [f for f in report.findings if f.severity is Severity.ERROR]
            first = told[0].message if told else row.verdict.value
            cases.append(Case(suite, name, first, "\n\n".join(finding_text(f, lines) for f in told)))
        elif row.verdict is Verdict.UNDECIDED:
            cases.append(Case(suite, name, skipped="; ".join(row.not_analysed) or "undecided"))
        else:
            cases.append(Case(suite, name))
    cases += [Case("expect", f.where, f.message, finding_text(f, lines)) for f in report.unmet]
    return suite_xml("policyd chain check", cases)


def edge_words(edge: Edge) -> str:
    """A layer and its answer on one line."""
    return f"{layer_name(edge)}: {'reject' if edge.is_refused else 'accept'}"
