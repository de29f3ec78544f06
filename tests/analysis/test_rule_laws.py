"""What rules tell is true of every call: grants that are told to be useless can go, and proofs of no overlap hold."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from policyd.analysis import RULES, Subject
from policyd.analysis.effect import THIS_AGENT, targets_may_overlap
from policyd.analysis.grant_index import GrantIndex
from policyd.analysis.subject import AuditedCard
from policyd.core.application import AgentType, Deployment, GrantOrigin, InitialCard, PlacedGrant
from policyd.core.callsets import Standing, Universe, admitted_by, effects
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
from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext, Grant, Level, Recipient, Slot, Target, agent_holder
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
    "kv": (["acme@example.com/shop/prod"], ["s.k", "t.k", "s.z", "s.k*"]),
    "rdbms": (["acme@example.com/shop/prod"], ["d.s.t", "d.*.*", "e.s.t"]),
    "secret": (["acme@example.com/shop/prod"], ["a.b", "c", "a.x", "a.b.c"]),
    "config": (["SELF"], ["a.b", "a", "a.x", "a.b.c"]),
    "env": (["SELF"], ["A", "GOLEM_AGENT_ID", "B"]),
    "filesystem": (["SELF"], ["/a", "/a/b", "/c/b", "/a/c/b", "/"]),
    "oplog": (["SELF", f"{PATH}/Stock(1)"], ["start=2:end=3", "start=7:end=8", "start=1:end=1"]),
    "agent": (["SELF", f"{PATH}/Stock(1)", f"{PATH}/*"], ["", "m"]),
    "card": (["acme@example.com"], ["*"]),
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
    """Every call of the small universe that one agent can make; only such as operations ask for."""
    found = []
    for name, (owners, resources) in ASKED.items():
        for owner in owners:
            for verb in SHAPES[name][1]:
                if verb != "*":
                    path = f"{PATH}/{agent_id}" if owner == "SELF" else owner
                    # all agents of a component are asked for without a resource
                    some = [""] if path.endswith("/*") else resources
                    found += [parse_target(f"{name}({path}) : {verb} : {resource}") for resource in some]
    return found


CALLS = {agent_id: calls(agent_id) for agent_id in (ORDINARY, PHANTOM)}


def context(agent_id: str) -> AgentContext:
    return AgentContext(*NAMES, "Cart", agent_id)


def placed(text: str, line: int) -> PlacedGrant:
    return PlacedGrant(parse_grant(text, Form.MANIFEST), GrantOrigin.WRITTEN, text, Span("m", line, 1))


def card_of(lists: tuple[list[str], ...]) -> InitialCard:
    line = iter(range(1, 1000))
    return InitialCard("agents.Cart", Span("m", 1000, 1), *(tuple(placed(t, next(line)) for t in x) for x in lists))


def admitted(card: InitialCard, agent_id: str, *others: Card) -> list[bool]:
    """What the card admits of every call, alone or beside others, by the plain evaluator."""
    filled = Card(card.card(context("")).id, card.bounds(context(agent_id)), is_polymorphic=True)
    surface = surface_of([filled.for_agent(context(agent_id)), *others], agent_holder(context(agent_id)))
    return [surface.allows(call) for call in CALLS[agent_id]]


def has_ceiling(card: InitialCard) -> bool:
    return subject_of(card).cards[0].has_ceiling


def subject_of(card: InitialCard) -> Subject:
    agent = AgentType("Cart", Span("m", 999, 1), True, "shop:cart", False, card)
    return Subject(Deployment("shop", "prod", None, (), NAMES[0], "", (agent,)))


USELESS = {"CARD009", "CARD010", "CARD011", "CARD012", "CARD013", "CARD014", "CARD016", "CARD026"}
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


EFFECTS = {*USELESS, "CARD006", "CARD017", "CARD027"}
SHOWN = {"CARD019", "HOST001", "HOST002", "HOST003", "HOST004", "HOST013"}


@given(LISTS)
def test_no_effect_is_told_without_a_proof_or_a_call(lists: tuple[list[str], ...]) -> None:
    """A finding about effect says what its proof quantifies over, or shows a call that the evaluator decides so."""
    card = card_of(lists)
    for rule in RULES:
        for finding in rule.run(subject_of(card)):
            if rule.code in EFFECTS:
                assert any(r.message.startswith("proved for every call of every") for r in finding.related), finding
            if rule.code in SHOWN:
                call = parse_target(finding.witness, slots=True).filled(context(ORDINARY))
                filled = Card(card.card(context("")).id, card.bounds(context(ORDINARY)), is_polymorphic=True)
                surface = surface_of([filled.for_agent(context(ORDINARY))], agent_holder(context(ORDINARY)))
                assert surface.allows(call) is (rule.code == "HOST001"), finding


@given(LISTS)
def test_all_that_has_no_effect_can_go_at_once(lists: tuple[list[str], ...]) -> None:
    """Taking out everything that CARD026 tells changes no answer, whatever a second card lends and withholds."""
    card = card_of(lists)
    rule = next(rule for rule in RULES if rule.code == "CARD026")
    gone = {f.span for f in rule.run(subject_of(card))}
    rest = InitialCard(card.layer, card.span, *(tuple(p for p in card.of(b) if p.span not in gone) for b in Bound))
    for agent_id in CALLS:
        for second in SECOND_CARDS:
            assert admitted(rest, agent_id, second) == admitted(card, agent_id, second)


@given(LISTS)
def test_grants_for_others_change_nothing_for_them_either(lists: tuple[list[str], ...]) -> None:
    """Were the card moved to another holder, what CARD026 tells would change no answer for that one either."""
    card = card_of(lists)
    rule = next(rule for rule in RULES if rule.code == "CARD026")
    gone = {f.span for f in rule.run(subject_of(card))}
    rest = InitialCard(card.layer, card.span, *(tuple(p for p in card.of(b) if p.span not in gone) for b in Bound))
    for holder in OTHERS:
        for agent_id in CALLS:
            assert held_by(holder, rest, agent_id) == held_by(holder, card, agent_id)


OTHERS = (
    agent_holder(AgentContext(*NAMES, "Stock", "Stock(1)")),
    agent_holder(AgentContext(*NAMES[:3], "other:part", "Cart", ORDINARY)),
    Recipient(Level.ACCOUNT, (NAMES[0],)),
    Recipient(Level.ACCOUNT, ("bob@example.com",)),
)


def held_by(holder: Recipient, card: InitialCard, agent_id: str) -> list[bool]:
    """What the card, filled for an agent, admits somebody else of all calls."""
    filled = Card(card.card(context("")).id, card.bounds(context(agent_id)), is_polymorphic=True)
    surface = surface_of([filled.for_agent(context(agent_id))], holder)
    return [surface.allows(call) for calls in CALLS.values() for call in calls]


@given(LISTS)
def test_names_that_are_not_known_may_be_any(lists: tuple[list[str], ...]) -> None:
    """What CARD026 tells without knowing account and component holds for every account and component."""
    card = card_of(lists)
    agent = AgentType("Cart", Span("m", 999, 1), True, "", False, card)
    subject = Subject(Deployment("shop", "prod", None, (), "", "", (agent,)))
    rule = next(rule for rule in RULES if rule.code == "CARD026")
    gone = {f.span for f in rule.run(subject)}
    rest = InitialCard(card.layer, card.span, *(tuple(p for p in card.of(b) if p.span not in gone) for b in Bound))
    for account, component in product(("acme@example.com", "bob@example.com", "zoe@example.com"), ("shop:cart", "a:b")):
        for agent_id in CALLS:
            names = AgentContext(account, "shop", "prod", component, "Cart", agent_id)
            assert admitted_as(rest, names) == admitted_as(card, names)


def admitted_as(card: InitialCard, names: AgentContext) -> list[bool]:
    """What the card alone admits an agent of these names, of the calls that `CALLS` has for its own."""
    filled = Card(card.card(context("")).id, card.bounds(names), is_polymorphic=True)
    surface = surface_of([filled.for_agent(names)], agent_holder(names))
    path = "/".join((*names.segments, names.agent_id or ""))
    texts = [call.text.replace(f"{PATH}/{names.agent_id}", path) for call in CALLS[names.agent_id or ""]]
    texts += [text.replace(NAMES[0], names.account) for text in texts]
    return [surface.allows(parse_target(text)) for text in texts]


@given(LISTS)
def test_what_the_structure_finds_idle_is_told(lists: tuple[list[str], ...]) -> None:
    """A grant for the agents alone that the structural procedure finds without effect on its card is told by a rule."""
    card = card_of(lists)
    for _ in range(20):
        codes = {*USELESS, "HOST008"}  # the latter tells of arguments that no call has
        told = {f.span for rule in RULES if rule.code in codes for f in rule.run(subject_of(card))}
        if not told:
            break
        card = InitialCard(card.layer, card.span, *(tuple(p for p in card.of(b) if p.span not in told) for b in Bound))
    if not card.lower_positive:
        return  # CARD006: every request is refused, and so there is nothing that a negative could do
    idle = [idle_places(card, agent_id) for agent_id in (ORDINARY, PHANTOM, FRESH, f"{FRESH}{PHANTOM[-38:]}")]
    assert not set.intersection(*idle)


FRESH = 'Cart("none of them")'
SECOND_CARDS = (
    Card(CardId("second"), account_root_bounds(NAMES[0])),
    Card(
        CardId("third"),
        Bounds(
            tuple(parse_grant(t, Form.CONCRETE) for t in ("network() @ * : connect : *", "kv(*/*/*) @ * : * : *.**")),
            (),
            tuple(parse_grant(t, Form.CONCRETE) for t in ("network() @ * : * : *.x", "kv(*/*/*) @ * : read : s.**")),
        ),
    ),
)


def idle_places(card: InitialCard, agent_id: str) -> set[Span | None]:
    """The lower grants for `?agent` that change nothing for one instance, by the effects of the whole wallet."""
    filled = Card(card.card(context("")).id, card.bounds(context(agent_id)), is_polymorphic=True)
    holder = agent_holder(context(agent_id))
    surface = surface_of([filled.for_agent(context(agent_id))], holder)
    found: set[Span | None] = set()
    for effect in effects(admitted_by(surface), Universe.of(holder, NEXT, agent_id)):
        placed = card.place(effect.ref)
        is_own = placed is not None and placed.grant.recipient.slot is Slot.AGENT and not placed.grant.recipient.known
        if is_own and effect.ref.bound.is_lower and effect.standing not in (Standing.NEEDED, Standing.UNDECIDED):
            found.add(placed.span if placed is not None else None)
    return found


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
