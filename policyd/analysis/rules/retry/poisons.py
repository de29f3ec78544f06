"""RETRY005: a predicate that ends the selection where a property is missing. Page: poisons.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_view import RetryView, example, reads, slugs, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.retry import NamedPolicy, Resolver, Site
from policyd.core.retry.space import Contexts
from policyd.findings import Confidence, Finding, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every policy whose predicate fails at a strict site in a context where another would decide."""
    view = view_of(subject)
    for policy in view.rules:
        poisoned = list(poisoned_sites(view, policy))
        if not poisoned:
            continue
        lost = sorted({name for _, _, names in poisoned for name in names})
        site, contexts, _ = poisoned[0]
        missing = sorted(n for n in _read_missing(view, policy, site))
        why = f"`{missing[0]}` is missing there" if missing else "the comparison fails there"
        guard = "compare with the property's own type"
        if missing:
            guard = f"ask first: `and: [{{propExists: {missing[0]}}}, …]`"
        names = ", ".join(f"`{name}`" for name in lost[:4])
        yield rule.finding(
            f"the predicate of `{policy.name}` ends the selection at {slugs(s for s, _, _ in poisoned)}: {why}"
            f"{example(view.study.space(site), contexts)}, and {names} would have decided",
            view.span(policy),
            help=guard,
        )


def poisoned_sites(view: RetryView, policy: NamedPolicy) -> Iterator[tuple[Site, Contexts, tuple[str, ...]]]:
    """The strict sites where the policy ends the selection although a later rule would decide, and which.

    Source: retry 8.4, F05.
    """
    for site in view.sites:
        if site.resolver.resolver(view.edition) is Resolver.APPLICABLE:
            continue
        # Other rules that fail there are left aside: each of them is told by itself.
        picked = view.study.picked(site).judged
        reached = view.judged(site, policy).fails
        for judged in picked:
            if judged.rule is policy:
                break
            reached &= ~judged.match
        saved, lost = 0, []
        for judged in picked:
            if judged.match & reached & ~saved:
                saved |= judged.match & reached
                lost.append(judged.rule.name)
        if saved:
            yield site, saved, tuple(lost)


def _read_missing(view: RetryView, policy: NamedPolicy, site: Site) -> list[str]:
    possible = site.always_present(view.edition)
    return [name for name in reads(policy.selector) if name not in possible]


RULE = Rule("RETRY005", "poisons", Severity.ERROR, Confidence.CERTAIN, check)
