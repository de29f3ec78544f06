"""RETRY011: a predicate on `attempt` that changes the policy in the middle of a saga. Page: attempt_change.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, reads, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Effective, Tier
from policyd.core.retry.domain import ATTEMPT
from policyd.core.retry.nouns import SOME_COMPONENT
from policyd.core.retry.saga import SagaRules
from policyd.core.retry.saga_stability import Intrinsic, stability_of
from policyd.core.retry.value import Text
from policyd.findings import Confidence, Finding, Severity

MAX_AGENTS = 40
"""So many agents stand for all."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every predicate on `attempt` by which a saga meets another policy at a later attempt."""
    view = view_of(subject)
    reading = [policy for policy in view.rules if ATTEMPT in reads(policy.selector)]
    if view.saga is None or not reading:
        return
    rules = SagaRules(view.study.policies, edition=view.edition)
    effective = [Effective(policy, Tier.ENVIRONMENT) for policy in view.study.policies]
    for urn in urns(view):
        found = stability_of(urn, rules, effective)
        if found.intrinsic is not Intrinsic.UNSTABLE or found.at is None or found.at == 1:
            continue
        names = ", ".join(f"`{policy.name}`" for policy in reading)
        yield rule.finding(
            f"{names} reads `attempt`, and a saga ends with a policy error: {found.why}",
            view.span(reading[0]),
            help="move the test on `attempt` from the predicate into a `filteredOn` of the policy",
            confidence=None if found.is_certain else Confidence.POSSIBLE,
        )
        return


def urns(view: RetryView) -> list[str]:
    """Agents that stand for all: those of the manifest, and whatever the predicates tell apart."""
    found = [f"urn:worker:{SOME_COMPONENT}/{name}(1)" for name in view.subject.deployment.agent_names]
    assert view.saga is not None  # the caller has looked
    for group in view.study.space(view.saga).groups:
        if "noun-uri" in group.names:
            found += [v.value for cell in group.cells if isinstance(v := cell.get("noun-uri"), Text)]
    return list(dict.fromkeys([*found, f"urn:worker:{SOME_COMPONENT}/Any(1)"]))[:MAX_AGENTS]


RULE = Rule("RETRY011", "attempt_change", Severity.ERROR, Confidence.CERTAIN, check)
