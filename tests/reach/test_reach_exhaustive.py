"""reach against exhaustive search on small random deployments, and every hop of its chains asked again.

The search here knows no index, no sets of calls and no instances that stand for others: it asks the evaluator for
every actor, every other actor and every call of a small alphabet.
"""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policyd.core.callsets.budget import MAX_STEPS
from policyd.core.cards import Surface, surface_of
from policyd.core.edition import NEXT
from policyd.core.grants import Owner, OwnerKind, agent_holder
from policyd.manifest import load_text
from policyd.syntax import parse_target
from policyd.usecases.deployments import Selection, described
from policyd.usecases.holders import holders_in
from policyd.usecases.reach import blast_radius, reach_to
from policyd.usecases.reach_hops import WAYS
from policyd.usecases.reach_world import entrances_of, world_of

TYPES = ("Ant", "Bee", "Cat")
METHODS = ("run", "call", "ask", "create-webhook")
KEYS = ("s.k", "s.other", "t.k")
OWNERS = ("?agent", "?env/*/*", "?component/*", "?component/Bee(*)", '?component/Cat("b")', "?component/Ant(*)")
RECIPIENTS = ("?agent", "?agent", "*", "acme@x.io/shop/prod/a:b/Cat", "acme@x.io")


@st.composite
def grant_texts(draw):
    """Grants of the classes by which authority and data move."""
    recipient = draw(st.sampled_from(RECIPIENTS))
    match draw(st.sampled_from(("agent", "agent", "secret", "kv", "kv", "card", "oplog", "any"))):
        case "agent":
            verb = draw(st.sampled_from(("invoke", "invoke", "*", "fork", "view", "update-revision")))
            resource = draw(st.sampled_from((*METHODS, "*"))) if verb == "invoke" else "*" if verb == "*" else ""
            return f"agent({draw(st.sampled_from(OWNERS))}) @ {recipient} : {verb} : {resource}".rstrip()
        case "secret":
            verb = draw(st.sampled_from(("reveal", "hold", "*")))
            return f"secret(?env) @ {recipient} : {verb} : {draw(st.sampled_from((*KEYS, 's.*', '*')))}"
        case "kv":
            verb = draw(st.sampled_from(("read", "write", "*")))
            return f"kv(?env) @ {recipient} : {verb} : {draw(st.sampled_from((*KEYS, 's.*', '*.**')))}"
        case "card":
            verb = draw(st.sampled_from(("derive", "install", "revoke", "*", "*")))
            resource = draw(st.sampled_from(("*", "acme@x.io/shop/prod/a:b/Cat"))) if verb == "install" else "*"
            return f"card(?account) @ {recipient} : {verb} : {resource}"
        case "oplog":
            return f"oplog({draw(st.sampled_from(OWNERS))}) @ {recipient} : read : *"
        case _:
            return f"agent(?env/*/*) @ {recipient} : * : *"


@st.composite
def manifests(draw):
    """Up to three agent types with cards, some of them reachable from outside."""
    out = [
        "manifestVersion: 1.6.0",
        "app: shop",
        "environments: {prod: {server: cloud, account: acme@x.io}}",
        "components: {'a:b': {dir: a, templates: rust}}",
        "agents:",
    ]
    types = TYPES[: draw(st.integers(2, 3))]
    for name in types:
        out += [f"  {name}:", "    initialCard:"]
        lists = {
            ("lowerBound", "positive"): draw(st.lists(grant_texts(), max_size=4)),
            ("lowerBound", "negative"): draw(st.lists(grant_texts(), max_size=1)),
            ("upperBound", "positive"): draw(st.one_of(st.just([]), st.lists(grant_texts(), max_size=4))),
            ("upperBound", "negative"): draw(st.lists(grant_texts(), max_size=1)),
        }
        for bound in ("lowerBound", "upperBound"):
            out.append(f"      {bound}:")
            for sign in ("positive", "negative"):
                items = ", ".join("'" + g + "'" for g in lists[bound, sign])
                out.append(f"        {sign}: [{items}]")
    if draw(st.booleans()):
        name = draw(st.sampled_from(types))
        out.append(f"httpApi: {{deployments: {{prod: [{{domain: a.b.io, agents: {{{name}: {{}}}}}}]}}}}")
    return "\n".join(out) + "\n"


QUERIES = (
    "secret(?env) : reveal : s.k",
    "secret(?env) : reveal : under(s)",
    "kv(?env) : write : t.k",
    "kv(?env) : read : any",
)


def world(text):
    selection = Selection("prod", None, "", "a:b")
    deployment = described(load_text(text), selection, NEXT)
    return world_of(holders_in(deployment, selection, "", "golem.yaml"), entrances_of(deployment), NEXT)


