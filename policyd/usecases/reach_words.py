"""Answers about chains as text, JSON, a table, a graph description and a picture.

Source: questions 2 (reach); interface, `reach`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policyd.findings import Span, visible_lines
from policyd.report.as_markdown import markdown_code, markdown_text
from policyd.report.chains_svg import Arrow, chains_svg
from policyd.usecases.reach import Blast, Chain, Reach
from policyd.usecases.reach_graph import MAX_DRAWN, ranks
from policyd.usecases.reach_hops import Hop, HopCall
from policyd.usecases.reach_nodes import EXTERNAL

MAX_TOLD = 12
"""So many chains are told in full; the others are named."""


def reach_text(reach: Reach) -> str:
    """The answer for a terminal."""
    out = [headline(reach)]
    for chain in reach.chains[:MAX_TOLD]:
        out += ["", f"{chain.start}: {_length(chain)}", *_hops(chain.hops), *_call(chain.end, "  then ")]
    rest = [chain.start for chain in reach.chains[MAX_TOLD:]]
    if rest:
        more = reach.reaching - MAX_TOLD
        out += ["", f"and {more} more, such as {', '.join(rest[:10])}"]
    return visible_lines([*out, "", *_closing(reach)])


def headline(reach: Reach) -> str:
    """The answer in one sentence."""
    who = reach.asked or "anybody"
    match reach.word:
        case "path":
            if reach.asked:
                return f"path: {reach.asked} gets to {reach.claim}"
            outside = any(chain.start == EXTERNAL for chain in reach.chains)
            count = reach.reaching - outside
            whoever = f"{count} of {reach.actors} actors{' and the outside' if outside else ''}"
            return f"path: {whoever} get{'s' if count == 1 and not outside else ''} to {reach.claim}"
        case "none":
            return (
                f"none: no chain leads from {who} to {reach.claim} (proved over {reach.actors} actors and the outside)"
            )
        case _ if reach.chains:
            return f"undecided: whether {who} gets to {reach.claim} depends on names that the input does not tell"
        case _:
            return f"undecided: no chain was found from {who} to {reach.claim}, but not everything is known"


def _length(chain: Chain) -> str:
    count = len(chain.hops)
    return "by itself" if not count else f"in {count} hop{'' if count == 1 else 's'}"


def _hops(hops: Iterable[Hop]) -> Iterator[str]:
    for number, hop in enumerate(hops, 1):
        yield f"  {number}. {hop.words}"
        for call in hop.calls:
            yield from _call(call, "     ")
        if hop.place is not None:
            yield f"     opened at {hop.place.where}"
        if hop.condition:
            yield f"     if {hop.condition}"


def _call(call: HopCall, lead: str) -> Iterator[str]:
    yield f"{lead}{call.who}: {call.target.rstrip()}"
    pad = " " * len(lead)
    for text, place in call.grants:
        yield f"{pad}by {text}{_at(place)}"


def _at(place: Span | None) -> str:
    return f" ({place.where})" if place is not None else ""


def _closing(answer: Reach | Blast) -> Iterator[str]:
    for text in answer.undecided:
        yield f"undecided: {text}"
    for text in answer.assumptions:
        yield f"assumed: {text}"
    yield f"edition: {answer.rules.label}"


def blast_text(blast: Blast) -> str:
    """What one actor can bring about, for a terminal."""
    out = [blast_headline(blast)]
    for touched in blast.touched[: MAX_TOLD * 2]:
        names = ", ".join(name for name, _ in touched.classes) or "nothing"
        out += ["", f"{touched.name}: {names}", *_hops(touched.chain)]
        out += [f"  e.g. {call.target.rstrip()}" for _, call in touched.classes[:4]]
    if blast.others >= MAX_TOLD * 2:
        out += ["", f"and {blast.others + 1 - MAX_TOLD * 2} more"]
    return visible_lines([*out, "", *_closing(blast)])


def blast_headline(blast: Blast) -> str:
    """What one actor can bring about, in one sentence."""
    gained = f"; only through others: {', '.join(blast.gained)}" if blast.gained else ""
    return f"{blast.start} comes by what {blast.others} of {blast.actors} actors can{gained}"


def reach_json(reach: Reach) -> dict[str, object]:
    """The answer on the wire."""
    return {
        "claim": reach.claim,
        "answer": reach.word,
        "from": reach.asked or None,
        "actors": reach.actors,
        "reaching": reach.reaching,
        "chains": [
            {"start": c.start, "hops": [_hop_json(h) for h in c.hops], "end": _call_json(c.end)} for c in reach.chains
        ],
        **_closing_json(reach),
    }


def blast_json(blast: Blast) -> dict[str, object]:
    """What one actor can bring about, on the wire."""
    return {
        "from": blast.start,
        "actors": blast.actors,
        "others": blast.others,
        "gained": list(blast.gained),
        "touched": [
            {
                "name": t.name,
                "hops": [_hop_json(h) for h in t.chain],
                "classes": [{"class": name, "call": _call_json(call)} for name, call in t.classes],
            }
            for t in blast.touched
        ],
        **_closing_json(blast),
    }


def _closing_json(answer: Reach | Blast) -> dict[str, object]:
    return {
        "assumptions": list(answer.assumptions),
        "undecided": list(answer.undecided),
        "edition": answer.rules.edition.value,
        "switches": dict(answer.rules.overrides),
    }


def _hop_json(hop: Hop) -> dict[str, object]:
    return {
        "from": hop.actor.name,
        "to": hop.subject.name,
        "way": hop.way.id,
        "words": hop.words,
        "condition": hop.condition or None,
        "calls": [_call_json(call) for call in hop.calls],
        "place": _place_json(hop.place),
        "source": hop.way.source,
    }


def _call_json(call: HopCall) -> dict[str, object]:
    return {
        "who": call.who,
        "target": call.target,
        "grants": [{"grant": text, "place": _place_json(place)} for text, place in call.grants],
    }


def _place_json(place: Span | None) -> dict[str, object] | None:
    if place is None:
        return None
    return {"source": place.source, "line": place.line, "column": place.column, "path": place.path}


def reach_markdown(reach: Reach) -> str:
    """The chains as a table, one row per hop."""
    out = [f"### {markdown_text(headline(reach))}", "", "| start | hop | what | call |", "|---|---|---|---|"]
    for chain in reach.chains[:MAX_TOLD]:
        for number, hop in enumerate(chain.hops, 1):
            calls = "<br>".join(markdown_code(call.target.rstrip()) for call in hop.calls)
            out.append(f"| {markdown_code(chain.start)} | {number} | {markdown_text(hop.words)} | {calls} |")
        out.append(f"| {markdown_code(chain.start)} | end | | {markdown_code(chain.end.target.rstrip())} |")
    return "\n".join([*out, "", *(f"- {markdown_text(text)}" for text in _closing(reach)), ""])


def drawn(answer: Reach | Blast) -> tuple[Hop, ...]:
    """The hops of a picture: those of the shortest chains, each once."""
    lists = [c.hops for c in answer.chains] if isinstance(answer, Reach) else [t.chain for t in answer.touched]
    return tuple(dict.fromkeys(hop for hops in lists[:MAX_DRAWN] for hop in hops))


def reach_svg(answer: Reach | Blast, *, is_embedded: bool = False) -> str:
    """The chains as a picture; `is_embedded` within a page."""
    hops = drawn(answer)
    columns = [[node.name for node in column] for column in ranks(hops)]
    if not columns:
        names = [c.start for c in answer.chains] if isinstance(answer, Reach) else [t.name for t in answer.touched]
        columns = [list(dict.fromkeys(names[:MAX_DRAWN]))]
    arrows = [Arrow(h.actor.name, h.subject.name, h.way.id, _title(h)) for h in hops]
    title = headline(answer) if isinstance(answer, Reach) else blast_headline(answer)
    return chains_svg(columns, arrows, title, is_embedded=is_embedded)


def reach_dot(answer: Reach | Blast) -> str:
    """The chains in the language of Graphviz."""
    rows = [
        f"  {_dot(h.actor.name)} -> {_dot(h.subject.name)} [label={_dot(h.way.id)}, tooltip={_dot(_title(h))}];"
        for h in drawn(answer)
    ]
    return "\n".join(["digraph reach {", "  rankdir=LR;", "  node [shape=box];", *rows, "}"]) + "\n"


def _title(hop: Hop) -> str:
    return "; ".join([hop.words, *(call.target.rstrip() for call in hop.calls)])


def _dot(text: str) -> str:
    shown = visible_lines([text]).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{shown}"'
