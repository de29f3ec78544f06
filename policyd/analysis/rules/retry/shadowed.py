"""RETRY001: a retry policy that never decides where it matches. Page: shadowed.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_proofs import never_selected
from policyd.analysis.retry_view import RetryView, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.retry import dead_catch_all
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Site
from policyd.core.retry.space import Judged
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that matches at a site and is selected there in no context."""
    view = view_of(subject)
    for policy in view.rules:
        if dead_catch_all.is_dead(view, policy):
            continue
        matching = list(view.matching(policy))
        shadowed = [(site, judged) for site, judged in matching if is_shadowed(view, site, judged)]
        kept, sure = never_selected(view, policy, [site for site, _ in shadowed], view.study.policies)
        shadowed = [(site, judged) for site, judged in shadowed if site in kept]
        if not shadowed:
            continue
        above = shadowing(view, shadowed)
        if all(p.priority == policy.priority for p in above):
            continue  # told as a tie
        names = ", ".join(f"`{p.name}`" for p in above)
        everywhere = not any(judged.win for _, judged in matching)
        where = "at every site where it matches" if everywhere else f"at {slugs(s for s, _ in shadowed)}"
        places = [(p, view.span(p)) for p in above]
        yield rule.finding(
            f"retry policy `{policy.name}` never decides {where}: {names} comes first",
            view.span(policy),
            help="raise its priority, or narrow the predicate of what comes first",
            related=[Related(f"`{p.name}` has priority {p.priority}", span) for p, span in places if span is not None],
            confidence=sure,
        )


def is_shadowed(view: RetryView, site: Site, judged: Judged) -> bool:
    """Whether rules before it decide wherever the rule matches.

    Predicates that fail are told by themselves, and the second step of a response status is asked only after
    another rule was found, so that a lower one never decides there.
    """
    if judged.win or (site.follows and site.error_type and "status-code" in site.always_present(view.edition)):
        return False
    left = judged.match
    for other in view.study.picked(site).judged:
        if other.rule is not judged.rule:
            left &= ~other.win
    return not left


def shadowing(view: RetryView, shadowed: list[tuple[Site, Judged]]) -> list[NamedPolicy]:
    """A small set of rules that together decide wherever the rule matches."""
    needed: dict[str, NamedPolicy] = {}
    for site, judged in shadowed:
        left = judged.match
        others = [j for j in view.study.picked(site).judged if j.rule is not judged.rule]
        for known in sorted(others, key=lambda j: j.rule.name not in needed):
            if known.rule.name in needed:
                left &= ~known.win
        while left:
            best = max(others, key=lambda j: (j.win & left).bit_count())
            covers = best.win & left
            if not covers:
                break
            needed[best.rule.name] = best.rule
            left &= ~covers
    return list(needed.values())


RULE = Rule("RETRY001", "shadowed", Severity.WARNING, Confidence.CERTAIN, check)
