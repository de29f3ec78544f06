"""RETRY009: a retry policy that never ends. Page: unbounded.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import is_unbounded, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import LimitClass
from policyd.core.retry.policy import TimeBox, nodes_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that decides somewhere and has neither a greatest number of retries nor a last moment."""
    view = view_of(subject)
    for policy in view.rules:
        open_ended = [(site, limits) for site, limits in view.limits(policy) if is_unbounded(limits)]
        if not open_ended:
            continue
        boxed = any(isinstance(n, TimeBox) and n.limit_ns for n in nodes_of(policy.policy))
        if boxed and not view.counts_time:
            why = "its time boxes never end host retries, because the elapsed time is always 0"
        elif any(limits.limit_class is LimitClass.UNBOUNDED for _, limits in open_ended):
            why = "nothing counts its retries and nothing limits their time"
        else:
            why = "nothing shows that it ends"
        sure = all(limits.limit_class is LimitClass.UNBOUNDED for _, limits in open_ended)
        yield rule.finding(
            f"retry policy `{policy.name}` is not bounded at {slugs(s for s, _ in open_ended)}: {why}",
            view.span(policy),
            help="wrap it in `countBox`",
            severity=Severity.ERROR if view.is_saga_reachable(policy) else None,
            confidence=None if sure else Confidence.POSSIBLE,
        )


RULE = Rule("RETRY009", "unbounded", Severity.WARNING, Confidence.CERTAIN, check)
