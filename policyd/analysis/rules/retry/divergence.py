"""RETRY028: a retry policy that two kinds of sites take differently for the same call. Page: divergence.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, example, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.retry.poisons import poisoned_sites
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Noun, Resolver, Site
from policyd.core.retry.space import Contexts
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy that a strict site takes otherwise than an applicable one would in the same context."""
    view = view_of(subject)
    for policy in view.rules:
        if any(True for _ in poisoned_sites(view, policy)):
            continue  # told there
        for words, found in divergences(view, policy).items():
            site, contexts = found[0]
            yield rule.finding(
                f"retry policy `{policy.name}` {words}: at {slugs(s for s, _ in found)}"
                f"{example(view.study.space(site), contexts)}",
                view.span(policy),
                help="guard tests with `propExists`, and select in the predicate rather than in `filteredOn`",
            )


def divergences(view: RetryView, policy: NamedPolicy) -> dict[str, list[tuple[Site, Contexts]]]:
    """How strict sites take the policy otherwise than applicable ones, with the contexts at each strict site.

    Source: retry 8.4, F28.
    """
    found: dict[str, list[tuple[Site, Contexts]]] = {}
    if not any(view.judged(s, policy).win for s in view.sites if _is_applicable(view, s)):
        return found
    for site in view.sites:
        if _is_applicable(view, site) or site.noun is Noun.SAGA:
            continue
        space = view.study.space(site)
        match_, fails = space.judged_alone(policy)
        lenient, _ = space.judged_alone(policy, Resolver.APPLICABLE)
        reached = view.judged(site, policy)
        live = reached.win | reached.ends | view.study.picked(site).none
        body = space.applies(policy.policy)
        for words, contexts in (
            ("is selected inside a function and then gives up, where elsewhere it is skipped", match_ & body.no),
            ("matches inside a function, where elsewhere it does not", match_ & ~lenient & ~body.no),
            ("does not match inside a function, where elsewhere it does", lenient & ~match_ & ~fails),
            ("ends the selection inside a function, where elsewhere it is skipped or matches", fails),
        ):
            if contexts & live:
                found.setdefault(words, []).append((site, contexts & live))
    return found


def _is_applicable(view: RetryView, site: Site) -> bool:
    return site.resolver.resolver(view.edition) is Resolver.APPLICABLE


RULE = Rule("RETRY028", "divergence", Severity.INFO, Confidence.CERTAIN, check)
