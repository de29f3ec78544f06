"""CARD025: a deployer without `card : derive`, which a design text asks for. Page: no_derive.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants import ANY_VERB
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report a deployer none of whose cards lends deriving cards, where a card is to be derived."""
    if not subject.deployer or not subject.cards:
        return
    lends = any(
        grant.target.cls.name == "card" and grant.target.verb in (ANY_VERB, "derive")
        for card in subject.deployer
        for grant in card.bounds.lower_positive
    )
    if not lends:
        yield rule.finding(
            "no card of the deployer grants `card : derive`: a deploy does not need it, but a design text asks for it",
            subject.deployment.environment_span,
            help="grant `card : derive` to the deployer to be safe with a later platform",
        )


RULE = Rule("CARD025", "no_derive", Severity.INFO, Confidence.POSSIBLE, check)
