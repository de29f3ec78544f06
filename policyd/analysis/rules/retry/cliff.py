"""RETRY018: an exponential delay that falls to nothing after very many retries. Page: cliff.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Policy
from policyd.core.retry.machine import Forever, Steps, tail_of
from policyd.core.retry.policy import CountBox, Exponential, children
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every growing exponential delay that is stepped past the point where its power overflows."""
    view = view_of(subject)
    for policy in view.rules:
        most: Steps = 0
        for _, limits in view.limits(policy):
            most = max(most, Forever if limits.retries.at_most is None else limits.retries.at_most)
        for leaf, steps in _growing(policy.policy, most):
            overflow = tail_of(leaf).start
            if steps > overflow:
                yield rule.finding(
                    f"the exponential delay of retry policy `{policy.name}` falls to 0 after {overflow} retries, when"
                    f" {leaf.factor:g} to that power no longer fits a number",
                    view.span(policy),
                    help="bound it with `countBox`; a `clamp` alone makes it fall to `minDelay`",
                )


def _growing(policy: Policy, most: Steps) -> Iterator[tuple[Exponential, Steps]]:
    """The growing exponential leaves, with how often each can be stepped at most."""
    stack: list[tuple[Policy, Steps]] = [(policy, most)]
    while stack:
        node, steps = stack.pop()
        match node:
            case Exponential(base, factor) if factor > 1 and base > 0:
                yield node, steps
            case CountBox(count, inner):
                stack.append((inner, min(steps, count)))
            case _:
                stack += ((child, steps) for child in children(node))


RULE = Rule("RETRY018", "cliff", Severity.WARNING, Confidence.CERTAIN, check)
