"""RETRY022: a retry policy that an agent hides or pins at run time. Page: overlay_mask.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import rule_fingerprint
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy whose name an agent has set or removed for itself."""
    view = view_of(subject)
    set_by_agent = {policy.name: policy for policy in subject.retry.overlay.rules}
    for policy in view.rules:
        if policy.name in subject.retry.overlay.removed:
            yield rule.finding(
                f"retry policy `{policy.name}` stays invisible to the agent that has removed the name at run time",
                view.span(policy),
                help="take another name, or let the agent set it",
            )
        elif policy.name in set_by_agent:
            same = rule_fingerprint(set_by_agent[policy.name]) == rule_fingerprint(policy)
            now = "keeps its own copy" if same else "uses its own, different one"
            yield rule.finding(
                f"retry policy `{policy.name}` no longer reaches the agent that has set the name at run time: it {now}",
                view.span(policy),
                help="take another name, or let the agent remove its copy before it ends",
            )


RULE = Rule("RETRY022", "overlay_mask", Severity.WARNING, Confidence.CERTAIN, check)
