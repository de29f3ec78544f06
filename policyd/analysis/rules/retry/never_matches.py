"""RETRY004: a retry policy that matches nowhere, or reads a property that no host supplies. Page: never_matches.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.retry_proofs import never_selected
from policyd.analysis.retry_view import RetryView, names_sagas, view_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.retry import dead_trap, gone_property, transaction_name
from policyd.analysis.subject import Subject
from policyd.core.retry import CATALOGUE, NamedPolicy, Site, property_named
from policyd.core.retry.predicate import NEVER_TRUE
from policyd.core.retry.space import names_read
from policyd.findings import Confidence, Finding, Severity, nearest


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every name outside the catalogue, and every policy that matches at no site of the edition."""
    view = view_of(subject)
    for policy in view.rules:
        unknown = sorted(n for n in names_read(policy) if property_named(n) is None)
        if unknown and not (names_sagas(policy) and transaction_name.is_told(view, policy)):
            for name in unknown:
                near = nearest(name, [p.name for p in CATALOGUE]) or _respelled(name)
                yield rule.finding(
                    f"retry policy `{policy.name}` reads `{name}`, which no host supplies",
                    view.span(policy),
                    help=f"did you mean `{near}`?" if near else "see `policyd retry sites` for what exists where",
                )
            continue
        if view.accepts_anywhere(policy) or told_elsewhere(view, policy):
            continue
        kept, sure = never_selected(view, policy, view.sites, (policy,))
        if len(kept) < len(view.sites):
            continue
        yield rule.finding(
            f"retry policy `{policy.name}` matches nowhere: {reason(view, policy)}",
            view.span(policy),
            confidence=sure,
        )


def told_elsewhere(view: RetryView, policy: NamedPolicy) -> bool:
    """Whether another rule says why the policy matches nowhere."""
    return (
        any(gone_property.gone(view, policy))
        or any(dead_trap.dead_values(view, policy))
        or transaction_name.is_told(view, policy)
    )


def reason(view: RetryView, policy: NamedPolicy) -> str:
    """Why no context makes the selector true."""
    if policy.selector == NEVER_TRUE:
        return "its predicate is `false`"
    missing = [
        name
        for name in sorted(names_read(policy))
        if not any(name in site.always_present(view.edition) | site.sometimes_present() for site in view.sites)
    ]
    if missing:
        return f"`{missing[0]}` exists at no site under edition {view.edition.label}"
    outcomes = [view.study.space(site).strict(policy.selector) for site in view.sites]
    if any(o.error for o in outcomes) and not any(o.false for o in outcomes):
        return "its comparisons fail wherever the properties exist"
    together = [site for site in view.sites if names_read(policy) <= available(view, site)]
    if not together:
        return "no site has all the properties that it reads"
    return "no value that occurs makes its predicate true"


def available(view: RetryView, site: Site) -> frozenset[str]:
    """The properties that a bag of the site can have."""
    return site.always_present(view.edition) | site.sometimes_present()


def _respelled(name: str) -> str:
    """The catalogue's spelling of a name in another habit of writing, empty for none."""
    plain = "".join(c for c in name.lower() if c.isalnum())
    return next((p.name for p in CATALOGUE if p.name.replace("-", "") == plain), "")


RULE = Rule("RETRY004", "never_matches", Severity.WARNING, Confidence.CERTAIN, check)
