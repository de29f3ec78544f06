"""CHAIN013: a list names middleware that nothing declares. Page: unknown_middleware.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.rules.chain.installed import every_entry
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity, nearest
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every entry whose name no declaration has; with declarations around it may still be an alias."""
    declared = [item.name for item in subject.deployment.middleware]
    for entry in every_entry(subject):
        if entry.name in declared:
            continue
        near = nearest(entry.name, declared)
        yield rule.finding(
            f"no middleware is called {shown(entry.name)}",
            entry.span,
            help=f"did you mean `{near}`?" if near else "declare it under `tools.middleware`",
            confidence=Confidence.POSSIBLE if declared and near is None else Confidence.CERTAIN,
        )


RULE = Rule("CHAIN013", "unknown_middleware", Severity.ERROR, Confidence.CERTAIN, check)
