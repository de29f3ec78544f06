"""RETRY002: two retry policies of different priority that match the same calls. Page: overlap.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from policyd.analysis.retry_view import RetryView, example, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Site, tree_fingerprint
from policyd.core.retry.predicate import ALWAYS
from policyd.core.retry.space import Contexts
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every pair of policies with different trees of which the upper one decides where both match."""
    view = view_of(subject)
    for one, other in combinations(view.rules, 2):
        upper, lower = (one, other) if one.priority > other.priority else (other, one)
        if upper.priority == lower.priority or lower.selector == ALWAYS:
            continue
        if tree_fingerprint(upper.policy) == tree_fingerprint(lower.policy):
            continue
        shared = overlapping(view, upper, lower)
        # Where the lower one never decides, that is told instead.
        if not shared or not any(view.judged(site, lower).win for site, _ in shared):
            continue
        site, contexts = shared[0]
        span = view.span(upper)
        related = [Related(f"`{upper.name}` decides where both match", span)] if span is not None else []
        finding = rule.finding(
            f"retry policies `{upper.name}` and `{lower.name}` both match at {slugs(s for s, _ in shared)}"
            f"{example(view.study.space(site), contexts)}",
            view.span(lower),
            related=related,
        )
        yield finding


def overlapping(view: RetryView, one: NamedPolicy, other: NamedPolicy) -> list[tuple[Site, Contexts]]:
    """The sites at which both match, with the contexts in which one of them decides."""
    found = []
    for site in view.sites:
        first, second = view.judged(site, one), view.judged(site, other)
        both = first.match & second.match & (first.win | second.win)
        if both:
            found.append((site, both))
    return found


RULE = Rule("RETRY002", "overlap", Severity.INFO, Confidence.CERTAIN, check)
