"""HOST001: self-view beside filtered env or config. Page: self_view_exposes.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, self_view
from policyd.analysis.hidden import hidden_names
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown

MAX_RELATED = 5
"""So many hidden names are shown."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card that admits reading the own metadata while it keeps variables or config values back."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        target = self_view(card)
        granting = index.lends(target)
        if granting is None or not index.lets_through(target):
            continue
        hidden = hidden_names(subject, card)
        if not hidden:
            continue
        yield rule.finding(
            f"self-view shows agents of {shown(card.agent.name)} what their card keeps back: {hidden[0].words}",
            granting.placed.span or card.span,
            help="the own metadata carries all variables and config values unfiltered: drop `agent : view`, or open"
            " what need not be hidden",
            related=[Related(f"{name.words} is not readable otherwise", name.span) for name in hidden[:MAX_RELATED]],
            witness=call_text(target),
        )


RULE = Rule("HOST001", "self_view_exposes", Severity.ERROR, Confidence.CERTAIN, check)
