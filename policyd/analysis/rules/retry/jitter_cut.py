"""RETRY025: jitter that a clamp cuts away. Page: jitter_cut.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Policy
from policyd.core.retry.bounds import delay_interval
from policyd.core.retry.duration import duration_text
from policyd.core.retry.machine import Forever
from policyd.core.retry.policy import AddDelay, Clamp, CountBox, FilteredOn, Jitter, TimeBox, nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every clamp whose largest delay is below every delay that it gets from a jitter."""
    view = view_of(subject)
    for policy in view.rules:
        for node in nodes_of(policy.policy):
            if isinstance(node, Clamp) and cuts(node):
                yield rule.finding(
                    f"in retry policy `{policy.name}` the jitter has no effect: `clamp` cuts every wait to"
                    f" `{duration_text(node.high_ns)}`",
                    view.span(policy),
                    help="put `jitter` around `clamp`: jitter only ever lengthens",
                )


def cuts(clamp: Clamp) -> bool:
    """Whether a jitter below the clamp never shows.

    Source: retry 8.4, F25.
    """
    if clamp.low_ns > clamp.high_ns:
        return False
    node: Policy = clamp.inner
    while isinstance(node, CountBox | TimeBox | AddDelay | FilteredOn):
        node = node.inner
    if not isinstance(node, Jitter) or not node.factor > 0:
        return False
    low = delay_interval(clamp.inner, Forever).low
    return low is not None and low >= clamp.high_ns > 0


RULE = Rule("RETRY025", "jitter_cut", Severity.WARNING, Confidence.CERTAIN, check)
