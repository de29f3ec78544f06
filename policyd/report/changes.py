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
    out = []
    for holder in changes["holders"]:
        out.append(holder_line(holder, examples))
        shown = [w for key in ("started", "stopped") for w in holder[key]["witnesses"][:examples]]
        out += [f"  {line}" for witness in shown for line in check_lines(witness)]
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
            kinds = "kind of call" if side["count"] == 1 else "kinds of calls"
            parts.append(
                f"{side['count']} {kinds} {words}, e.g. "
                + "; ".join(example(w, holder["name"]) for w in side["witnesses"][:examples])
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


def example(witness: Mapping[str, Any], name: str) -> str:
    """A call with the grants that cause it, what stood in its way, and who asks it where the name does not say."""
    agent = witness["agent"]
    why = [
        witness["cause"],
        witness["obstacle"] and f"otherwise {witness['obstacle']}",
        agent and not name.endswith(agent) and f"asked by {agent}",
    ]
    told = ", ".join(w for w in why if w)
    call: str = witness["call"]
    return call.rstrip() + (f" ({told})" if told else "")


def check_lines(witness: Mapping[str, Any]) -> list[str]:
    """The command lines that decide a witness again, with what they answer; none where there are none."""
    lines = [f"{'yes' if check['admitted'] else 'no'}: {check['command']}" for check in witness.get("checks", ())]
    return (
        lines
        if witness.get("canBeWritten", True)
        else ["no text of a target says this call, so `check` cannot be asked"]
    )


def _agent(witness: Mapping[str, Any], name: str) -> str:
    agent: str = witness["agent"]
    return name if not agent or name.endswith(agent) else f"{name}, asked by {agent}"


def _undecided(holder: Mapping[str, Any]) -> bool:
    return any(holder[key]["undecided"] for key in ("started", "stopped"))


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
                f"| {sign} | {_cell(_agent(w, holder['name']))} | `{_cell(w['call'].rstrip())}`"
                f" | {_cell(w['cause'])} | {_cell(w['obstacle'])} |"
                for w in side["witnesses"]
            ]
            if side["more"]:
                rows.append(f"| {sign} | {name} | and {side['more']} more kinds | | |")
            rows += [f"| ? | {name} | undecided: {_cell(reason)} | | |" for reason in side["undecided"]]
    if rows:
        out += ["| | agent | call | by | otherwise |", "|---|---|---|---|---|", *rows, ""]
    known = [h for h in changes["holders"] if not _undecided(h)]
    same = [h["name"] for h in known if not h["started"]["count"] and not h["stopped"]["count"]]
    if same:
        out.append(f"No change for {', '.join(_cell(name) for name in same)}.")
    if known:
        but = "" if len(known) == len(changes["holders"]) else ", undecided ones aside"
        out.append(f"Everything else is the same, proved over all {known[0]['classes']} classes{but}.")
    out += [f"- {_cell(note)}" for note in changes["notes"]]
    return "\n".join(out)


def _cell(text: str) -> str:
    return visible(text.replace("\n", " ")).replace("|", "\\|").replace("`", "'")


_LEVELS = (("started", "warning", "newly admitted"), ("stopped", "notice", "no longer admitted"))


def changes_github(changes: ChangesJson) -> str:
    """Workflow annotations: new access and what is undecided as warnings, lost access as notices."""
    out = [
        f"::{level} title=policyd {_property(holder['name'])}::{words}: {_data(example(w, holder['name']))}"
        for holder in changes["holders"]
        for key, level, words in _LEVELS
        for w in holder[key]["witnesses"]
    ]
    out += [
        f"::{level} title=policyd {_property(holder['name'])}::{words}: {_data(rest)}"
        for holder in changes["holders"]
        for key, level, words in _LEVELS
        for rest in _rest(holder[key])
    ]
    return "\n".join(out) or "::notice title=policyd::no change in what agents may do"


def _rest(side: Mapping[str, Any]) -> list[str]:
    """What a list of witnesses leaves out of one direction: further kinds, and what is undecided."""
    more = [f"{side['more']} more kinds of calls"] if side["more"] else []
    return [*more, *(f"undecided: {reason}" for reason in side["undecided"])]


def _data(text: str) -> str:
    return visible(text).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def changes_sarif(changes: ChangesJson, version: str) -> dict[str, object]:
    """One result per witness, and one for whatever a list of witnesses leaves out."""
    results: Sequence[dict[str, object]] = [
        {
            "ruleId": "new-access" if key == "started" else "lost-access",
            "level": "warning" if key == "started" else "note",
            "message": {"text": f"{holder['name']}: {text}"},
        }
        for holder in changes["holders"]
        for key in ("started", "stopped")
        for text in (*(example(w, holder["name"]) for w in holder[key]["witnesses"]), *_rest(holder[key]))
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
