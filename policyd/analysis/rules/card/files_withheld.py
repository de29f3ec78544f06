"""CARD019: a provided file that the upper bound withholds. Page: files_withheld.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, own_target
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every entry of `files` that the ceiling of the card keeps its agents from reading."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        for file in card.agent.files:
            target = own_target(card, "filesystem", "read", file.path)
            if target is None or index.lets_through(target):
                continue
            yield rule.finding(
                f"agents of {shown(card.agent.name)} cannot read the file at {shown(file.path)}: their upper bound"
                " withholds it",
                file.span,
                help="add `filesystem(?agent) @ ?agent : * : <path>` and the same with `/**` to `upperBound.positive`:"
                " `files` adds lower grants only",
                related=[Related("the card with the upper bound", card.span)],
                witness=call_text(target),
            )


RULE = Rule("CARD019", "files_withheld", Severity.WARNING, Confidence.CERTAIN, check)
