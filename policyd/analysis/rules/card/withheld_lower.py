"""CARD014: a lower grant that the card's own upper bound withholds. Page: withheld_lower.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.misfit import why_inert
from policyd.analysis.overlap_index import OverlapIndex
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower positive of which not a single call gets through the upper bound of its card."""
    for card in subject.explicit_cards:
        if not card.is_readable:
            continue
        index = index_of(subject, card)
        limits = card.has_ceiling
        ceiling = OverlapIndex(
            (e.grant.target for e in card.of_bound(Bound.UPPER_POSITIVE) if e.may_be_for_holder), card.agent.name
        )
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            if not entry.is_written or not entry.is_for_holder or why_inert(entry, card) is not None:
                continue
            denying = index.for_all_instances(Bound.UPPER_NEGATIVE).covering(entry.grant.target, 1)
            if denying:
                yield rule.finding(
                    "this lower grant has no effect: an upper negative of its card denies all of it",
                    entry.placed.span,
                    help="remove one of the two",
                    related=[Related("the upper negative", e.placed.span) for e in denying[:1] if e.placed.span],
                )
            elif limits and not ceiling.may_overlap(entry.grant.target):
                yield rule.finding(
                    "this lower grant has no effect: the upper bound of its card lets none of it through",
                    entry.placed.span,
                    help="add what is needed to `upperBound.positive`, or remove the grant",
                )


RULE = Rule("CARD014", "withheld_lower", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
