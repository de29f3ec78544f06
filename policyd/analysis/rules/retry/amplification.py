"""RETRY034: retries within retries that multiply to very many calls. Page: amplification.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Site
from policyd.findings import Confidence, Finding, Related, Severity

AMPLIFICATION_LIMIT = 1_000
"""So many physical calls of one call in a saga are told.

Source: retry 8.4, F34.
"""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report a saga policy and a policy of host calls whose attempts multiply to very many."""
    view = view_of(subject)
    if view.saga is None:
        return
    outer = _most(view, [view.saga])
    inner = _most(view, [site for site in view.sites if site is not view.saga])
    if outer is None or inner is None:
        return
    (saga_policy, saga_attempts), (call_policy, call_attempts) = outer, inner
    # Nothing shows that sagas run where only the built-in policy decides them.
    if saga_attempts * call_attempts < AMPLIFICATION_LIMIT or not view.is_written(saga_policy):
        return
    written = [p for p in (saga_policy, call_policy) if view.is_written(p)]
    span = view.span(written[-1])
    yield rule.finding(
        f"a call in the body of a saga can be made {saga_attempts * call_attempts} times: `{saga_policy.name}` runs the"
        f" body up to {saga_attempts} times, and `{call_policy.name}` makes each call up to {call_attempts} times",
        view.span(written[0]),
        help="lower one of the counts, or give sagas a policy of their own (`verb` = `saga`)",
        related=[Related("the other one", span)] if len(written) > 1 and span is not None else [],
    )


def _most(view: RetryView, sites: list[Site]) -> tuple[NamedPolicy, int] | None:
    """The policy with the most attempts at the sites, where that number is finite."""
    found: list[tuple[NamedPolicy, int]] = []
    for policy in view.study.policies:
        for site, limits in view.limits(policy):
            if site in sites and limits.executions_max is not None:
                found.append((policy, limits.executions_max))
    return max(found, key=lambda pair: pair[1], default=None)


RULE = Rule("RETRY034", "amplification", Severity.WARNING, Confidence.POSSIBLE, check)
