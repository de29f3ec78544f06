"""CARD013: a grant that a wider one of the same list covers. Page: subsumed.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import proved
from policyd.analysis.repeats import repeats_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant that adds nothing to another one of its list."""
    for card in subject.explicit_cards:
        for repeat in repeats_of(subject, card):
            if not repeat.is_equal and repeat.by.placed.span is not None:
                yield rule.finding(
                    f"this {repeat.entry.bound.words} grant adds nothing: another one of the list covers it",
                    repeat.entry.placed.span,
                    help="remove it, or narrow the wider one if that was meant to go",
                    related=(
                        Related(f"covered by {shown(repeat.by.placed.text)}", repeat.by.placed.span),
                        proved(card, repeat.entry),
                    ),
                )


RULE = Rule("CARD013", "subsumed", Severity.INFO, Confidence.CERTAIN, check)
