"""Who decides where some of an operation is not given: every whole operation comes to an outcome that was told."""

import random
from collections.abc import Mapping

import pytest
from test_retry_laws_differences import bags

from policyd.core.edition import NEXT, Edition, Rules
from policyd.core.retry import NamedPolicy, PropertyValue, RuleSet, Text, effective_rules
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.sites import SITES, site_named
from policyd.solver.retry_outcomes import unseen_outcome
from policyd.solver.retry_questions import Exists, Impossible, Unsettled
from policyd.usecases.retry_resolve import Alternative, Resolved, resolve_at, resolved_json

GLOBS = (
    "*.example.com",
    "**",
    "/v1/**",
    "/*",
    "https://*/v1/*",
    "urn:worker:*/Cart(**",
    "a?i.*",
    "[0-9]*",
    "G*",
    "**/x",
)
NAMES = ("uri-host", "uri-path", "noun-uri", "verb", "function")
SOLVED = ("http-send-p2", "http-status-p3", "rpc", "rdbms", "saga", "golem-api")


def some_test(source: random.Random) -> q.Predicate:
    """A test that cannot always be told apart by samples."""
    name = source.choice(NAMES)
    match source.randrange(4):
        case 0 | 1:
            return q.PropText(q.TextTest.MATCHES, name, source.choice(GLOBS))
        case 2:
            return q.PropText(source.choice(tuple(q.TextTest)), name, source.choice(("a", "/v1", "https", "api")))
        case _:
            comparison = source.choice(tuple(q.Comparison))
            return q.PropCompare(comparison, name, Text(source.choice(("api.example.com", "GET", "/v1/x", "m"))))


def rules_of(source: random.Random) -> tuple[NamedPolicy, ...]:
    """Some rules that read texts."""

    def selector() -> q.Predicate:
        test = some_test(source)
        if source.random() < 0.4:
            test = source.choice((q.And, q.Or))(test, some_test(source))
        return q.Not(test) if source.random() < 0.2 else test

    rules = (NamedPolicy(name, source.randrange(1, 4), selector(), p.Immediate()) for name in "abc")
    return tuple(e.rule for e in effective_rules(rules))


def _end(alternative: Alternative) -> tuple[str | None, bool]:
    return alternative.rule, alternative.error


@pytest.mark.parametrize("slug", SOLVED)
def test_whole_operations_come_to_what_was_told(slug: str) -> None:
    """Every outcome of an operation with what is given is told, unless the answer says that others may exist."""
    site = site_named(slug)
    assert site is not None
    settled = 0
    for seed in range(9):
        source = random.Random(f"{slug} {seed}")
        edition = source.choice((NEXT, Rules(Edition.SNAPSHOT)) if slug != "saga" else (NEXT,))
        policies = rules_of(source)
        whole = list(bags(site, edition))
        chosen = source.choice(whole)
        given = {name: value for name, value in chosen.items() if source.random() < 0.35}
        effective = effective_rules(policies)
        resolved = resolve_at(effective, site, given, edition)
        told = {_end(a) for a in resolved.alternatives}
        ready = RuleSet.of(policies)
        for alternative in resolved.alternatives:
            assert _comes_to(ready, resolved, alternative.bag) == _end(alternative), seed
        if resolved.is_sampled:
            continue
        settled += 1
        for bag in whole:
            if all(bag.get(name) == value for name, value in resolved.at.bag.items()):
                assert _comes_to(ready, resolved, bag) in told, (seed, bag)
    assert settled


def _comes_to(ready: RuleSet, resolved: Resolved, bag: Mapping[str, PropertyValue]) -> tuple[str | None, bool]:
    site, edition = resolved.at.site, resolved.rules
    selection = ready.select(bag, site.resolver.resolver(edition), status_filter=site.resolver.filters_status)
    failing = next((c.rule.name for c in selection.considered if c.outcome.name == "ERROR"), None)
    return (failing, True) if failing else (selection.rule.name if selection.rule else None, False)


def _rule(name: str, priority: int, glob: str) -> NamedPolicy:
    return NamedPolicy(name, priority, q.PropText(q.TextTest.MATCHES, "uri-host", glob), p.Immediate())


def test_an_overlap_of_globs_is_settled() -> None:
    """A rule behind a wider glob never decides, which samples alone do not show."""
    site = next(site for site in SITES if site.slug == "http-send-trap-p3")
    rules = (_rule("wide", 2, "*.example.com"), _rule("narrow", 1, "*.a.example.com"))
    answer = resolved_json(resolve_at(effective_rules(rules), site, {"uri-host": Text("x.a.example.com")}, NEXT))
    assert (answer["decided"], answer["rule"]) == (True, "wide")
    open_ = resolve_at(effective_rules(rules), site, {}, NEXT)
    assert not open_.is_sampled
    assert [a.rule for a in open_.alternatives] == ["wide", "default"]
    assert "proved without texts beyond ASCII where a glob reads them" in open_.notes


def test_what_is_not_known_yet_is_found() -> None:
    """The solver adds an outcome with its operation, proves that there is no other, and leaves a contradiction open."""
    site = next(site for site in SITES if site.slug == "http-send-trap-p3")
    rules = tuple(e.rule for e in effective_rules((_rule("a", 2, "*.example.com"),)))
    given = {"uri-scheme": Text("https")}
    found = unseen_outcome(site, NEXT, rules, given, frozenset(), frozenset((("rule", "default"),)))
    assert isinstance(found, Exists)
    assert str(found.bag["uri-host"].value).endswith(".example.com")
    both = frozenset((("rule", "default"), ("rule", "a")))
    assert isinstance(unseen_outcome(site, NEXT, rules, given, frozenset(), both), Impossible)
    wrong = {"uri-scheme": Text("ftp")}
    assert isinstance(unseen_outcome(site, NEXT, rules, wrong, frozenset(), both), Unsettled)
