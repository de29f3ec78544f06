"""CARD015: an upper bound that is written but holds nothing. Page: empty_ceiling.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every effective card whose `upperBound` has neither positives nor negatives."""
    for card in subject.explicit_cards:
        if card.agent.initial_card.span in subject.empty_ceilings:
            yield rule.finding(
                f"the empty upper bound of agent type {shown(card.agent.name)} limits nothing: no positive means no"
                " ceiling",
                card.span,
                help="list under `upperBound.positive` the most that may ever get through, or remove `upperBound`",
            )


RULE = Rule("CARD015", "empty_ceiling", Severity.INFO, Confidence.CERTAIN, check)
