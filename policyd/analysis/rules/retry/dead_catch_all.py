"""RETRY014: a catch-all of priority 0 that the built-in rule always precedes. Page: dead_catch_all.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import BUILT_IN, RetryView, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy
from policyd.core.retry.predicate import ALWAYS
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy of priority 0 that matches all and whose name sorts behind `default`."""
    view = view_of(subject)
    for policy in view.rules:
        if is_dead(view, policy):
            yield rule.finding(
                f"retry policy `{policy.name}` never decides: the built-in `default` has priority 0 too, and its name"
                " sorts first",
                view.span(policy),
                help="give it priority 1",
            )


def is_dead(view: RetryView, policy: NamedPolicy) -> bool:
    """Whether the built-in rule, and nothing else, keeps the policy from ever deciding.

    Source: retry 3.5; 8.4, F14.
    """
    return (
        policy.priority == 0
        and policy.selector == ALWAYS
        and policy.name.encode() > BUILT_IN.encode()
        and BUILT_IN not in view.placed
    )


RULE = Rule("RETRY014", "dead_catch_all", Severity.WARNING, Confidence.CERTAIN, check)
