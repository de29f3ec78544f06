"""CARD011: a lower negative that cuts nothing out of its own card. Page: idle_negative.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import proved, standings_of
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower negative that no lower positive of the same card overlaps."""
    # what the deployer's cards deny has to be restated, whether it cuts anything or not
    inherited = {n.target.cls.name for parent in subject.deployer or () for n in parent.bounds.lower_negative}
    for card in subject.explicit_cards:
        if not card.of_bound(Bound.LOWER_POSITIVE):
            continue
        for entry in standings_of(subject, card).cutless:
            if entry.grant.target.cls.name not in inherited:
                yield rule.finding(
                    "this lower negative cuts nothing: no lower positive of its card overlaps it, and it does not bind"
                    " other cards",
                    entry.placed.span,
                    help="to withhold it from every card of the wallet, write it under `upperBound.negative`",
                    related=[proved(card, entry)],
                )


RULE = Rule("CARD011", "idle_negative", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
