"""CARD014: a lower grant that the card's own upper bound withholds. Page: withheld_lower.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.misfit import why_inert
from policyd.analysis.proofs import proved, standings_of
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower positive of which not a single call gets through the upper bound of its card."""
    for card in subject.explicit_cards:
        if not card.is_readable:
            continue
        negatives = index_of(subject, card).for_all_instances(Bound.UPPER_NEGATIVE)
        withheld = {id(entry) for entry in standings_of(subject, card).withheld}
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            if not entry.is_written or not entry.is_for_holder or why_inert(entry, card) is not None:
                continue
            denying = negatives.covering(entry.grant.target, 1)
            if denying:
                yield rule.finding(
                    "this lower grant has no effect: an upper negative of its card denies all of it",
                    entry.placed.span,
                    help="remove one of the two",
                    related=[
                        *(Related("the upper negative", e.placed.span) for e in denying[:1] if e.placed.span),
                        proved(card, entry),
                    ],
                )
            elif id(entry) in withheld:
                yield rule.finding(
                    "this lower grant has no effect: the upper bound of its card lets none of it through",
                    entry.placed.span,
                    help="add what is needed to `upperBound.positive`, or remove the grant",
                    related=[proved(card, entry)],
                )


RULE = Rule("CARD014", "withheld_lower", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
