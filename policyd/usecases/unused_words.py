"""Unused authority in words: text, Markdown and JSON from one structure.

Source: interface, Flags (`--format`); style 8.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.cards import Bound
from policyd.findings import Span, visible_lines
from policyd.report.as_markdown import markdown_code, markdown_text
from policyd.usecases.changes import HolderChange, Side
from policyd.usecases.unused_answer import GrantState, GrantUse, HolderUse, Unused
from policyd.usecases.unused_least import Least
from policyd.usecases.unused_seen import SeenLog

MAX_NAMED = 3
"""So many operations without a trace are named for one grant; the others are counted."""


def unused_text(answer: Unused) -> str:
    """The answer for a terminal: per holder what was never used and the least card, then what was not observable."""
    log = answer.log
    out = [f"{answer.source}, {answer.window.start.text} to {answer.window.end.text}: {counted(log)}"]
    silent = [h.name for h in answer.holders if h.seen is None]
    for holder in answer.holders:
        if holder.seen is not None:
            out += ["", *_holder(holder)]
    if silent:
        out += ["", f"no line of: {', '.join(silent)} (nothing is said about their grants)"]
    if answer.unreadable:
        out += ["", f"cards that cannot be read: {', '.join(answer.unreadable)}"]
    if log.drift_count:
        out += ["", f"the log contradicts the cards in {_lines(log.drift_count)}; these count as no use:"]
        out += [f"  line {d.number}: {d.holder}: {d.asked}: {_drift(d.logged)}" for d in log.drift]
        out += _more(log.drift_count - len(log.drift))
    out += ["", "not observable:", *(f"  {text}" for text in unobserved(answer))]
    if log.bad_count:
        out += ["", f"{_lines(log.bad_count)} not understood:"]
        out += [f"  line {bad.number}: {bad.code}: {bad.message}" for bad in log.bad]
        out += _more(log.bad_count - len(log.bad))
    out += [f"note: {note}" for note in answer.notes]
    out.append(f"edition: {answer.rules.label}")
    return visible_lines(out)


def counted(log: SeenLog) -> str:
    """How many lines there are, and how many count."""
    return f"{log.used} of {_lines(log.lines)} count"


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _more(count: int) -> list[str]:
    return [f"  and {count} more"] if count > 0 else []


def _drift(logged: str) -> str:
    return (
        "logged as admitted, but the cards refuse it"
        if logged == "admitted"
        else "logged as denied, but the cards admit it"
    )


def _holder(holder: HolderUse) -> Iterator[str]:
    seen = holder.seen
    assert seen is not None  # holders without lines are listed apart
    calls = "1 call" if seen.calls == 1 else f"{seen.calls} calls"
    yield f"{holder.name}: {calls}, {summary(holder)}"
    for grant in holder.unused:
        yield f"  never used: {_told(grant)}{_where(grant.place)}{trace_words(grant)}"
    for grant in holder.grants:
        if grant.state is GrantState.IDLE:
            yield f"  stopped nothing: {_told(grant)}{_where(grant.place)}"
        elif grant.state is GrantState.UNUSED and grant.ref.bound is Bound.UPPER_POSITIVE:
            yield f"  let nothing through: {_told(grant)}{_where(grant.place)}"
    if holder.least is not None:
        yield from (f"  {line}" for line in least_lines(holder.least))


def _told(grant: GrantUse) -> str:
    return f"{grant.ref.bound.words}: {grant.written.rstrip()}"


def _where(place: Span | None) -> str:
    return f"  ({place.where})" if place is not None else ""


def summary(holder: HolderUse) -> str:
    """How many grants are in which state."""
    counts: dict[str, int] = {}
    for grant in holder.grants:
        word = grant.state.value
        if grant.state is GrantState.UNUSED and not grant.is_removable:
            word = "of the ceiling unused" if not grant.ref.bound.is_lower else f"unused, {_origin(grant)}"
        counts[word] = counts.get(word, 0) + 1
    return "; ".join(f"{count} {word}" for word, count in counts.items()) or "no grants"


def _origin(grant: GrantUse) -> str:
    return grant.origin.value if grant.origin else "of a card"


def trace_words(grant: GrantUse) -> str:
    """That use of a grant may leave no trace, with the operations."""
    if not grant.untraced:
        return ""
    named = ", ".join(grant.untraced[:MAX_NAMED])
    more = len(grant.untraced) - MAX_NAMED
    return f"  [a log may not show {named}{f' and {more} more' if more > 0 else ''}]"


def least_lines(least: Least) -> Iterator[str]:
    """The least card with what it opens besides and what it takes away."""
    made = least.made
    if made is None:
        yield f"least card: none, {least.why_not}"
        return
    if made.refusal or made.undecided:
        yield f"least card: {'undecided, ' + made.undecided if made.undecided else 'none, ' + made.refusal}"
    else:
        yield "least card that admits all that was seen:"
        yield from (f"  {line}" for line in made.yaml.split("\n"))
        yield from (f"  # also opens: {call}" for call in made.extra)
        if not made.extra:
            yield "  # opens nothing else"
        for change in least.changes:
            yield from _taken(change)
    yield from (f"# note: {note}" for note in made.notes)


def _taken(change: HolderChange) -> Iterator[str]:
    for side, words in ((change.stopped, "takes away"), (change.started, "adds")):
        if side.count:
            kinds = "1 kind of call" if side.count == 1 else f"{side.count} kinds of calls"
            yield f"it {words} {kinds} of {change.name}, for example:"
            yield from (f"  {witness.call.rstrip()}" for witness in side.witnesses[:5])
        elif side is change.stopped and not side.undecided:
            yield f"it takes nothing away from {change.name}"
        yield from (f"undecided: {text}" for text in side.undecided)


def unobserved(answer: Unused) -> Iterator[str]:
    """What the log cannot show, one sentence each."""
    log = answer.log
    if log.outside:
        yield f"{_lines(log.outside)} outside the window"
    if log.other_edition:
        yield f"{_lines(log.other_edition)} of another edition"
    if log.elsewhere:
        yield f"{_lines(log.elsewhere)} of another account, application or environment"
    if log.without_answer:
        yield f"{_lines(log.without_answer)} whose outcome is unknown"
    if log.others:
        yield f"{_lines(log.others)} of holders that are not asked about"
    if log.type_only:
        naming = "that names" if log.type_only == 1 else "that name"
        yield f"{_lines(log.type_only)} {naming} a type and no agent: decided for an agent that no grant names"
    for names, words in (
        (log.unknown, "of a holder that the deployment does not have"),
        (log.unreadable, "of a holder whose cards cannot be read"),
        (log.unclear, "of an operation whose targets the line does not tell"),
        (log.ungated, "of an operation that asks no card"),
    ):
        for name, count in sorted(names.items()):
            yield f"{_lines(count)} {words}: `{name}`"
    if log.ignored:
        yield f"members of lines that are not known: {log.ignored}, ignored"
    untraced = sorted({id for h in answer.holders for g in h.grants for id in g.untraced})
    if untraced:
        named = ", ".join(untraced[:8]) + (f" and {len(untraced) - 8} more" if len(untraced) > 8 else "")
        yield f"operations whose decision leaves no record in an agent's log: {named}"
    yield "what an SDK reads at start-up, before a log begins"
    yield "operations that ask no card"


def unused_markdown(answer: Unused) -> str:
    """The answer as Markdown."""
    log = answer.log
    out = [f"### {markdown_text(f'Unused authority of {answer.source}')}", ""]
    out += [f"{answer.window.start.text} to {answer.window.end.text}, {counted(log)}.", ""]
    for holder in answer.holders:
        if holder.seen is None:
            continue
        out += [f"**{markdown_code(holder.name)}**: {markdown_text(summary(holder))}", ""]
        if holder.unused:
            out += ["| never used | list | place | remark |", "|---|---|---|---|"]
            for grant in holder.unused:
                place = markdown_text(grant.place.where) if grant.place else ""
                remark = markdown_text(trace_words(grant).strip())
                text = markdown_code(grant.written.rstrip())
                out.append(f"| {text} | {grant.ref.bound.words} | {place} | {remark} |")
            out.append("")
    silent = [h.name for h in answer.holders if h.seen is None]
    if silent:
        out += ["No line of: " + ", ".join(map(markdown_code, silent)) + ".", ""]
    if log.drift_count:
        out += [f"The log contradicts the cards in {_lines(log.drift_count)}:", ""]
        out += [f"- line {d.number}: {markdown_code(d.asked)}: {_drift(d.logged)}" for d in log.drift]
        out.append("")
    out += ["Not observable:", "", *(f"- {markdown_text(text)}" for text in unobserved(answer)), ""]
    return "\n".join(out)


def unused_json(answer: Unused) -> dict[str, object]:
    """The answer on the wire."""
    log = answer.log
    return {
        "source": answer.source,
        "window": {"start": answer.window.start.text, "end": answer.window.end.text},
        "log": {
            "lines": log.lines,
            "used": log.used,
            "first": log.first.text if log.first else None,
            "last": log.last.text if log.last else None,
            "outsideWindow": log.outside,
            "otherEdition": log.other_edition,
            "elsewhere": log.elsewhere,
            "withoutAnswer": log.without_answer,
            "typeOnly": log.type_only,
            "ofOthers": log.others,
            "ignoredMembers": log.ignored,
            "unknownHolders": dict(sorted(log.unknown.items())),
            "unreadableHolders": dict(sorted(log.unreadable.items())),
            "unclearOperations": dict(sorted(log.unclear.items())),
            "ungatedOperations": dict(sorted(log.ungated.items())),
            "badCount": log.bad_count,
            "bad": [{"line": b.number, "code": b.code, "message": b.message} for b in log.bad],
            "contradictionCount": log.drift_count,
            "contradictions": [
                {"line": d.number, "holder": d.holder, "asked": d.asked, "logged": d.logged} for d in log.drift
            ],
        },
        "holders": [_holder_json(holder) for holder in answer.holders],
        "unreadable": list(answer.unreadable),
        "unobserved": list(unobserved(answer)),
        "notes": list(answer.notes),
    }


def _holder_json(holder: HolderUse) -> dict[str, object]:
    seen = holder.seen
    return {
        "name": holder.name,
        "lines": seen.lines if seen else 0,
        "calls": seen.calls if seen else 0,
        "first": seen.first.text if seen and seen.first else None,
        "last": seen.last.text if seen and seen.last else None,
        "grants": [_grant_json(grant) for grant in holder.grants],
        "least": _least_json(holder.least) if holder.least is not None else None,
    }


def _grant_json(grant: GrantUse) -> dict[str, object]:
    place = grant.place
    return {
        "grant": grant.written.rstrip(),
        "card": grant.ref.card,
        "bound": grant.ref.bound.value,
        "index": grant.ref.index,
        "origin": grant.origin.value if grant.origin else None,
        "state": grant.state.value,
        "calls": grant.calls,
        "last": grant.last.text if grant.last else None,
        "untraced": list(grant.untraced),
        "place": {"source": place.source, "line": place.line, "column": place.column, "path": place.path}
        if place
        else None,
    }


def _least_json(least: Least) -> dict[str, object]:
    made = least.made
    return {
        "yaml": made.yaml if made and made.yaml else None,
        "positive": list(made.added) if made else [],
        "negative": list(made.denied) if made else [],
        "alsoOpens": list(made.extra) if made else [],
        "refusal": (made.refusal if made else least.why_not) or None,
        "undecided": (made.undecided if made else "") or None,
        "notes": list(made.notes) if made else [],
        "changes": [
            {"name": c.name, "takesAway": _side_json(c.stopped), "adds": _side_json(c.started)} for c in least.changes
        ],
    }


def _side_json(side: Side) -> dict[str, object]:
    return {
        "count": side.count,
        "calls": [witness.call.rstrip() for witness in side.witnesses],
        "undecided": list(side.undecided),
    }
