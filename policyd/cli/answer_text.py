"""An answer as a person reads it on a terminal."""

from __future__ import annotations

from policyd.explain.prose import headline
from policyd.findings import visible_lines
from policyd.report import Lines, finding_text, snippet
from policyd.usecases.answer import Answer
from policyd.usecases.answer_sections import ToldReason, sections


def answer_text(answer: Answer, lines: Lines) -> str:
    """The verdict in one line, one sentence, then the reasons with their places, floor and ceilings apart."""
    verdict = answer.verdict
    out = [verdict.line, headline(verdict, answer.who, answer.target, answer.naming), ""]
    for section in sections(answer):
        out.append(f"{section.title}: {section.facet}" if section.facet else f"{section.title}:")
        for reason in section.reasons:
            out += _reason(reason, lines)
        if section.remark:
            out.append(f"  {section.remark}")
    if verdict.holds_from or verdict.holds_until:
        start = verdict.holds_from.text if verdict.holds_from else "the beginning"
        end = verdict.holds_until.text if verdict.holds_until else "further notice"
        out.append(f"holds from {start} until {end}")
    for note in answer.notes:
        out.append(f"note: {note}")
    out.append(f"edition: {answer.rules.label}")
    return "\n\n".join([visible_lines(out), *(finding_text(finding, lines) for finding in answer.findings)])


def _reason(reason: ToldReason, lines: Lines) -> list[str]:
    out = [f"  {reason.text} [{reason.code}]"]
    for place in reason.places:
        if place.span is None:
            out.append(f"    --> {place.origin}: {place.text}")
            continue
        out.append(f"    --> {place.span.where}  {place.origin}")
        out += [f"    {line}" for line in snippet(place.span, lines)]
    return out
