"""RETRY026: a property that this edition of the host never supplies. Page: gone_property.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, property_named
from policyd.core.retry.space import names_read
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every property of the catalogue that a policy reads and that no site of the edition supplies."""
    view = view_of(subject)
    for policy in view.rules:
        for name in gone(view, policy):
            yield rule.finding(
                f"retry policy `{policy.name}` reads `{name}`, which edition {view.edition.label} never supplies",
                view.span(policy),
                help="leave the test out: a predicate that reads it fails or is skipped everywhere",
            )


def gone(view: RetryView, policy: NamedPolicy) -> Iterator[str]:
    """The properties of the catalogue that the policy reads and that exist nowhere; `trap-type` is told apart."""
    for name in sorted(names_read(policy)):
        if property_named(name) is None or name == "trap-type":
            continue
        if not any(name in site.always_present(view.edition) | site.sometimes_present() for site in view.sites):
            yield name


RULE = Rule("RETRY026", "gone_property", Severity.ERROR, Confidence.CERTAIN, check)
