"""CARD008: a card of a preset that replaces the base card as a whole. Page: replaced.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every effective card that takes the place of a weaker layer's card."""
    for card in subject.explicit_cards:
        initial = card.agent.initial_card
        if not initial.replaced:
            continue
        layer, span = initial.replaced[-1]
        has_ceiling = bool(initial.upper_positive or initial.upper_negative)
        is_lost = not has_ceiling and any(place in subject.limiting for _, place in initial.replaced)
        lost = ": its upper bound is lost" if is_lost else ": nothing of it is merged"
        yield rule.finding(
            f"the card of {shown(initial.layer)} replaces that of {shown(layer)} as a whole{lost}",
            card.span,
            help="repeat here every grant, negative and upper bound of the replaced card that is still wanted",
            related=(Related("this card is not in force", span),),
            severity=Severity.WARNING if is_lost else None,
        )


RULE = Rule("CARD008", "replaced", Severity.INFO, Confidence.CERTAIN, check)
