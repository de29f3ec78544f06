"""CARD002: an upper bound that is wider than the deployer's. Page: deploy_upper.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.deploy import judge
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import Bound, TooBroad, deploy_envelopes
from policyd.findings import Confidence, Finding, Severity, Span
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card whose ceiling is missing, or wider than a ceiling that the deployer is under."""
    for card in subject.cards:
        if not card.is_readable:
            continue
        refusal = judge(subject, card).upper
        if refusal is None or refusal.rule == "A4":
            continue
        named = refusal.missing[0].text if refusal.missing else ""
        if refusal.rule == "A6":
            yield rule.finding(
                "upper bound lets more through than the ceiling of a parent card",
                _place(card, refusal),
                help=f"stay within the parent's ceiling {shown(named)}",
            )
            continue
        missing = "has no upper bound" if not card.of_bound(Bound.UPPER_POSITIVE) else "has an upper bound for others"
        yield rule.finding(
            f"the card of agent type {shown(card.agent.name)} {missing}, but a parent card has a ceiling, which must"
            " stay",
            card.span,
            help=f"add an `upperBound.positive` inside {shown(named)}, for recipients that include its own",
        )


def _place(card: AuditedCard, refusal: TooBroad) -> Span:
    envelopes = deploy_envelopes(card.agent.initial_card.bounds(card.context))
    for index, grant in enumerate(envelopes.upper_positive):
        if grant == refusal.grant:
            return card.agent.initial_card.upper_positive[index].span or card.span
    return card.span


RULE = Rule("CARD002", "deploy_upper", Severity.ERROR, Confidence.CERTAIN, check)
