"""RETRY027: a kind of trap that is never put to a retry policy. Page: dead_trap.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Noun, Text
from policyd.core.retry.representatives import constants_of, tests_of
from policyd.core.retry.sites import REACHABLE_TRAP_TYPES
from policyd.core.retry.space import predicates_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every value of `trap-type` that a policy asks for and that never reaches one."""
    view = view_of(subject)
    for policy in view.rules:
        for value in dead_values(view, policy):
            yield rule.finding(
                f"retry policy `{policy.name}` asks for `trap-type` `{value}`, which is never put to a policy under"
                f" edition {view.edition.label}",
                view.span(policy),
                help=_help(view),
            )


def dead_values(view: RetryView, policy: NamedPolicy) -> Iterator[str]:
    """The values of `trap-type` in the policy that no site has."""
    asked = any(site.noun is Noun.TRAP for site in view.sites)
    reachable = REACHABLE_TRAP_TYPES if asked else ()
    for leaf in tests_of(predicates_of((policy,))).get("trap-type", ()):
        for value in constants_of(leaf):
            if isinstance(value, Text) and value.value not in reachable:
                yield value.value


def _help(view: RetryView) -> str:
    if any(site.noun is Noun.TRAP for site in view.sites):
        return "what reaches a policy: " + ", ".join(f"`{name}`" for name in REACHABLE_TRAP_TYPES)
    return "no trap is put to a policy: the host decides by itself"


RULE = Rule("RETRY027", "dead_trap", Severity.WARNING, Confidence.CERTAIN, check)
