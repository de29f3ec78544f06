"""CARD006: an explicit card that grants nothing. Page: empty.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import over_calls
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.application import GrantOrigin
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every explicit card without a single lower positive grant of its own."""
    for card in subject.explicit_cards:
        if not card.is_readable:
            continue
        lower = card.agent.initial_card.lower_positive
        if any(placed.origin is GrantOrigin.WRITTEN for placed in lower):
            continue
        files = ", files aside" if lower else ""
        yield rule.finding(
            f"the card of agent type {shown(card.agent.name)} grants nothing, so every request is refused{files}",
            card.span,
            related=[Related(f"proved for {over_calls(card)}", card.span)],
            help="remove `initialCard` for the default card, or list what the agents need under `lowerBound.positive`",
        )


RULE = Rule("CARD006", "empty", Severity.WARNING, Confidence.CERTAIN, check)
