"""RETRY032: a time box shorter than a wait inside it. Page: overshoot.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Domain, Elapsed, Policy, limits_of
from policyd.core.retry.duration import duration_text
from policyd.core.retry.policy import TimeBox, nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every time box that a single wait inside it can exceed."""
    view = view_of(subject)
    if not view.counts_time:
        return
    for policy in view.rules:
        for node in nodes_of(policy.policy):
            if not isinstance(node, TimeBox) or not node.limit_ns:
                continue
            longest = longest_wait(node)
            if longest is not None and longest >= node.limit_ns:
                yield rule.finding(
                    f"the time box of `{duration_text(node.limit_ns)}` in retry policy `{policy.name}` is no deadline:"
                    f" a wait of up to `{duration_text(longest)}` can begin within it",
                    view.span(policy),
                    help="put a `clamp` with a smaller `maxDelay` inside the time box",
                )


def longest_wait(box: Policy) -> int | None:
    """The longest wait that a time box lets begin, None for none."""
    return limits_of(box, Elapsed.REAL, Domain(open_world=True)).delay_high_ns


RULE = Rule("RETRY032", "overshoot", Severity.INFO, Confidence.CERTAIN, check)
