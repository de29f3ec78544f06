"""RETRY029: a retry policy that the host may refuse for sagas. Page: admission_uncertain.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that can decide a saga and whose end no count shows."""
    view = view_of(subject)
    if view.saga is None:
        return
    for policy in view.rules:
        if not view.is_saga_reachable(policy):
            continue
        limits = view.study.limits(view.saga, policy)
        if limits.is_admissible and not limits.is_strictly_admissible:
            causes = " and ".join(cause.value for cause in limits.causes) or "time"
            yield rule.finding(
                f"retry policy `{policy.name}` ends by {causes} only: a host that admits only counted policies for"
                " sagas refuses it",
                view.span(policy),
                help="put a `countBox` around it",
            )


RULE = Rule("RETRY029", "admission_uncertain", Severity.WARNING, Confidence.LIKELY, check)
