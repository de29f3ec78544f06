"""RETRY021: a retry policy that the environment already has in another form. Page: not_applied.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import rule_fingerprint, through_manifest
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy whose name the environment has with other contents: a deployment skips it."""
    view = view_of(subject)
    existing = {policy.name: policy for policy in subject.retry.existing or ()}
    for policy in view.rules:
        there = existing.get(policy.name)
        if there is not None and rule_fingerprint(through_manifest(there)) != rule_fingerprint(policy):
            yield rule.finding(
                f"retry policy `{policy.name}` is not applied: the environment already has one of that name, and a"
                " deployment never changes it",
                view.span(policy),
                help="update it through the REST interface or the command line of the platform, or take a new name",
            )


RULE = Rule("RETRY021", "not_applied", Severity.WARNING, Confidence.CERTAIN, check)
