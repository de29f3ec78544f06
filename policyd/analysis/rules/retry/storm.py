"""RETRY010: very many retries with hardly a wait between them. Page: storm.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import is_unbounded, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import LimitClass
from policyd.core.retry.duration import duration_text
from policyd.core.retry.limits import STORM_COUNT
from policyd.core.retry.simulate import STORM_DELAY_NS
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy with a run of many retries that follow each other closely."""
    view = view_of(subject)
    for policy in view.rules:
        storms = [(site, limits) for site, limits in view.limits(policy) if limits.storm]
        if not storms:
            continue
        open_ended = any(is_unbounded(x) or x.limit_class is LimitClass.TIME_BOUNDED for _, x in storms)
        count = "without end" if open_ended else f"{STORM_COUNT} or more"
        yield rule.finding(
            f"retry policy `{policy.name}` can retry {count} with at most {duration_text(STORM_DELAY_NS)} between"
            f" attempts at {slugs(s for s, _ in storms)}",
            view.span(policy),
            help="put a delay into it, or a small `countBox` around it",
            severity=Severity.ERROR if open_ended else None,
        )


RULE = Rule("RETRY010", "storm", Severity.WARNING, Confidence.CERTAIN, check)
