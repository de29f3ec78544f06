"""CARD009: a negative grant that can never deny anything. Page: inert_negative.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.misfit import inert_entries
from policyd.analysis.proofs import over_calls
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative whose recipient, owner or resource keeps it from denying any call."""
    for card, entry, misfit in inert_entries(subject, positive=False):
        whom = f" to agents of {shown(card.agent.name)}" if misfit.is_for_others else ""
        yield rule.finding(
            f"this negative never denies anything{whom}: {misfit.reason}",
            entry.placed.span,
            help="name what is to be denied by a pattern that covers the whole call; a negative that only restates one"
            " of the deployer's may stay",
            related=[Related(f"proved for {over_calls(card)}", card.span)],
            severity=Severity.INFO if misfit.is_for_others else None,
        )


RULE = Rule("CARD009", "inert_negative", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
