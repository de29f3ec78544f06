"""RETRY033: a retry policy that never retries without saying `never`. Page: zero_retry.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import LimitClass
from policyd.core.retry.policy import Clamp, Never, nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy other than `never` that decides somewhere and retries nowhere."""
    view = view_of(subject)
    for policy in view.rules:
        limits = [found for _, found in view.limits(policy)]
        # What aborts the host at the first retry is told by itself.
        aborts = any(isinstance(n, Clamp) and n.low_ns > n.high_ns for n in nodes_of(policy.policy))
        if isinstance(policy.policy, Never) or not limits or aborts:
            continue
        if all(found.limit_class is LimitClass.DEGENERATE for found in limits):
            yield rule.finding(
                f"retry policy `{policy.name}` never retries, although it does not say `never`",
                view.span(policy),
                help="write `never` if that is meant",
            )


RULE = Rule("RETRY033", "zero_retry", Severity.WARNING, Confidence.CERTAIN, check)
