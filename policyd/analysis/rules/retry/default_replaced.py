"""RETRY013: a retry policy in the place of the built-in one. Page: default_replaced.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import BUILT_IN, built_in, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Domain, Limits, NamedPolicy, limits_of, tree_fingerprint
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report a policy named `default` that decides otherwise than the built-in rule, and a removal of that rule."""
    view = view_of(subject)
    old = built_in()
    before = limits_of(old.policy, view.study.elapsed)
    placed = view.placed.get(BUILT_IN)
    if placed is not None and not is_same(placed.rule):
        after = limits_of(placed.rule.policy, view.study.elapsed, Domain(open_world=True))
        yield rule.finding(
            f"`default` replaces the built-in retry policy everywhere: {retries(after)} instead of {retries(before)}",
            placed.span,
            help="take another name unless that is meant",
        )
    if BUILT_IN in subject.retry.overlay.removed:
        yield rule.finding(
            "the built-in retry policy is removed at run time: calls that no other rule matches get no retry instead"
            f" of {retries(before)}",
            next((p.span for p in view.placed.values()), subject.deployment.environment_span),
        )


def is_same(policy: NamedPolicy) -> bool:
    """Whether a policy does what the built-in one does."""
    old = built_in()
    same_tree = tree_fingerprint(policy.policy) == tree_fingerprint(old.policy)
    return same_tree and policy.selector == old.selector and policy.priority == old.priority


def retries(limits: Limits) -> str:
    """The most retries in words."""
    most = limits.retries.at_most
    if most is None:
        return "retries without end"
    return "1 retry" if most == 1 else f"{most} retries"


RULE = Rule("RETRY013", "default_replaced", Severity.WARNING, Confidence.CERTAIN, check)
