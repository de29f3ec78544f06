"""RETRY015: a retry policy with the name of the built-in one. Page: reserved_name.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import BUILT_IN, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.retry.default_replaced import is_same
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report a policy named `default` that today does what the built-in one does."""
    placed = view_of(subject).placed.get(BUILT_IN)
    if placed is not None and is_same(placed.rule):
        yield rule.finding(
            "`default` is the name of the built-in retry policy, and says what that one says today",
            placed.span,
            help="leave it out, or take another name and a higher priority",
        )


RULE = Rule("RETRY015", "reserved_name", Severity.INFO, Confidence.CERTAIN, check)
