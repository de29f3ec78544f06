"""Differences for people and for pull requests: text, Markdown, GitHub annotations, JSON.

The functions take the plain structure of `changes_json`, so that every front end shows the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from policyd.findings import visible, visible_lines

ChangesJson = Mapping[str, Any]


def changes_text(changes: ChangesJson, *, examples: int = 3) -> str:
    """One paragraph per agent type, then what was assumed."""
    out = [holder_line(holder, examples) for holder in changes["holders"]]
    if not out:
        out.append("no agents to compare")
    out += [f"note: {note}" for note in changes["notes"]]
    out.append(f"edition: {changes['edition']}")
    return visible_lines(out)


def holder_line(holder: Mapping[str, Any], examples: int) -> str:
    """What changes for one agent type, in one sentence."""
    parts = []
    for key, words in (("started", "newly admitted"), ("stopped", "no longer admitted")):
        side = holder[key]
        if side["count"]:
            kinds = "kind of calls" if side["count"] == 1 else "kinds of calls"
            parts.append(
                f"{side['count']} {kinds} {words}, e.g. " + "; ".join(example(w) for w in side["witnesses"][:examples])
            )
        if side["undecided"]:
            parts.append(f"undecided, {words}: {'; '.join(side['undecided'])}")
    proved = f"proved over all {holder['classes']} classes"
    if not parts:
        return f"{holder['name']}: no change ({proved})"
    rest = (
        ""
        if any(holder[k]["undecided"] for k in ("started", "stopped"))
        else f"; everything else is the same ({proved})"
    )
    return f"{holder['name']}: " + "; ".join(parts) + rest


def example(witness: Mapping[str, str]) -> str:
    """A call with the grants that cause it and what stood in its way."""
    why = [witness["cause"], witness["obstacle"] and f"otherwise {witness['obstacle']}"]
    told = ", ".join(w for w in why if w)
    return witness["call"].rstrip() + (f" ({told})" if told else "")


def changes_markdown(changes: ChangesJson) -> str:
    """A comment for a pull request."""
    started = sum(h["started"]["count"] for h in changes["holders"])
    stopped = sum(h["stopped"]["count"] for h in changes["holders"])
    out = [f"### policyd: {started} newly admitted, {stopped} no longer admitted", ""]
    rows: list[str] = []
    for holder in changes["holders"]:
        for key, sign in (("started", "+"), ("stopped", "−")):
            side = holder[key]
            name = _cell(holder["name"])
            rows += [
                f"| {sign} | {name} | `{_cell(w['call'].rstrip())}` | {_cell(w['cause'])} | {_cell(w['obstacle'])} |"
                for w in side["witnesses"]
            ]
            if side["more"]:
                rows.append(f"| {sign} | {name} | and {side['more']} more kinds | | |")
            rows += [f"| ? | {name} | undecided: {_cell(reason)} | | |" for reason in side["undecided"]]
    if rows:
        out += ["| | agent | call | by | otherwise |", "|---|---|---|---|---|", *rows, ""]
    same = [h["name"] for h in changes["holders"] if not h["started"]["count"] and not h["stopped"]["count"]]
    if same:
        out.append(f"No change for {', '.join(_cell(name) for name in same)}.")
    if changes["holders"]:
        out.append(f"Everything else is the same, proved over all {changes['holders'][0]['classes']} classes.")
    out += [f"- {_cell(note)}" for note in changes["notes"]]
    return "\n".join(out)


def _cell(text: str) -> str:
    return visible(text.replace("\n", " ")).replace("|", "\\|").replace("`", "'")


_LEVELS = (("started", "warning", "newly admitted"), ("stopped", "notice", "no longer admitted"))


def changes_github(changes: ChangesJson) -> str:
    """Workflow annotations: new access as warnings, lost access as notices."""
    out = [
        f"::{level} title=policyd {_property(holder['name'])}::{words}: {_data(example(w))}"
        for holder in changes["holders"]
        for key, level, words in _LEVELS
        for w in holder[key]["witnesses"]
    ]
    return "\n".join(out) or "::notice title=policyd::no change in what agents may do"


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def changes_sarif(changes: ChangesJson, version: str) -> dict[str, object]:
    """One result per witness."""
    results: Sequence[dict[str, object]] = [
        {
            "ruleId": "new-access" if key == "started" else "lost-access",
            "level": "warning" if key == "started" else "note",
            "message": {"text": f"{holder['name']}: {example(w)}"},
        }
        for holder in changes["holders"]
        for key in ("started", "stopped")
        for w in holder[key]["witnesses"]
    ]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "policyd",
                        "version": version,
                        "rules": [{"id": "new-access"}, {"id": "lost-access"}],
                    }
                },
                "results": list(results),
            }
        ],
    }
