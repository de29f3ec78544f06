"""An answer as a person reads it on a terminal."""

from __future__ import annotations

from policyd.core.admission import Facet, FacetName, Reason, Why
from policyd.explain.prose import headline
from policyd.report import Lines, finding_text, snippet
from policyd.usecases.answer import Answer

_SIDES = (
    ("floor", {Why.GRANTED, Why.NOT_GRANTED, Why.FORBIDDEN, Why.ELSEWHERE, Why.EXPIRED, Why.REVOKED, Why.NO_CARDS}),
    ("ceilings", {Why.LETS_THROUGH, Why.WITHHELD, Why.CEILING_FORBIDS}),
    ("exceptions", {Why.PART_DENIED}),
    ("invocation", {Why.SCOPE_REFUSED}),
    ("names", {Why.SOME_INSTANCES, Why.NAME_DECIDES}),
)


def answer_text(answer: Answer, lines: Lines) -> str:
    """The verdict in one line, one sentence, then the reasons with their places, floor and ceilings apart."""
    verdict = answer.verdict
    out = [verdict.line, headline(verdict, answer.who, answer.target, answer.naming), ""]
    admitted = verdict.because(FacetName.ADMITTED)
    for side, kinds in _SIDES:
        reasons = [r for r in admitted if r.why in kinds]
        if reasons:
            out.append(f"{side}:")
            for reason in reasons:
                out += _reason(answer, reason, lines)
    if not any(r.why in _SIDES[1][1] for r in admitted) and verdict.admitted is not Facet.UNKNOWN:
        out += ["ceilings:", "  none stands in the way"]
    for name in (FacetName.BOUNDED, FacetName.REPLAY_STABLE):
        out.append(f"{name.value}: {verdict.of(name).value}")
        for reason in verdict.because(name):
            out += _reason(answer, reason, lines)
    if verdict.holds_from or verdict.holds_until:
        start = verdict.holds_from.text if verdict.holds_from else "the beginning"
        end = verdict.holds_until.text if verdict.holds_until else "further notice"
        out.append(f"holds from {start} until {end}")
    for note in answer.notes:
        out.append(f"note: {note}")
    out.append(f"edition: {answer.rules.label}")
    for finding in answer.findings:
        out += ["", finding_text(finding, lines)]
    return "\n".join(out)


def _reason(answer: Answer, reason: Reason, lines: Lines) -> list[str]:
    out = [f"  {answer.sentence(reason)} [{reason.why.value}]"]
    for ref in reason.refs:
        place = answer.places.get(ref)
        if place is None:
            continue
        if place.span is None:
            out.append(f"    --> {place.origin}: {place.text}")
            continue
        out.append(f"    --> {place.span.where}  {place.origin}")
        out += [f"    {line}" for line in snippet(place.span, lines)]
    return out
