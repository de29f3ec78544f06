"""CARD012: a grant that stands twice in one list. Page: duplicate.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import proved
from policyd.analysis.repeats import repeats_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant that an earlier one of the same list says already, word for word or in other words."""
    for card in subject.explicit_cards:
        for repeat in repeats_of(subject, card):
            if repeat.is_equal and repeat.by.placed.span is not None:
                yield rule.finding(
                    f"this {repeat.entry.bound.words} grant stands twice",
                    repeat.entry.placed.span,
                    help="remove one of them",
                    related=(Related("the same grant", repeat.by.placed.span), proved(card, repeat.entry)),
                )


RULE = Rule("CARD012", "duplicate", Severity.INFO, Confidence.CERTAIN, check)
