"""RETRY019: a wait too long for the call that it belongs to. Page: leaves_function.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry.duration import NANOS, duration_text
from policyd.findings import Confidence, Finding, Severity

IN_FUNCTION_LIMIT_NS = 20 * NANOS
"""The longest wait inside a call, by default.

Source: retry 3.7.
"""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that can wait longer than the host waits inside a call, at a site that waits there."""
    view = view_of(subject)
    for policy in view.rules:
        long = [
            (site, limits.delay_high_ns)
            for site, limits in view.limits(policy)
            if site.in_function and limits.delay_high_ns is not None and limits.delay_high_ns > IN_FUNCTION_LIMIT_NS
        ]
        if long:
            yield rule.finding(
                f"retry policy `{policy.name}` can wait `{duration_text(max(ns for _, ns in long))}` at"
                f" {slugs(s for s, _ in long)}: beyond `{duration_text(IN_FUNCTION_LIMIT_NS)}` the agent is restarted"
                " instead, and a rule is selected anew in another way",
                view.span(policy),
                help="put a `clamp` with `maxDelay` of at most 20s around it",
            )


RULE = Rule("RETRY019", "leaves_function", Severity.INFO, Confidence.CERTAIN, check)
