"""What is said of all contexts at once is what the evaluator says of each, and no context is missing."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.edition import Edition, Rules
from policyd.core.retry import (
    Boolean,
    Integer,
    NamedPolicy,
    PropertyValue,
    Resolver,
    RuleSet,
    Text,
    evaluate_lenient,
    evaluate_strict,
)
from policyd.core.retry import policy as p
from policyd.core.retry import predicate as q
from policyd.core.retry.evaluate import Lenient, body_applies
from policyd.core.retry.nouns import noun_fragment
from policyd.core.retry.sites import SITES, Noun, Site
from policyd.core.retry.space import Space, predicates_of
from policyd.core.retry.value import PropertyNotFound

HOSTS = ("api.example.com", "b.example.com", "API.example.com", "x")
PATHS = ("/", "/v1", "/v1/items", "v1", "")
_CONSTANTS = {
    "verb": ("GET", "POST", "get", "invoke", "saga", "query"),
    "status-code": (100, 404, 500, 503, 999, 1000, "503", "60", True),
    "error-type": ("transient", "http-status", "permanent"),
    "uri-host": HOSTS,
    "uri-path": PATHS,
    "uri-scheme": ("https", "http", "urn"),
    "uri-port": (80, 443, 8080),
    "noun-uri": ("https://api.example.com/v1", "golem://api"),
    "attempt": (1, 2, 5, "2"),
    "is-idempotent": (True, False, "true"),
    "agent-type": ("Cart", "Other"),
    "function": ("add",),
    "statusCode": (5,),
}


def _value(plain: object) -> PropertyValue:
    match plain:
        case bool():
            return Boolean(plain)
        case int():
            return Integer(plain)
        case _:
            return Text(str(plain))


@st.composite
def _leaf(draw: st.DrawFn) -> q.Predicate:
    name = draw(st.sampled_from(sorted(_CONSTANTS)))
    values = [_value(v) for v in _CONSTANTS[name]]
    return draw(
        st.one_of(
            st.builds(q.PropCompare, st.sampled_from(q.Comparison), st.just(name), st.sampled_from(values)),
            st.builds(q.PropExists, st.just(name)),
            st.builds(q.PropIn, st.just(name), st.lists(st.sampled_from(values), max_size=3).map(tuple)),
            st.builds(
                q.PropText,
                st.sampled_from(q.TextTest),
                st.just(name),
                st.sampled_from(("", "5", "a", "https://*", "https://**", "*.example.com", "api", "/v1/**", "[GP]*")),
            ),
        )
    )


PREDICATES = st.recursive(
    _leaf(),
    lambda below: st.one_of(st.builds(q.And, below, below), st.builds(q.Or, below, below), st.builds(q.Not, below)),
    max_leaves=4,
)
BODIES = st.recursive(
    st.sampled_from((p.Immediate(), p.Never())),
    lambda below: st.one_of(
        st.builds(p.FilteredOn, PREDICATES, below),
        st.builds(p.CountBox, st.just(3), below),
        st.builds(p.Union, below, below),
        st.builds(p.Intersect, below, below),
    ),
    max_leaves=3,
)
RULES = st.lists(
    st.builds(NamedPolicy, st.sampled_from("abcd"), st.integers(0, 3), PREDICATES, BODIES),
    min_size=1,
    max_size=3,
    unique_by=lambda rule: rule.name,
)
SITE = st.sampled_from(SITES)


@settings(max_examples=150, deadline=None)
@given(RULES, SITE, st.sampled_from(Edition))
def test_masks_are_the_evaluations(rules: list[NamedPolicy], site: Site, edition: Edition) -> None:
    """In each context every predicate, body and selection comes out as the evaluator says for its bag."""
    space = Space.of(site, Rules(edition), rules)
    ready = RuleSet.of(rules)
    picked = space.pick(ready.rules)
    for index in range(0, space.size, max(1, space.size // 25)):
        bag, here = space.bag_at(index), 1 << index
        for predicate in predicates_of(rules):
            strict, lenient = evaluate_strict(predicate, bag), evaluate_lenient(predicate, bag)
            masks = space.strict(predicate)
            place = 0 if strict is True else 1 if strict is False else 2 if isinstance(strict, PropertyNotFound) else 3
            assert masks[place] & here
            order = (Lenient.MATCH, Lenient.NO_MATCH, Lenient.MISSING)
            assert space.lenient(predicate)[order.index(lenient) if isinstance(lenient, Lenient) else 3] & here
        for rule in rules:
            applies = body_applies(rule.policy, bag)
            assert space.applies(rule.policy)[0 if applies is True else 1 if applies is False else 2] & here
        resolver = site.resolver.resolver(Rules(edition))
        assert isinstance(resolver, Resolver)
        chosen = ready.pick(bag, resolver, status_filter=site.resolver.filters_status)
        won = [j.rule for j in picked.judged if j.win & here]
        ended = [j.rule for j in picked.judged if j.ends & here]
        assert won == ([chosen] if isinstance(chosen, NamedPolicy) else [])
        assert bool(ended) is (chosen is not None and not isinstance(chosen, NamedPolicy))
        assert bool(picked.none & here) is (chosen is None)


@settings(max_examples=60, deadline=None)
@given(RULES, st.sampled_from([s for s in SITES if s.noun is Noun.HTTP]), st.sampled_from(Edition))
def test_no_http_request_is_missing(rules: list[NamedPolicy], site: Site, edition: Edition) -> None:
    """Where representatives are complete, whatever a request looks like, some context comes out like it."""
    edition_rules = Rules(edition)
    space = Space.of(site, edition_rules, rules)
    predicates = list(predicates_of(rules))
    names = {name for group in space.groups for name in group.names}
    if not space.is_exact(names):
        return
    seen = {_signature(predicates, space.bag_at(i)) for i in range(space.size)} if space.size <= 5_000 else None
    if seen is None:
        return
    always = site.always_present(edition_rules)
    for verb, host, path, status in product(
        ("GET", "POST", "BREW"), HOSTS, ("", "/v1", "/other"), (100, 404, 503, 777)
    ):
        noun = noun_fragment(site, f"https://{host}:8080{path}")
        bag: dict[str, PropertyValue] = {**noun, "verb": Text(verb)}
        if "status-code" in always:
            bag["status-code"] = Integer(status)
        if site.error_type:
            bag["error-type"] = Text(site.error_type)
        if "agent-type" in always:
            bag["agent-type"] = Text("Some")
        if "is-idempotent" in always:
            bag["is-idempotent"] = Boolean(True)
        assert _signature(predicates, bag) in seen


def _signature(predicates: list[q.Predicate], bag: dict[str, PropertyValue]) -> tuple[object, ...]:
    found = []
    for predicate in predicates:
        outcome = evaluate_strict(predicate, bag)
        found.append(outcome if isinstance(outcome, bool) else type(outcome).__name__)
    return tuple(found)
