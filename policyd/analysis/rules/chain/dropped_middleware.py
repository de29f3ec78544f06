"""CHAIN101: an owner's list that replaces middleware of the environment. Page: dropped_middleware.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every entry of an environment's binding that a list with `replace` leaves out."""
    for agent in subject.deployment.agents:
        for tool in agent.tools:
            for entry, owner in tool.dropped:
                yield rule.finding(
                    f"`{agent.name}` calls `{tool.name}` without `{entry.name}`, which the environment installs",
                    owner,
                    help="`prepend` or `append` keeps the environment's list",
                    related=[Related("it is installed here", entry.span)],
                )


RULE = Rule("CHAIN101", "dropped_middleware", Severity.WARNING, Confidence.CERTAIN, check)
