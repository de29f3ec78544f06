"""CARD010: a positive grant that can never be used. Page: inert_positive.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.misfit import inert_entries
from policyd.analysis.proofs import over_calls
from policyd.analysis.rule import Rule, Scope
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every positive whose recipient, owner or resource keeps it from admitting any call."""
    for card, entry, misfit in inert_entries(subject, positive=True):
        if misfit.is_for_others and not entry.bound.is_lower:
            continue  # a ceiling for other holders binds cards that are derived from this one
        what = "grants nothing" if entry.bound.is_lower else "lets nothing through"
        whom = f" to agents of {shown(card.agent.name)}" if misfit.is_for_others else ""
        yield rule.finding(
            f"this {entry.bound.words} grant {what}{whom}: {misfit.reason}",
            entry.placed.span,
            help="remove it, unless cards for other holders are to be derived from this one"
            if misfit.is_for_others
            else "write `?agent` as recipient, and an owner and a resource that calls can ask for",
            related=[Related(f"proved for {over_calls(card)}", card.span)],
            severity=Severity.INFO if misfit.is_for_others else None,
        )


RULE = Rule("CARD010", "inert_positive", Severity.WARNING, Confidence.CERTAIN, check, Scope.ALL)
