"""What rules tell is true of every call: grants that are told to be useless can go, and proofs of no overlap hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policyd.analysis import RULES, Subject
from policyd.analysis.effect import THIS_AGENT, targets_may_overlap
from policyd.analysis.grant_index import GrantIndex
from policyd.analysis.subject import AuditedCard
from policyd.core.application import AgentType, Deployment, GrantOrigin, InitialCard, PlacedGrant
from policyd.core.cards import (
    Bound,
    Bounds,
    Card,
    CardId,
    DeployRefused,
    account_root_bounds,
    surface_of,
    validate_initial_card,
)
from policyd.core.grants import AgentContext, Grant, Target, agent_holder
from policyd.findings import Span
from policyd.syntax import Form, parse_grant, parse_target

ORDINARY = 'Cart("1")'
PHANTOM = 'Cart("1")[7d0f0f0f-0000-4000-8000-00000000000b]'
NAMES = ("acme@example.com", "shop", "prod", "shop:cart")
PATH = "/".join(NAMES)

OWNERS = {
    "agent": ["?agent", "?component/*", "?component/Cart(*)", "?env/*/*", "?component/Stock(*)", f"{PATH}/{ORDINARY}"],
    "environment": ["?env", "?account/*/*", "acme@example.com/shop/prod", "acme@example.com/shop/test"],
    "account": ["?account", "bob@example.com"],
    "tool": ["?env/*/*", "?component/grep", "?component/*"],
}
SHAPES: dict[str, tuple[str, list[str], list[str]]] = {
    "kv": ("environment", ["read", "write", "*"], ["s.*", "s.**", "s.k", "*.k", "*.**", "t.k", "s.k*"]),
    "rdbms": ("environment", ["query", "*"], ["d.s.t", "d.*.*", "*.*.t", "*.*.*"]),
    "secret": ("environment", ["hold", "*"], ["*", "**", "a.b", "a.*", "a.**", "*.b", "c"]),
    "config": ("agent", ["read", "*"], ["*", "**", "a.b", "a.*", "a", "**.x"]),
    "env": ("agent", ["read", "*"], ["*", "A", "GOLEM_AGENT_ID"]),
    "filesystem": ("agent", ["read", "*"], ["/**", "/a", "/a/*", "/a/**", "/*/b", "/**/b", "/a/../b", "/"]),
    "oplog": ("agent", ["read"], ["*", "start=1:end=4", "start=5", "start=9:end=2", "end=3"]),
    "agent": ("agent", ["view", "*"], ["", "*", "m", "n"]),
    "card": ("account", ["derive", "*"], ["*", "acme@example.com/shop/prod/shop:cart/Cart"]),
    "network": ("", ["connect"], ["*", "h.x", "*.x", "h.x:80", "h.x:70-90", "*.x:90-99", "*:80", "10.0.0.1"]),
    "tool": ("tool", ["invoke"], ["*", "run", "run --p=*", "run x"]),
}
ASKED: dict[str, tuple[list[str], list[str]]] = {
    "kv": (["acme@example.com/shop/prod"], ["s.k", "s.**", "t.k", "s.z", "s.k*"]),
    "rdbms": (["acme@example.com/shop/prod"], ["d.s.t", "d.*.*", "e.s.t"]),
    "secret": (["acme@example.com/shop/prod"], ["a.b", "c", "a.x", "a.b.c"]),
    "config": (["SELF"], ["a.b", "a", "a.x", "a.b.c"]),
    "env": (["SELF"], ["A", "GOLEM_AGENT_ID", "B"]),
    "filesystem": (["SELF"], ["/a", "/a/b", "/c/b", "/a/c/b", "/"]),
    "oplog": (["SELF", f"{PATH}/Stock(1)"], ["start=2:end=3", "start=7:end=8", "start=1:end=1"]),
    "agent": (["SELF", f"{PATH}/Stock(1)", f"{PATH}/*"], ["", "m"]),
    "card": (["acme@example.com"], ["*", "acme@example.com/shop/prod/shop:cart/Cart"]),
    "network": ([""], ["h.x", "h.x:80", "h.x:95", "g.x:80", "10.0.0.1:80"]),
    "tool": ([f"{PATH}/grep"], ["run", "run x", "run --p=a"]),
}
RECIPIENTS = ["?agent", "?agent", "?component/*", "*", "?component/Stock", f"{PATH}/{ORDINARY}", "?env/*/*"]


@st.composite
def grant_texts(draw: st.DrawFn) -> str:
    """A grant as a manifest may write it."""
    name = draw(st.sampled_from(sorted(SHAPES)))
    owners, verbs, resources = SHAPES[name]
    owner = draw(st.sampled_from(OWNERS.get(owners, [""])))
    verb = draw(st.sampled_from(verbs))
    return f"{name}({owner}) @ {draw(st.sampled_from(RECIPIENTS))} : {verb} : {draw(st.sampled_from(resources))}"


def calls(agent_id: str) -> list[Target]:
    """Every call of the small universe that one agent can make."""
    found = []
    for name, (owners, resources) in ASKED.items():
        for owner in owners:
            for verb in SHAPES[name][1]:
                if verb != "*":
                    path = f"{PATH}/{agent_id}" if owner == "SELF" else owner
                    found += [parse_target(f"{name}({path}) : {verb} : {resource}") for resource in resources]
    return found


CALLS = {agent_id: calls(agent_id) for agent_id in (ORDINARY, PHANTOM)}


def context(agent_id: str) -> AgentContext:
    return AgentContext(*NAMES, "Cart", agent_id)


def placed(text: str, line: int) -> PlacedGrant:
    return PlacedGrant(parse_grant(text, Form.MANIFEST), GrantOrigin.WRITTEN, text, Span("m", line, 1))


def card_of(lists: tuple[list[str], ...]) -> InitialCard:
    line = iter(range(1, 1000))
    return InitialCard("agents.Cart", Span("m", 1000, 1), *(tuple(placed(t, next(line)) for t in x) for x in lists))


def admitted(card: InitialCard, agent_id: str) -> list[bool]:
    """What the card alone admits of every call, by the plain evaluator."""
    filled = Card(card.card(context("")).id, card.bounds(context(agent_id)), is_polymorphic=True)
    surface = surface_of([filled.for_agent(context(agent_id))], agent_holder(context(agent_id)))
    return [surface.allows(call) for call in CALLS[agent_id]]


def has_ceiling(card: InitialCard) -> bool:
    return subject_of(card).cards[0].has_ceiling


def subject_of(card: InitialCard) -> Subject:
    agent = AgentType("Cart", Span("m", 999, 1), True, "shop:cart", False, card)
    return Subject(Deployment("shop", "prod", None, (), NAMES[0], "", (agent,)))


USELESS = {"CARD009", "CARD010", "CARD011", "CARD012", "CARD013", "CARD014", "CARD016"}
LISTS = st.tuples(*(st.lists(grant_texts(), max_size=5) for _ in range(4)))


@given(LISTS)
def test_a_grant_told_to_be_useless_can_go(lists: tuple[list[str], ...]) -> None:
    """Taking out a grant that a rule calls useless changes no answer, for ordinary agents and phantoms."""
    card = card_of(lists)
    subject = subject_of(card)
    for rule in RULES:
        if rule.code not in USELESS:
            continue
        for finding in rule.run(subject):
            rest = InitialCard(
                card.layer, card.span, *(tuple(p for p in card.of(b) if p.span != finding.span) for b in Bound)
            )
            if has_ceiling(card) != has_ceiling(rest):
                continue  # the last upper positive for the holder: without it there is no ceiling at all
            for agent_id in CALLS:
                assert admitted(rest, agent_id) == admitted(card, agent_id), finding


@given(LISTS)
def test_a_foreign_ceiling_limits_nothing(lists: tuple[list[str], ...]) -> None:
    """Where CARD017 says that there is no ceiling, dropping all upper positives changes no answer."""
    card = card_of(lists)
    foreign = next(rule for rule in RULES if rule.code == "CARD017")
    if list(foreign.run(subject_of(card))):
        rest = InitialCard(card.layer, card.span, card.lower_positive, card.lower_negative, (), card.upper_negative)
        for agent_id in CALLS:
            assert admitted(rest, agent_id) == admitted(card, agent_id)


@given(grant_texts(), grant_texts())
def test_no_overlap_is_a_proof(left: str, right: str) -> None:
    """If two grants are said not to overlap, no call is covered by both."""
    a, b = (parse_grant(text, Form.MANIFEST).target for text in (left, right))
    symbolic = context(THIS_AGENT)
    if a.cls != b.cls or targets_may_overlap(a.filled(symbolic), b.filled(symbolic), "Cart"):
        return
    for agent_id, targets in CALLS.items():
        one, other = a.filled(context(agent_id)), b.filled(context(agent_id))
        assert not any(one.covers(call) and other.covers(call) for call in targets)


@given(st.lists(grant_texts(), min_size=1, max_size=12))
def test_the_index_finds_what_comparing_all_pairs_finds(texts: list[str]) -> None:
    """Looking up gives exactly the entries that cover a target, in order."""
    card = AuditedCard.of(
        subject_of(card_of((texts, [], [], []))).deployment.agents[0], Deployment("", "", None, (), NAMES[0], ""), ""
    )
    entries = card.of_bound(Bound.LOWER_POSITIVE)
    index = GrantIndex(entries)
    for entry in entries:
        slow = [other for other in entries if other.grant.target.covers(entry.grant.target)]
        assert index.covering(entry.grant.target) == slow


@given(LISTS)
def test_no_rule_breaks_and_places_are_told(lists: tuple[list[str], ...]) -> None:
    """Every rule copes with any readable card, and each finding has a place."""
    subject = subject_of(card_of(lists))
    for rule in RULES:
        for finding in rule.run(subject):
            assert finding.code == rule.code
            assert finding.span is not None


CONCRETE = {
    "agent": [f"{PATH}/*", f"{PATH}/Cart(*)", "acme@example.com/*/*/*/*", f"{PATH}/{ORDINARY}"],
    "environment": ["acme@example.com/*/*", "acme@example.com/shop/prod"],
    "account": ["acme@example.com"],
    "tool": ["acme@example.com/*/*/*/*", f"{PATH}/grep"],
}
HELD_BY = ["*", "acme@example.com", f"{PATH}/Cart", f"{PATH}/*"]


@st.composite
def held_grants(draw: st.DrawFn) -> Grant:
    """A grant of a deployer's card, wider than most."""
    name = draw(st.sampled_from(sorted(SHAPES)))
    owners, verbs, resources = SHAPES[name]
    owner = draw(st.sampled_from(CONCRETE.get(owners, [""])))
    verb = draw(st.sampled_from(["*", "*", *verbs]))
    wide = {"kv": "*.**", "rdbms": "*.*.*", "filesystem": "/**", "agent": "*"}.get(name, "*")
    resource = draw(st.sampled_from([wide, wide, *resources]))
    return parse_grant(f"{name}({owner}) @ {draw(st.sampled_from(HELD_BY))} : {verb} : {resource}", Form.CONCRETE)


NEGATIVES = st.lists(held_grants(), max_size=1)
HELD = st.builds(
    lambda p, n, up, un: Bounds(tuple(p), tuple(n), tuple(up), tuple(un)),
    st.lists(held_grants(), max_size=8),
    NEGATIVES,
    NEGATIVES,
    NEGATIVES,
)


@given(LISTS, st.lists(HELD, max_size=3), st.booleans())
def test_the_deploy_rules_refuse_what_the_registry_refuses(
    lists: tuple[list[str], ...], held: list[Bounds], has_root: bool
) -> None:
    """A card gets a finding of CARD001 to CARD003 exactly if the registry would refuse it."""
    bounds = [*held, *([account_root_bounds(NAMES[0])] if has_root else [])]
    deployer = tuple(Card(CardId(f"card-{i}"), b) for i, b in enumerate(bounds))
    card = card_of(lists)
    subject = Subject(subject_of(card).deployment, deployer=deployer)
    told = [f for rule in RULES if rule.code in ("CARD001", "CARD002", "CARD003") for f in rule.run(subject)]
    refused = isinstance(validate_initial_card(card.bounds(context("")), deployer, "Cart"), DeployRefused)
    assert bool(told) == refused, told
