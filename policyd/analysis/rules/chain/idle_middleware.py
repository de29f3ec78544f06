"""CHAIN100: middleware that is declared and never installed. Page: idle_middleware.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule, Scope
from policyd.analysis.rules.chain.installed import every_entry
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every declaration that no list names, where no entry may be its alias."""
    entries = {entry.name for entry in every_entry(subject)}
    declared = {item.name for item in subject.deployment.middleware}
    if entries - declared:
        return
    for item in subject.deployment.middleware:
        if item.name not in entries and item.span is not None:
            yield rule.finding(
                f"middleware `{item.name}` is declared and installed nowhere",
                item.span,
                help="install it in `environments.<name>.tools.middleware` or in the binding of a tool, or remove it",
            )


RULE = Rule("CHAIN100", "idle_middleware", Severity.INFO, Confidence.LIKELY, check, Scope.ALL)
