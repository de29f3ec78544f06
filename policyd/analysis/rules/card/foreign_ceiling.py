"""CARD017: an upper bound whose grants are all for other holders. Page: foreign_ceiling.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import over_calls
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card with upper positives of which none can apply to the agents that hold it."""
    for card in subject.explicit_cards:
        upper = card.of_bound(Bound.UPPER_POSITIVE)
        if not card.is_readable or not upper or any(entry.may_be_for_holder for entry in upper):
            continue
        yield rule.finding(
            f"the upper bound sets no ceiling for agents of {shown(card.agent.name)}: all its positives are for others",
            upper[0].placed.span,
            help="write `?agent` as recipient of what is to limit the agents of this type",
            related=[Related(f"proved for {over_calls(card)}", card.span)],
        )


RULE = Rule("CARD017", "foreign_ceiling", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
