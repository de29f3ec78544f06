"""Differences of random sets of rules against resolving both for many bags: nothing that changes goes untold."""

import random
from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_retry_laws_space import HOSTS, PATHS, RULES

from policyd.core.edition import Edition, Rules
from policyd.core.retry import Boolean, Integer, NamedPolicy, Outcome, PropertyValue, RuleSet, Text, effective_rules
from policyd.core.retry.fingerprint import tree_fingerprint
from policyd.core.retry.nouns import is_possible, noun_fragment
from policyd.core.retry.placed import PlacedPolicy
from policyd.core.retry.sites import Noun, Site
from policyd.core.retry.study import Study
from policyd.usecases.retry_diff import RetryDifference, compare_rules
from policyd.usecases.retry_sources import RetryEnvironment

COMPONENT = "11111111-1111-4111-8111-111111111111"
End = tuple[str, str, str]


def bags(site: Site, edition: Rules) -> Iterator[dict[str, PropertyValue]]:
    """Bags that the site can have: its noun with the parts that the host takes from it, and what it always says."""
    nouns = {
        Noun.HTTP: [f"{scheme}://{host}{path}" for scheme, host, path in product(("https", "http"), HOSTS, PATHS)],
        Noun.RPC: [f"worker://{COMPONENT}/Cart(1)", f"worker://{COMPONENT}/x"],
        Noun.DATABASE: ["postgres://h/db", "mysql://b.example.com:99/x"],
        Noun.DNS: ["dns://api.example.com", "dns://x"],
        Noun.GOLEM_API: ["golem://api"],
        Noun.TRAP: ["wasm://add", "wasm://unknown"],
        Noun.SAGA: [f"urn:worker:{COMPONENT}/Cart(1)", f'urn:worker:{COMPONENT}/Other("a/b")'],
    }.get(site.noun, [])
    fragments = [f for f in (noun_fragment(site, noun) for noun in nouns) if is_possible(site, f)] or [{}]
    optional: dict[str, list[PropertyValue]] = {
        "verb": [Text(verb) for verb in site.verbs or ("GET", "POST", "DELETE", "BREW", "get")],
        "status-code": [Integer(code) for code in (100, 404, 500, 503, 999)],
        "attempt": [Integer(k) for k in (1, 2, 3, 5, 6)],
        "is-idempotent": [Boolean(True), Boolean(False)],
        "agent-type": [Text("Cart"), Text("Zed")],
        "function": [Text("add"), Text("take")],
        "error-kind": [Text("operation-error")],
        "trap-type": [Text("unknown"), Text("transient-error")],
    }
    always = site.always_present(edition)
    for fragment in fragments:
        names = [n for n in optional if n in always and n not in fragment]
        for values in product(*(optional[n] for n in names)):
            bag = {**fragment, **dict(zip(names, values, strict=True))}
            if site.error_type:
                bag["error-type"] = Text(site.error_type)
            assert always <= bag.keys(), site.slug
            yield bag


def end_of(rules: RuleSet, bag: dict[str, PropertyValue], site: Site, edition: Rules) -> End:
    """What a selection comes to, with the tree that decides."""
    selection = rules.select(bag, site.resolver.resolver(edition), status_filter=site.resolver.filters_status)
    for considered in selection.considered:
        if considered.outcome is Outcome.SELECTED:
            return "rule", considered.rule.name, tree_fingerprint(considered.rule.policy)
        if considered.outcome is Outcome.ERROR:
            return "error", "", ""
    return "none", "", ""


def _told(found: RetryDifference, site: Site) -> set[tuple[str, str]]:
    def word(outcome: object) -> str:
        kind = outcome.kind.value  # type: ignore[attr-defined]
        return outcome.rule.name if kind in ("rule", "default") else kind  # type: ignore[attr-defined]

    return {(word(d.before), word(d.after)) for d in found.changes.differences if site in d.sites}


def check(old: list[NamedPolicy], new: list[NamedPolicy], edition: Rules, source: random.Random) -> int:
    """Every bag that fares otherwise is told of, or its site is left open; gives how many do."""
    environments = [RetryEnvironment("", tuple(PlacedPolicy(r, r) for r in rules)) for rules in (old, new)]
    found = compare_rules(*environments, edition)
    sets = [RuleSet.of(tuple(e.rule for e in effective_rules(rules))) for rules in (old, new)]
    open = {o.site.slug for o in found.open}
    changed = 0
    # what a second step is asked about depends on the first; what a guest passes is not known
    for site in (s for s in Study(sets[0].rules, edition).sites if not s.follows):
        told = _told(found, site)
        every = list(bags(site, edition))
        for bag in source.sample(every, min(40, len(every))):
            one, other = (end_of(rules, bag, site, edition) for rules in sets)
            if one == other:
                continue
            changed += 1
            words = tuple(e[1] if e[0] == "rule" else e[0] for e in (one, other))
            assert words in told or site.slug in open, (site.slug, bag, one, other)
        for d in found.changes.differences:
            if site == d.sites[0]:
                one, other = (end_of(rules, dict(d.witness), site, edition) for rules in sets)
                assert one != other, (site.slug, d.witness)
    return changed


@settings(max_examples=5, phases=[Phase.generate])
@given(RULES, RULES, st.sampled_from((Rules(Edition.NEXT), Rules(Edition.SNAPSHOT))), st.integers(0, 2**31))
def test_every_change_is_told(old: list[NamedPolicy], new: list[NamedPolicy], edition: Rules, seed: int) -> None:
    """Over bags of every site; a witness of a difference really fares otherwise."""
    check(old, new, edition, random.Random(seed))


@pytest.mark.acceptance
@settings(max_examples=150, phases=[Phase.generate])
@given(RULES, RULES, st.sampled_from((Rules(Edition.NEXT), Rules(Edition.SNAPSHOT))), st.integers(0, 2**31))
def test_every_change_is_told_in_full(
    old: list[NamedPolicy], new: list[NamedPolicy], edition: Rules, seed: int
) -> None:
    """The same on more sets."""
    check(old, new, edition, random.Random(seed))


@pytest.mark.parametrize("edition", [Rules(Edition.NEXT), Rules(Edition.SNAPSHOT)])
@settings(max_examples=4, phases=[Phase.generate])
@given(RULES)
def test_no_change_of_nothing(edition: Rules, rules: list[NamedPolicy]) -> None:
    """A set of rules does not differ from itself, whatever its globs, and nothing is left open."""
    same = RetryEnvironment("", tuple(PlacedPolicy(r, r) for r in rules))
    found = compare_rules(same, same, edition)
    assert (found.changes.differences, found.open) == ((), ())
