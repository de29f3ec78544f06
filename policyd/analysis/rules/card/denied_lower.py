"""CARD016: a lower grant that a negative of its card denies as a whole. Page: denied_lower.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.proofs import proved
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower positive that a single lower negative of the same card covers completely."""
    for card in subject.explicit_cards:
        negatives = index_of(subject, card).for_all_instances(Bound.LOWER_NEGATIVE)
        if not len(negatives):
            continue
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            if not entry.is_written or not entry.is_for_holder:
                continue
            denying = negatives.covering(entry.grant.target, 1)
            if denying:
                yield rule.finding(
                    "this lower grant gives nothing: a negative of the same card denies all of it",
                    entry.placed.span,
                    help="remove the grant, or narrow the negative; the more specific of two does not win",
                    related=[
                        *(Related("the negative", e.placed.span) for e in denying[:1] if e.placed.span),
                        proved(card, entry),
                    ],
                )


RULE = Rule("CARD016", "denied_lower", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
