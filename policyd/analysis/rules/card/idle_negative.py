"""CARD011: a lower negative that cuts nothing out of its own card. Page: idle_negative.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.misfit import why_inert
from policyd.analysis.overlap_index import OverlapIndex
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower negative that no lower positive of the same card overlaps."""
    for card in subject.explicit_cards:
        negatives = card.of_bound(Bound.LOWER_NEGATIVE)
        if not card.is_readable or not negatives or not card.of_bound(Bound.LOWER_POSITIVE):
            continue
        index = OverlapIndex((e.grant.target for e in card.of_bound(Bound.LOWER_POSITIVE)), card.agent.name)
        for entry in negatives:
            if why_inert(entry, card) is not None or _restates(entry, card, subject):
                continue
            if not index.may_overlap(entry.grant.target):
                yield rule.finding(
                    "this lower negative cuts nothing: no lower positive of its card overlaps it, and it does not bind"
                    " other cards",
                    entry.placed.span,
                    help="to withhold it from every card of the wallet, write it under `upperBound.negative`",
                )


def _restates(entry: Entry, card: AuditedCard, subject: Subject) -> bool:
    """Whether it restates a negative of the deployer, which a card must do."""
    grant = entry.placed.grant.addressed(card.context)
    inherited = (n for parent in subject.deployer or () for n in parent.bounds.lower_negative)
    return any(grant.target.cls == n.target.cls for n in inherited)


RULE = Rule("CARD011", "idle_negative", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
