"""RETRY007: a part of a retry policy that can never matter. Page: unreachable.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_parts import idle_parts
from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every part that is never stepped, or whose verdict changes nothing, wherever the policy is selected."""
    view = view_of(subject)
    for policy in view.rules:
        for part in idle_parts(view, policy):
            yield rule.finding(
                f"in retry policy `{policy.name}` {part}",
                view.span(policy),
                help="leave it out, or change what keeps it from mattering",
            )


RULE = Rule("RETRY007", "unreachable", Severity.WARNING, Confidence.CERTAIN, check)
