"""CARD022: braces in a grant, which are no template there. Page: braces.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every grant that is read with `{{` in it and so names something that does not exist."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            if entry.is_written and "{{" in entry.placed.text:
                yield rule.finding(
                    "braces in a grant are not a template: the text is taken literally, whatever the variables are",
                    entry.placed.span,
                    help="write the name itself, or a slot such as `?account` or `?env` where one stands for it",
                )


RULE = Rule("CARD022", "braces", Severity.WARNING, Confidence.CERTAIN, check)
