"""RETRY016: a time box that never ends a host retry. Page: inert_time_box.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import is_unbounded, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry.duration import duration_text
from policyd.core.retry.policy import TimeBox, nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every time box with a positive limit where the host gives 0 as the elapsed time."""
    view = view_of(subject)
    if view.counts_time:
        return
    for policy in view.rules:
        limits = sorted({n.limit_ns for n in nodes_of(policy.policy) if isinstance(n, TimeBox) and n.limit_ns})
        if not limits:
            continue
        only = any(is_unbounded(found) for _, found in view.limits(policy))
        shown = ", ".join(f"`{duration_text(ns)}`" for ns in limits)
        yield rule.finding(
            f"the time box of {shown} in retry policy `{policy.name}` never ends its retries: the host gives 0 as the"
            " elapsed time",
            view.span(policy),
            help="bound it with `countBox`",
            severity=Severity.ERROR if only else None,
        )


RULE = Rule("RETRY016", "inert_time_box", Severity.WARNING, Confidence.CERTAIN, check)
