"""CHAIN102: a deployment that compares names only. Page: nominal_mode.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.rules.chain.installed import every_entry
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every environment with middleware that is deployed with `nominal`."""
    deployment = subject.deployment
    if deployment.compatibility_mode == "nominal" and any(True for _ in every_entry(subject)):
        yield rule.finding(
            f"`{deployment.environment}` compares tools by names only: values that do not fit fail at run time",
            deployment.environment_span,
            help="leave `toolCompatibilityMode` at `structural-subtype`",
        )


RULE = Rule("CHAIN102", "nominal_mode", Severity.WARNING, Confidence.CERTAIN, check)
