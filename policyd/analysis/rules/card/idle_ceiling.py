"""CARD027: upper positives that let every call through. Page: idle_ceiling.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.proofs import is_no_ceiling, over_calls
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every ceiling that can never bind, proved over all calls."""
    for card in subject.explicit_cards:
        if is_no_ceiling(subject, card):
            yield rule.finding(
                f"the ceiling of agent type {shown(card.agent.name)} never binds: its positives let every call through",
                card.of_bound(Bound.UPPER_POSITIVE)[0].placed.span or card.span,
                help="list under `upperBound.positive` only what the agents may ever get",
                related=[
                    Related(f"proved for {over_calls(card)}; verbs that no operation asks for are left out", card.span)
                ],
            )


RULE = Rule("CARD027", "idle_ceiling", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