class Actor:
    """Somebody concrete: an agent by its id, the same with a card of somebody else, or the outside."""

    def __init__(self, name, surface, context=None, receiver=None):
        self.name, self.surface, self.context, self.receiver = name, surface, context, receiver
        self.held = []

    def may(self, text):
        return self.surface is not None and self.surface.allows(parse_target(text))

    @property
    def owner(self):
        return "/".join((*self.context.segments, self.context.agent_id))


def invokes(actor, owner):
    return any(actor.may(f"agent({owner}) : invoke : {method}") for method in METHODS)


def actors_of(found):
    """An actor for every node with cards of its own, and everything that cards passed on give to the plain ones.

    A card goes on as a child, moves as it is by the say of another card, or is lent for an invocation; whoever may
    revoke cards is rid of its own ceilings.
    """
    actors, plain = {}, {}
    for node in found.nodes:
        if node.party is not None and node.receiver is None:
            actor = Actor(node.name, node.party.surface(node.context.agent_id), node.context)
            actors[node.name] = actor
            if node.is_plain:
                plain[node.name] = (actor, node)
    held = {name: {} for name in plain}  # by root and kind
    carried = {(name, name, False) for name in plain}
    size = -1
    while size != (size := len(carried) + sum(map(len, held.values()))):
        for (root, hand, lent), name in product(sorted(carried), plain):
            actor, node = plain[name]
            card = plain[root][1].party.template.for_agent(plain[root][1].context)
            who = agent_holder(node.context)
            given = surface_of([card], who)
            if name in (root, hand) or not given.lower[0].positive:
                continue
            says = [plain[hand][0], *held[hand].values()]
            others = [plain[hand][0], *(a for (r, _), a in held[hand].items() if r != root)] if hand != root else []
            installing = f"card(acme@x.io) : install : {who.text}"
            derives = any(a.may("card(acme@x.io) : derive : *") for a in says)
            installs = any(a.may(installing) for a in (says if derives else others))
            if installs and not lent:
                carried.add((root, name, False))
            if derives and any(invokes(a, actor.owner) for a in says):
                carried.add((root, name, True))
            if {(root, name, False), (root, name, True)} & carried:
                own = actor.surface
                surface = Surface(own.holder, given.lower, (*own.upper, *given.upper), ())
                held[name].setdefault((root, "kept"), Actor(f"{name}+{root}", surface, node.context, actor))
                if any(a.may("card(acme@x.io) : revoke : *") for a in (actor, *held[name].values())):
                    surface = Surface(own.holder, given.lower, given.upper, ())
                    held[name].setdefault((root, "alone"), Actor(f"{name}+{root} alone", surface, node.context, actor))
    for name, more in held.items():
        plain[name][0].held = list(more.values())
        actors.update((a.name, a) for a in more.values())
    actors["external"] = Actor("external", None)
    return actors


def targets_of(query):
    """All calls of a query over the alphabet."""
    if query.startswith("secret"):
        keys = ["s.k"] if query.endswith("s.k") else ["s", "s.k", "s.other"]
        return [f"secret(acme@x.io/shop/prod) : reveal : {key}" for key in keys]
    verb = "write" if "write" in query else "read"
    keys = ["t.k"] if query.endswith("t.k") else [*KEYS, "zz.zz", "s.*", "*.**"]
    return [f"kv(acme@x.io/shop/prod) : {verb} : {key}" for key in keys]


def steps_between(x, y, entrances, follows_data):
    """Whether X comes by what Y can in one hop."""
    if y.surface is None:
        return False
    if y.receiver is not None:
        return y.receiver is x
    if x.receiver is y:
        return False
    acting = [y, *y.held]
    if x.surface is None:
        webhook = f"agent({y.owner}) : invoke : create-webhook"
        return y.context.agent_type in entrances or any(actor.may(webhook) for actor in acting)
    if invokes(x, y.owner) or x.may(f"agent({y.owner}) : fork :") or x.may(f"agent({y.owner}) : update-revision :"):
        return True
    if not follows_data:
        return False
    told = x.receiver is None and any(invokes(actor, x.owner) for actor in acting)
    kv = "kv(acme@x.io/shop/prod)"
    stored = [key for key in (*KEYS, "zz.zz") if x.may(f"{kv} : read : {key}")]
    shared = any(actor.may(f"{kv} : write : {key}") for actor in acting for key in stored)
    seen = x.may(f"oplog({y.owner}) : read : start=0:end=99") or x.may(f"agent({y.owner}) : view :")
    return told or shared or seen or x.may("agent(acme@x.io/shop/prod/a:b/*) : view :")


