"""The solver agrees with the representatives, and every bag that it finds is confirmed."""

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.edition import Edition, Rules
from policyd.core.retry import Boolean, Integer, NamedPolicy, PropertyValue, Text, evaluate_strict, glob_matches
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.predicate import properties_of
from policyd.core.retry.resolve import by_priority
from policyd.core.retry.sites import SITES, site_named
from policyd.core.retry.space import Space
from policyd.solver.retry_globs import glob_regex, plain_parts
from policyd.solver.retry_questions import (
    Exists,
    Impossible,
    Unsettled,
    counterexample,
    failure,
    overlap,
    satisfiable,
    wins,
)

_CONSTANTS: dict[str, tuple[PropertyValue, ...]] = {
    "verb": (Text("GET"), Text("POST"), Text("invoke"), Text("saga"), Text("get")),
    "status-code": (Integer(404), Integer(500), Integer(503), Integer(1000), Text("60"), Text("503"), Boolean(True)),
    "error-type": (Text("transient"), Text("http-status"), Text("permanent")),
    "attempt": (Integer(1), Integer(3), Integer(0)),
    "is-idempotent": (Boolean(True), Boolean(False), Text("true")),
    "agent-type": (Text("Cart"), Text("Other"), Integer(5)),
    "uri-port": (Integer(443), Integer(8080), Text("80")),
}
_SITES = [s for s in SITES if s.slug != "guest-resolve"]


def leaf_of(source: random.Random) -> q.Predicate:
    """A test of the decidable fragment."""
    name = source.choice(sorted(_CONSTANTS))
    values = _CONSTANTS[name]
    match source.randrange(6):
        case 0:
            return q.PropExists(name)
        case 1:
            return q.PropIn(name, tuple(source.sample(values, source.randrange(3))))
        case 2 if name in ("status-code", "verb"):
            return q.PropText(q.TextTest.STARTS_WITH, name, source.choice(("5", "G", "")))
        case _:
            integers = all(isinstance(v, Integer | Boolean) for v in values)
            ordered = integers or name == "status-code"
            comparison = source.choice(tuple(q.Comparison) if ordered else (q.Comparison.EQ, q.Comparison.NEQ))
            return q.PropCompare(comparison, name, source.choice(values))


def predicate_of(source: random.Random, depth: int = 2) -> q.Predicate:
    """A predicate of the decidable fragment."""
    if depth == 0 or source.random() < 0.3:
        return leaf_of(source)
    match source.randrange(3):
        case 0:
            return q.And(predicate_of(source, depth - 1), predicate_of(source, depth - 1))
        case 1:
            return q.Or(predicate_of(source, depth - 1), predicate_of(source, depth - 1))
        case _:
            return q.Not(predicate_of(source, depth - 1))


def _agrees(seed: int) -> None:
    source = random.Random(seed)
    site, rules = source.choice(_SITES), Rules(source.choice(tuple(Edition)))
    one, other = predicate_of(source), predicate_of(source)
    named = [NamedPolicy(n, 1, x, p.Immediate()) for n, x in (("a", one), ("b", other))]
    space = Space.of(site, rules, named)
    assert space.is_exact(properties_of(one) | properties_of(other))
    first, second = space.strict(one), space.strict(other)
    for found, contexts in (
        (overlap(site, rules, one, other), first.true & second.true),
        (counterexample(site, rules, one, [other]), first.true & ~second.true),
    ):
        assert not isinstance(found, Unsettled), (seed, found)
        assert isinstance(found, Exists) is bool(contexts), (seed, site.slug, one, other)


@pytest.mark.parametrize("start", range(0, 250, 50))
def test_pairs_of_selectors(start: int) -> None:
    """On pairs of the decidable fragment the solver finds a bag exactly where the representatives have one."""
    for seed in range(start, start + 50):
        _agrees(seed)


@pytest.mark.acceptance
def test_pairs_of_selectors_in_full() -> None:
    """The same on 5,000 pairs."""
    for seed in range(5_000):
        _agrees(seed)


GLOBS = st.text("ab/*?.", max_size=7)


@settings(max_examples=400)
@given(GLOBS, st.lists(st.text("ab/.", max_size=7), min_size=1, max_size=8))
def test_plain_globs_are_regular(pattern: str, texts: list[str]) -> None:
    """The language of a plain glob is what the matcher accepts."""
    parts = plain_parts(pattern)
    if parts is None:
        return
    signs = {"?": "[^/]", "*": "[^/]*", "**": ".*", "**/": "(?:.*/)?"}
    regex = re.compile("".join(signs.get(x.kind, re.escape(x.text)) for x in parts), re.DOTALL)
    for text in texts:
        assert glob_matches(pattern, text) is (regex.fullmatch(text) is not None)


def test_globs_are_reasoned_about() -> None:
    """Globs that exclude each other are proved to, and one within another is found."""
    site, rules = site_named("http-status-p3"), Rules()
    assert site is not None
    host = "uri-host"
    all_of = q.PropText(q.TextTest.MATCHES, host, "*.example.com")
    other = q.PropText(q.TextTest.MATCHES, host, "*.example.org")
    one = q.PropCompare(q.Comparison.EQ, host, Text("api.example.com"))
    assert isinstance(overlap(site, rules, all_of, other), Impossible)
    assert isinstance(counterexample(site, rules, one, [all_of]), Impossible)
    found = counterexample(site, rules, all_of, [one])
    assert isinstance(found, Exists)
    assert evaluate_strict(all_of, found.bag) is True


def test_prefixes_and_substrings() -> None:
    """Two text tests on one property, outside the fragment of representatives, are decided."""
    site, rules = site_named("rpc"), Rules()
    assert site is not None
    starts = q.PropText(q.TextTest.STARTS_WITH, "function", "get")
    holds = q.PropText(q.TextTest.CONTAINS, "function", "tus")
    assert isinstance(overlap(site, rules, starts, holds), Exists)
    never = q.PropCompare(q.Comparison.LT, "function", Text("abc"))
    assert isinstance(overlap(site, rules, starts, never), Impossible)


def test_what_does_not_exist_is_missing() -> None:
    """A predicate on a property that the site does not have is never true, and always fails."""
    site, rules = site_named("host-call"), Rules()
    assert site is not None
    test = q.PropCompare(q.Comparison.GTE, "status-code", Integer(500))
    assert isinstance(satisfiable(site, rules, test), Impossible)
    assert isinstance(failure(site, rules, test), Exists)
    assert isinstance(failure(site, rules, q.And(q.PropExists("status-code"), test)), Impossible)


def test_a_shadowed_rule_never_wins() -> None:
    """A rule below a wider one is proved never to decide; the wider one decides."""
    site, rules = site_named("rpc"), Rules()
    assert site is not None
    wide = NamedPolicy("wide", 9, q.PropText(q.TextTest.STARTS_WITH, "function", "get"), p.Immediate())
    narrow = NamedPolicy("narrow", 5, q.PropCompare(q.Comparison.EQ, "function", Text("get-all")), p.Immediate())
    policies = by_priority((narrow, wide))
    assert isinstance(wins(site, rules, policies, wide), Exists)
    assert isinstance(wins(site, rules, policies, narrow), Impossible)


def test_languages_are_terms() -> None:
    """Every plain glob has a term."""
    import z3

    parts = plain_parts("a/**/b?*")
    assert parts is not None
    assert isinstance(glob_regex(parts, z3.Context()), z3.ReRef)
