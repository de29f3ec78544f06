"""RETRY003: two retry policies of one priority that match the same calls. Page: tie.md."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from policyd.analysis.retry_view import example, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.retry import dead_catch_all
from policyd.analysis.rules.retry.overlap import overlapping
from policyd.analysis.subject import Subject
from policyd.core.retry import tree_fingerprint
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every pair of equal priority that match together where nothing above them decides."""
    view = view_of(subject)
    for one, other in combinations(view.study.policies, 2):
        if one.priority != other.priority or not (view.is_written(one) or view.is_written(other)):
            continue
        if dead_catch_all.is_dead(view, one) or dead_catch_all.is_dead(view, other):
            continue
        shared = overlapping(view, one, other)
        if not shared:
            continue
        winner, loser = sorted((one, other), key=lambda p: p.name)
        same = tree_fingerprint(one.policy) == tree_fingerprint(other.policy)
        site, contexts = shared[0]
        placed = loser if view.is_written(loser) else winner
        span = view.span(winner if placed is loser else loser)
        yield rule.finding(
            f"retry policies `{winner.name}` and `{loser.name}` have priority {one.priority} and both match at"
            f" {slugs(s for s, _ in shared)}{example(view.study.space(site), contexts)};"
            f" `{winner.name}` decides only because its name sorts first",
            view.span(placed),
            help="give them different priorities",
            related=[Related("the other one of the pair", span)] if span is not None else [],
            severity=Severity.INFO if same else None,
        )


RULE = Rule("RETRY003", "tie", Severity.WARNING, Confidence.CERTAIN, check)