def exhaustive(found, query):
    """The names of everybody who gets there."""
    actors = actors_of(found)
    entrances = set(found.entrances)
    reached = {a.name for a in actors.values() if any(a.may(target) for target in targets_of(query))}
    grown = True
    while grown:
        new = {
            x.name
            for x, y in product(actors.values(), actors.values())
            if x.name not in reached
            and y.name in reached
            and x is not y
            and steps_between(x, y, entrances, follows_data="write" not in query)
        }
        grown = bool(new)
        reached |= new
    return {name for name in reached if "+" not in name}


def folded(names):
    return {name for name in names if name.partition(" as ")[0] not in names or " as " not in name}


def check_world(text):
    found = world(text).under(frozenset(), frozenset(), MAX_STEPS)
    for query in QUERIES:
        answer = reach_to(found, query)
        assert answer.undecided == (), answer.undecided
        expected = exhaustive(found, query)
        assert {chain.start for chain in answer.chains} == folded(expected), (query, text)
        assert answer.word == ("path" if expected else "none")
        for chain in answer.chains:
            confirm(found, chain, query)
    return found


def confirm(found, chain, query):
    """Ask the evaluator for every call of a chain, and look at its ends."""
    nodes = {node.name: node for node in found.nodes}
    last = chain.start
    for hop in chain.hops:
        assert hop.actor.name == last
        assert hop.way.id in WAYS
        last = hop.subject.name
        assert hop.calls or hop.way.id == "entrance"
        for call in hop.calls:
            assert asks(nodes[call.who], call.target), (call, chain)
            assert call.grants
    assert chain.end.who == last
    assert asks(nodes[last], chain.end.target)


def asks(node, text):
    target = parse_target(text, slots=True)
    return node.surface.allows(target.filled(node.context))


@settings(max_examples=60, deadline=None)
@given(manifests())
def test_a_share(text):
    check_world(text)


@pytest.mark.acceptance
@settings(max_examples=1_000, deadline=None, derandomize=True)
@given(manifests())
def test_all(text):
    check_world(text)


def test_instances_behave_like_the_ones_that_stand_for_them():
    """An id that nothing names is treated like the plain instance."""
    found = world(
        "manifestVersion: 1.6.0\napp: shop\nenvironments: {prod: {server: cloud, account: acme@x.io}}\n"
        "components: {'a:b': {dir: a, templates: rust}}\nagents:\n"
        "  Ant: {initialCard: {lowerBound: {positive: ['agent(?component/Bee(\"b\")) @ ?agent : invoke : run']}}}\n"
        "  Bee: {initialCard: {lowerBound: {positive: ['secret(?env) @ ?agent : reveal : s.k']}}}\n"
    )
    answer = reach_to(found, QUERIES[0])
    assert [chain.start for chain in answer.chains] == ["Bee", "Ant"]
    assert answer.chains[1].hops[0].subject.name == 'Bee as Bee("b")'
    owner = Owner(OwnerKind.AGENT, ("acme@x.io", "shop", "prod", "a:b", 'Bee("zz")'))
    ant = next(node for node in found.nodes if node.name == "Ant")
    assert not ant.surface.allows(parse_target(f"agent({owner.text}) : invoke : run"))


def onward(found, start):
    """The names of everybody to whom a chain leads from one actor, itself included."""
    actors = actors_of(found)
    entrances = set(found.entrances)
    reached, waiting = {start}, [start]
    while waiting:
        x = actors[waiting.pop()]
        for y in actors.values():
            if y.name not in reached and x is not y and steps_between(x, y, entrances, follows_data=True):
                reached.add(y.name)
                waiting.append(y.name)
    return {name for name in reached if "+" not in name}


@settings(max_examples=40, deadline=None)
@given(manifests())
def test_what_an_actor_comes_by_is_the_same_search_the_other_way_round(text):
    found = world(text).under(frozenset(), frozenset(), MAX_STEPS)
    for start in ("external", *(node.name for node in found.nodes if node.is_plain and node.party)):
        if " with a " in start:
            continue
        touched = {one.name for one in blast_radius(found, start).touched if " with a " not in one.name}
        expected = set().union(*(onward(found, node.name) for node in found.named(start)))
        assert touched == folded(expected) - ({"external"} - {start}), (start, text)


@settings(max_examples=40, deadline=None)
@given(manifests(), st.sampled_from(QUERIES), st.sampled_from(QUERIES))
def test_two_things_together(text, one, other):
    found = world(text)
    answer = reach_to(found, one, together=other)
    both = found.under(frozenset(), frozenset(), MAX_STEPS)
    expected = folded(exhaustive(both, one) & exhaustive(both, other))
    assert {chain.start for chain in answer.chains} == expected
    assert answer.word == ("path" if expected else "none")
