"""RETRY012: a value between others that no retry policy covers. Page: coverage_gap.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.analysis.retry_view import BUILT_IN, RetryView, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import Integer, NamedPolicy, Noun, Site, Text
from policyd.core.retry.representatives import constants_of, tests_of
from policyd.core.retry.space import predicates_of
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report status codes between covered ones, and schemes beside covered ones, that no policy decides."""
    view = view_of(subject)
    if not view.rules:
        return
    told: dict[str, list[Site]] = {}
    for site in view.sites:
        if site.noun is Noun.HTTP:
            for text in (*_status_gaps(view, site), *_scheme_gaps(view, site)):
                told.setdefault(text, []).append(site)
    for text, sites in told.items():
        policy = next(p for p in view.rules if f"`{p.name}`" in text)
        yield rule.finding(f"{text} at {slugs(sites)}", view.span(policy), help="say so if that is meant")


def _status_gaps(view: RetryView, site: Site) -> Iterator[str]:
    """Status codes that no rule decides, between two that one does."""
    if not site.resolver.filters_status:
        return
    space, picked = view.study.space(site), view.study.picked(site)
    decided = 0
    for judged in picked.judged:
        decided |= judged.win
    known = _constants(view, "status-code")
    if len(known) < 2:
        return
    state: list[tuple[int, bool]] = []
    for group_place, group in enumerate(space.groups):
        if group.names != ("status-code",):
            continue
        values = [(v.value, i) for i, some in enumerate(group.spread) for v in some if isinstance(v, Integer)]
        state = [(value, bool(space.cells(group_place, (i,)) & decided)) for value, i in sorted(values)]
    yield from _between(view, known, state)


def _between(view: RetryView, known: Sequence[int], state: Sequence[tuple[int, bool]]) -> Iterator[str]:
    covered = [value for value, is_covered in state if is_covered]
    if not covered:
        return
    for value, is_covered in state:
        below = [c for c in covered if c < value and c // 100 == value // 100]
        above = [c for c in covered if c > value and c // 100 == value // 100]
        if is_covered or not below or not above or (value - below[-1] > 1 and above[0] - value > 1):
            continue
        owner = next((p.name for p in view.rules if _names(p, (below[-1], above[0]))), view.rules[0].name)
        if value in known or value - 1 in known or value + 1 in known:
            yield f"`{owner}` covers status {below[-1]} and {above[0]}, but {value} falls to none"


def _names(policy: NamedPolicy, values: tuple[int, int]) -> bool:
    """Whether a policy compares with one of the values."""
    found = {
        v.value
        for leaves in tests_of(predicates_of((policy,))).values()
        for leaf in leaves
        for v in constants_of(leaf)
        if isinstance(v, Integer)
    }
    return bool(found & set(values))


def _constants(view: RetryView, name: str) -> list[int]:
    leaves = tests_of(predicates_of(view.rules)).get(name, ())
    return sorted({v.value for leaf in leaves for v in constants_of(leaf) if isinstance(v, Integer)})


def _scheme_gaps(view: RetryView, site: Site) -> Iterator[str]:
    """A scheme that falls to the default although a rule names the other one."""
    space, picked = view.study.space(site), view.study.picked(site)
    leaves = tests_of(predicates_of(view.rules)).get("uri-scheme", ())
    named = {v.value for leaf in leaves for v in constants_of(leaf) if isinstance(v, Text)} & {"http", "https"}
    for scheme in sorted({"http", "https"} - named if named else ()):
        (other,) = named
        there = space.where(("uri-scheme",), {"uri-scheme": Text(scheme)})
        beside = space.where(("uri-scheme",), {"uri-scheme": Text(other)})
        for judged in picked.judged:
            if judged.win & beside and not judged.win & there and judged.rule.name != BUILT_IN:
                lost = picked.of(BUILT_IN)
                falls = "the default" if lost is not None and lost.win & there else "none"
                if falls == "none" and not picked.none & there:
                    continue
                yield f"`{judged.rule.name}` covers `{other}`, but `{scheme}` falls to {falls}"


RULE = Rule("RETRY012", "coverage_gap", Severity.INFO, Confidence.CERTAIN, check)
