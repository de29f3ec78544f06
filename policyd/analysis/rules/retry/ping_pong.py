"""RETRY020: two retry policies that start each other's count anew. Page: ping_pong.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Site
from policyd.core.retry.together import reach_at
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every pair that can take turns within one sequence and whose states do not fit each other."""
    view = view_of(subject)
    found: dict[tuple[str, str], list[Site]] = {}
    for site in view.sites:
        for pair in reach_at(view.study, site).resets:
            found.setdefault(pair, []).append(site)
    for (one, other), sites in found.items():
        placed = [view.placed[name] for name in (one, other) if name in view.placed]
        if not placed:
            continue
        related = [Related("the other one of the pair", p.span) for p in placed[1:] if p.span is not None]
        yield rule.finding(
            f"retry policies `{one}` and `{other}` can take turns at {slugs(sites)}, and each turn starts with a fresh"
            " count: together they are not bounded",
            placed[0].span,
            help="give both policies the same structure, or make one of them cover both cases",
            related=related,
        )


RULE = Rule("RETRY020", "ping_pong", Severity.WARNING, Confidence.CERTAIN, check)
