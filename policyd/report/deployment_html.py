"""A deployment report as one HTML file: nothing is loaded from elsewhere, nothing runs, everything is escaped.

Source: interface, `report`; style 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from policyd.findings import visible
from policyd.report.as_html import html_page, sentence, table_html

ReportJson = Mapping[str, Any]

SECTIONS = (
    ("summary", "Summary"),
    ("findings", "Findings"),
    ("suppressed", "Accepted findings"),
    ("reach", "Reach"),
    ("retries", "Retries and sagas"),
    ("chains", "Chains of middleware"),
    ("cards", "Effective cards"),
    ("not-analysed", "Not analysed"),
)
"""Anchors and titles, in order."""

BOUNDS = {
    "lowerPositive": "floor",
    "lowerNegative": "cut out of the floor",
    "upperPositive": "ceiling",
    "upperNegative": "denied to the wallet",
}


def deployment_html(report: ReportJson) -> str:
    """The whole report; the same report gives the same bytes."""
    header = report["header"]
    title = f"Authority of {header['application']} in {header['environment']}"
    bodies = {
        "summary": [_header(header), _summary(report["summary"]), *_deploys(report["deploys"])],
        "findings": _findings(report["findings"]),
        "suppressed": _suppressed(report["suppressed"]),
        "reach": _reach(report["reach"]),
        "retries": [*_retries(report["retry"]), *_sagas(report["agents"])],
        "chains": _chains(report["chains"]),
        "cards": _cards(report["agents"]),
        "not-analysed": _listed(report["notAnalysed"], "Everything was analysed."),
    }
    parts = [_contents()]
    for anchor, words in SECTIONS:
        inner = Markup("\n").join(bodies[anchor])
        parts.append(
            Markup('<section aria-labelledby="{0}"><h2 id="{0}">{1}</h2>\n{2}\n</section>').format(anchor, words, inner)
        )
    return html_page(title, parts)


def _contents() -> Markup:
    items = Markup("").join(Markup('<li><a href="#{}">{}</a></li>').format(anchor, words) for anchor, words in SECTIONS)
    return Markup('<nav aria-label="Contents"><ul>{}</ul></nav>').format(items)


def _header(header: ReportJson) -> Markup:
    switches = ", ".join(f"{name}={value}" for name, value in header["switches"].items())
    rows = (
        ("Application", header["application"]),
        ("Environment", header["environment"]),
        ("Account", header["account"] or "not known"),
        ("Presets", ", ".join(header["presets"])),
        ("Read from", header["source"]),
        ("Digest", header["digest"]),
        ("Revision", header["revision"]),
        ("Imported at", header["importedAt"]),
        ("Edition", header["edition"]),
        ("Switches", switches),
        ("As of", header["at"]),
        ("policyd", header["policyd"]),
    )
    body = Markup("\n").join(
        Markup('<tr><th scope="row">{}</th><td>{}</td></tr>').format(name, visible(str(value)))
        for name, value in rows
        if value not in (None, "")
    )
    return Markup("<table><caption>What was looked at</caption><tbody>{}</tbody></table>").format(body)


def _summary(summary: ReportJson) -> Markup:
    findings = summary["findings"]
    rows: list[tuple[str, str]] = [
        ("Findings", f"errors: {findings['error']}, warnings: {findings['warning']}, remarks: {findings['info']}"),
        ("Accepted findings", str(summary["suppressed"])),
        ("Agent types", f"{summary['agents']}, {summary['withoutCeiling']} of them without a ceiling"),
        ("Grants", str(summary["grants"])),
        ("Deploy of their cards", _counts(summary["deploys"])),
        ("Questions about reach", _counts(summary["reach"])),
        ("Retry policies bounded", _counts(summary["retry"])),
        ("Chains", _counts(summary["chains"])),
    ]
    return table_html("In numbers", ("What", "How many"), rows)


def _counts(counts: Mapping[str, int]) -> str:
    told = [f"{count} {word.replace('-', ' ')}" for word, count in counts.items() if count]
    return ", ".join(told) or "none"


def _deploys(rows: Sequence[ReportJson]) -> Iterator[Markup]:
    refused = [row for row in rows if row["accepted"] != "yes"]
    if refused:
        cells = ((row["agent"], row["accepted"], row["text"]) for row in refused)
        yield table_html("Cards that a deploy would not take", ("Agent type", "Accepted", "Why"), cells)


def _findings(rows: Sequence[ReportJson]) -> list[Markup]:
    if not rows:
        return [Markup("<p>No findings.</p>")]
    groups: dict[str, list[ReportJson]] = {}
    for row in rows:
        groups.setdefault(row["severity"], []).append(row)
    out = []
    for severity in ("error", "warning", "info"):
        if severity in groups:
            words = {"error": "Errors", "warning": "Warnings", "info": "Remarks"}[severity]
            cells = (
                (
                    Markup('<span class="{}">{}</span>').format(severity, visible(row["code"])),
                    _told(row),
                    _place(row["place"]),
                    _code(row["fingerprint"]),
                )
                for row in groups[severity]
            )
            head = ("Code", "Finding", "Place", "Fingerprint")
            out.append(table_html(f"{words} ({len(groups[severity])})", head, cells))
    return out


def _told(row: ReportJson) -> Markup:
    parts = [sentence(row["message"])]
    if row["witness"]:
        parts.append(Markup("For example {}").format(_code(row["witness"])))
    if row["help"]:
        parts.append(sentence(row["help"]))
    return Markup("<br>").join(parts)


def _place(place: ReportJson | None) -> Markup:
    if place is None:
        return Markup("")
    where = place["source"] + (f":{place['line']}:{place['column']}" if place["line"] else "")
    path = Markup("<br>{}").format(_code(place["path"])) if place["path"] else Markup("")
    return Markup("{}{}").format(visible(where), path)


def _code(text: str) -> Markup:
    return Markup("<code>{}</code>").format(visible(text.rstrip()))


def _suppressed(rows: Sequence[ReportJson]) -> list[Markup]:
    if not rows:
        return [Markup("<p>None.</p>")]
    cells = (
        (row["code"], _told(row), _place(row["place"]), row["reason"], row["until"] or "no end", row["by"] or "")
        for row in rows
    )
    head = ("Code", "Finding", "Place", "Why it is accepted", "Until", "Accepted at")
    return [table_html("Findings that are known and accepted", head, cells)]


def _reach(rows: Sequence[ReportJson]) -> Iterator[Markup]:
    cells = ((row["name"], _code(row["query"]), row["answer"], sentence(row["words"])) for row in rows)
    yield table_html("Who gets there, through any chain", ("To", "Query", "Answer", "In words"), cells)
    for row in rows:
        if row["chains"]:
            lines = ((chain["start"], _hops(chain), _end(chain["end"])) for chain in row["chains"])
            shown = f"Entrances to {row['name']}"
            if row["reaching"] > len(row["chains"]):
                shown += f", {len(row['chains'])} of {row['reaching']}"
            yield table_html(shown, ("From", "By", "Then"), lines)
        yield from _listed([f"undecided: {text}" for text in row["undecided"]], "")
    assumed = list(dict.fromkeys(text for row in rows for text in row["assumptions"]))
    if assumed:
        yield Markup("<h3>Assumed</h3>")
        yield from _listed(assumed, "")


def _hops(chain: ReportJson) -> Markup:
    if not chain["hops"]:
        return Markup("itself")
    return Markup("<ol>{}</ol>").format(
        Markup("").join(Markup("<li>{}</li>").format(sentence(hop)) for hop in chain["hops"])
    )


def _end(end: ReportJson) -> Markup:
    parts = [_code(end["call"])]
    for grant in end["grants"]:
        where = f" ({grant['place']})" if grant["place"] else ""
        parts.append(Markup("by {}{}").format(_code(grant["grant"]), visible(where)))
    return Markup("<br>").join(parts)


def _retries(retry: ReportJson | None) -> Iterator[Markup]:
    if retry is None:
        yield Markup("<p>The retry policies cannot be read.</p>")
        return
    cells = (
        (
            row["policy"],
            row["attempts"],
            row["totalWait"],
            row["bounded"],
            "yes" if row["storm"] else "no",
            str(row["sites"]),
        )
        for row in retry["words"]
    )
    head = ("Policy", "Attempts", "Total wait", "Bounded", "Storm", "Sites")
    yield table_html("Where retries end", head, cells)


def _sagas(agents: Sequence[ReportJson]) -> Iterator[Markup]:
    asked = [(agent["agent"], agent["saga"]) for agent in agents if agent["saga"] is not None]
    if not asked:
        return
    cells = (
        (name, saga["admitted"], saga["bounded"], saga["replayStable"], _lines(saga["warnings"]))
        for name, saga in asked
    )
    head = ("Agent type", "Admitted", "Bounded", "Replay-stable", "Warnings")
    yield table_html("A saga that fails at every attempt", head, cells)


def _lines(texts: Iterable[str]) -> Markup:
    return Markup("<br>").join(map(sentence, texts))


def _chains(rows: Sequence[ReportJson]) -> list[Markup]:
    if not rows:
        return [Markup("<p>No tools with middleware.</p>")]
    cells = (
        (row["tool"], " → ".join(row["layers"]) or "no middleware", ", ".join(row["agents"]), row["verdict"])
        for row in rows
    )
    return [table_html("Tools and what stands before them", ("Tool", "Layers", "Agent types", "Verdict"), cells)]


def _cards(agents: Sequence[ReportJson]) -> Iterator[Markup]:
    if not agents:
        yield Markup("<p>The deployment has no agent types.</p>")
    for agent in agents:
        yield Markup("<h3>{}</h3>").format(visible(agent["agent"]))
        where = f" ({agent['place']})" if agent["place"] else ""
        component = f"component {agent['component']}" if agent["component"] else "component not known"
        ceiling = "" if agent["hasCeiling"] else " No ceiling."
        yield Markup("<p>{}{}; {}.{}</p>").format(visible(agent["origin"]), visible(where), visible(component), ceiling)
        yield from _listed([f"replaces as a whole: {layer}" for layer in agent["replaces"]], "")
        yield from _listed([f"cannot be read: {text}" for text in agent["unreadable"]], "")
        cells = (
            (
                BOUNDS[grant["bound"]],
                _code(grant["written"]),
                _code(grant["filled"]) if grant["filled"] != grant["written"] else "",
                ", ".join(text for text in (grant["place"], grant["origin"]) if text),
            )
            for grant in agent["grants"]
        )
        yield table_html(f"Card of {agent['agent']}", ("List", "Grant", "Filled", "From"), cells)
        yield from _listed(agent["notes"], "")


def _listed(texts: Sequence[str], otherwise: str) -> list[Markup]:
    if not texts:
        return [Markup("<p>{}</p>").format(otherwise)] if otherwise else []
    return [Markup("<ul>{}</ul>").format(Markup("").join(Markup("<li>{}</li>").format(sentence(t)) for t in texts))]
