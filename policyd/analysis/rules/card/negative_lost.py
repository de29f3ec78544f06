"""CARD003: a negative of the deployer that the card does not restate. Page: negative_lost.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.deploy import judge
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import TooBroad
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card that drops a lower or upper negative of the cards it would be derived from."""
    for card in subject.cards:
        if not card.is_readable:
            continue
        outcome = judge(subject, card)
        lower = [o for o in outcome.lower if o.refusal.rule == "A2"]
        if lower:
            places = [
                Related("granted only by a parent with that negative", o.placed.span) for o in lower if o.placed.span
            ]
            yield _finding(rule, card, lower[0].refusal, "lowerBound", places[:5])
        if outcome.upper is not None and outcome.upper.rule == "A4":
            yield _finding(rule, card, outcome.upper, "upperBound", [])


def _finding(rule: Rule, card: AuditedCard, refusal: TooBroad, bound: str, related: list[Related]) -> Finding:
    missing = refusal.missing
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return rule.finding(
        f"the card of agent type {shown(card.agent.name)} does not restate an inherited negative:"
        f" {shown(missing[0].text)}{more}",
        card.span,
        help=f"add it, with its owner as written, under `{bound}.negative`; a negative with `?agent` as owner does not"
        " cover one on a whole agent type",
        related=related,
    )


RULE = Rule("CARD003", "negative_lost", Severity.ERROR, Confidence.CERTAIN, check)
