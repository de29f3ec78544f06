"""The parts of the procedure: the universe, holders and instances, budgets, widths, replayed witnesses."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from callsets.reading import COMPONENT, ENVIRONMENT, HOLDER, grant, surface

from policyd.core.callsets import (
    Everything,
    Fails,
    Holds,
    Undecided,
    Universe,
    admitted_by,
    always,
    below,
    calls_of,
    confirmed,
    difference,
    effects,
    instances_of,
    is_empty,
    minus,
    never,
    query,
    query_text,
    width_of,
)
from policyd.core.callsets.axes import numbered_uuid
from policyd.core.callsets.budget import SEARCHES_AT_FULL_COST, Effort
from policyd.core.callsets.owners import OwnerForm, is_agent_id
from policyd.core.callsets.search import calls_in
from policyd.core.cards import Bounds
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import (
    ANY_VERB,
    AgentContext,
    Owner,
    OwnerKind,
    PermissionClass,
    ResourceKind,
    Target,
    class_named,
)
from policyd.findings import InternalDefect
from policyd.syntax import parse_owner, parse_resource, parse_target

UNIVERSE = Universe.of(HOLDER)
PHANTOM = "[7d0f0f0f-0000-4000-8000-00000000000b]"


def named(name: str):
    found = class_named(name, NEXT)
    assert found is not None
    return found


def test_every_verb_of_every_class_has_a_shape() -> None:
    """All classes of both editions take part with every verb, and shapes of a verb never share an owner form."""
    for rules in (NEXT, SNAPSHOT):
        universe = Universe(rules)
        for cls in universe.classes:
            for verb in cls.verbs:
                shapes = universe.shapes(cls, verb)
                assert shapes[0].owner is OwnerForm.EXACT
                assert len({s.owner for s in shapes}) == len(shapes)
                assert all(s.resources for s in shapes)
    assert len(Universe(SNAPSHOT).classes) == 34
    assert len(Universe(NEXT).classes) == 38


def test_symbolic_requests_belong_to_all_calls() -> None:
    """What the host asks for as a whole: names with any port, buckets, databases, all methods, agents of a type."""
    texts = (
        "network() : connect : a.example.com",
        f"kv({ENVIRONMENT}) : list : orders.**",
        f"blob({ENVIRONMENT}) : write : img.**",
        f"rdbms({ENVIRONMENT}) : query : shop.*.*",
        f"rdbms({ENVIRONMENT}) : mutate : *.*.*",
        f"agent({COMPONENT}/*) : view :",
        f"agent({COMPONENT}/Cart(*)) : view :",
        f'agent({COMPONENT}/Cart("a")) : invoke : *',
        f'env({COMPONENT}/Cart("a")) : read : *',
        f'config({COMPONENT}/Cart("a")) : read : *',
        f'oplog({COMPONENT}/Cart("a")) : read : *',
        "card(ana@lab.io) : derive : *",
        f"environment({ENVIRONMENT}) : deploy : *",
    )
    everything = admitted_by(surface([]))
    for text in texts:
        target = parse_target(text)
        answer = always(everything, calls_of([target]), UNIVERSE)
        assert isinstance(answer, Fails), text
        assert target.covers(answer.witness)


@pytest.mark.parametrize(
    "text",
    [
        f"filesystem({COMPONENT}/*) : read : /a/../b",
        f"filesystem({COMPONENT}/*) : read : /./b",
        f"agent({COMPONENT}/Cart) : view :",
        f"secret({ENVIRONMENT}) : reveal : api_key",
        f"kv({ENVIRONMENT}) : list : orders.42",
        f"environment({ENVIRONMENT}) : deploy : @rev=3",
        "card(ana@lab.io) : revoke : bob@lab.io",
        f"tool({ENVIRONMENT}/*/*) : invoke : run *",
    ],
)
def test_what_no_operation_asks_for_is_no_call(text: str) -> None:
    """Dots in paths, ids without brackets, secrets revealed under declared names, and the like."""
    assert isinstance(is_empty(calls_of([parse_target(text)]), UNIVERSE), Holds)


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [
        ('Cart("u1")', True),
        (f'Cart("u1"){PHANTOM}', True),
        ("Cart()", True),
        ('Cart("a b")', True),
        ('Cart( "u1" )', False),
        ("Cart", False),
        ("Cart(*)", False),
        ("(1)", False),
        ("~golem-external-tool-owner-1", True),
        ('Cart("a\\"b c")', True),
    ],
)
def test_agent_ids(leaf: str, expected: bool) -> None:
    """Only canonical ids of agents are owners of calls."""
    assert is_agent_id(leaf) is expected


def test_one_instance_asks_for_its_own_files_only() -> None:
    """With the id of an agent, files, variables and configuration of others are left out, and it is said."""
    universe = Universe.of(HOLDER, agent_id='Cart("u1")')
    other = surface([{"l+": [f'filesystem({COMPONENT}/Cart("u2")) @ * : read : /**']}])
    own = surface([{"l+": [f'filesystem({COMPONENT}/Cart("u1")) @ * : read : /**']}])
    calls = query(universe, named("filesystem"))
    answer = never(admitted_by(other), calls, universe)
    assert isinstance(answer, Holds)
    assert 'Cart("u1")' in answer.left_out[0]
    assert isinstance(never(admitted_by(other), calls, UNIVERSE), Fails)
    found = never(admitted_by(own), calls, universe)
    assert isinstance(found, Fails)
    assert found.witness.owner.known[-1] == 'Cart("u1")'


def test_instances_of_a_type() -> None:
    """The ids that grants name, one that they do not, and a phantom of it."""
    context = AgentContext("ana@lab.io", "shop", "prod", "shop:cart", "Cart")
    grants = (
        f'env({COMPONENT}/Cart("a")) @ * : read : X',
        f'env({COMPONENT}/Peer("z")) @ * : read : X',
        f"env({COMPONENT}/Cart(*)) @ * : read : X",
    )
    found = [c.agent_id for c in instances_of(context, [Bounds(tuple(map(grant, grants)))])]
    assert found == ['Cart("b")', 'Cart("a")', 'Cart("b")[00000000-0000-4000-8000-000000000001]']


def paths(*patterns: str) -> list[str]:
    return [f"filesystem({COMPONENT}/*) @ * : read : /{p}" for p in patterns]


def test_a_spent_budget_is_undecided() -> None:
    """A search that ends early is neither a proof nor a witness, and says on what it was."""
    hard = surface(
        [{"l+": paths("**")}, *({"u+": paths(f"**/{x}/" + "/".join("*" * n))} for n, x in enumerate("abab", 1))]
    )
    answer = difference(admitted_by(hard), admitted_by(surface([])), steps=20)
    assert not answer.is_proved_empty
    assert answer.witnesses == ()
    assert "`filesystem` : `read`" in answer.undecided[0].reason
    asked = calls_of([grant(paths("**")[0]).target])
    assert isinstance(never(admitted_by(hard), asked, UNIVERSE, steps=20), Undecided)
    assert isinstance(never(admitted_by(hard), asked, UNIVERSE), Fails)


def test_the_whole_question_has_a_budget() -> None:
    """Many hard searches end together, so that no wallet takes for ever."""
    hard = [f"**/{x}/" + "/".join("*" * n) for n, x in enumerate("abab", 1)]
    many = [f"n{n}/**" for n in range(60)]
    wallet = surface([{"l+": paths(*many)}, *({"u+": paths(h)} for h in hard)])
    effort = Effort(40)
    assert effort.left == 40 * SEARCHES_AT_FULL_COST
    answer = difference(admitted_by(wallet), admitted_by(surface([])), steps=40)
    assert len(answer.undecided) == SEARCHES_AT_FULL_COST + 1
    assert answer.undecided[-1].reason == "`filesystem`: the effort of the question is spent"


def test_questions_may_share_an_effort() -> None:
    """What the first one spends the next ones lack; then every one of them is undecided, and none is a proof."""
    hard = surface(
        [{"l+": paths("**")}, *({"u+": paths(f"**/{x}/" + "/".join("*" * n))} for n, x in enumerate("abab", 1))]
    )
    nobody = admitted_by(surface([]))
    shared = Effort(20, 30)
    first, second, third = (difference(admitted_by(hard), nobody, steps=shared) for _ in range(3))
    assert all("the steps of the search are used up" in d.undecided[0].reason for d in (first, second))
    assert third.undecided[0].reason == "`filesystem`: the effort of the question is spent"
    assert shared.is_spent


def test_long_patterns_cost_more_steps() -> None:
    """What long paths cost is counted, so that nested folders by the dozen end within the budget, too."""
    folders = ["/".join("n" * depth) for depth in range(1, 60)]
    nest = surface(
        [{"l+": paths(f"{outer}/**"), "l-": paths(f"{inner}/**")} for outer, inner in itertools.pairwise(folders)]
    )
    inside = surface([{"l+": paths("n/**"), "l-": paths(f"{folders[-1]}/**")}])
    answer = difference(admitted_by(inside), admitted_by(nest), steps=5_000)
    assert answer.undecided
    assert answer.witnesses == ()


def test_too_many_parts_are_undecided() -> None:
    """Paths, hosts and keys of hundreds of parts are not searched."""
    long = ".".join("a" * 300)
    texts = (f"network() @ * : connect : *.{long}", f"secret({ENVIRONMENT}) @ * : reveal : *.{long}")
    for text in (*texts, paths("*/" + "/".join("a" * 300))[0]):
        answer = difference(admitted_by(surface([{"l+": [text]}])), admitted_by(surface([])))
        assert "parts" in answer.undecided[0].reason


def test_more_witnesses_than_asked_for_are_counted() -> None:
    """The rest is a number, and no witness is lost."""
    many = surface([{"l+": [f"kv({ENVIRONMENT}) @ * : read : s.k{n}" for n in range(30)]}])
    answer = difference(admitted_by(many), admitted_by(surface([])), limit=7)
    assert (len(answer.witnesses), answer.more, answer.count) == (7, 23, 30)
    assert [w.target.resource.text for w in answer.witnesses[:3]] == ["s.k0", "s.k1", "s.k2"]


def test_a_failed_replay_is_our_defect() -> None:
    """A call that the plain evaluator decides otherwise is never returned."""
    some = admitted_by(surface([{"l+": [f"kv({ENVIRONMENT}) @ * : read : a.b"]}]))
    with pytest.raises(InternalDefect):
        confirmed(parse_target(f"kv({ENVIRONMENT}) : read : a.c"), some)
    with pytest.raises(InternalDefect):
        confirmed(parse_target(f"kv({ENVIRONMENT}) : read : a.b"), some, some)
    assert confirmed(parse_target(f"kv({ENVIRONMENT}) : read : a.b"), some).obstacles == ()


def test_width_counts_ports_verbs_and_methods() -> None:
    """Ports in merged ranges, name resolution apart; verbs and declared methods one by one."""
    wide = admitted_by(surface([{"l+": ["network() @ * : connect : a.io", f"agent({COMPONENT}/*) @ * : * : *"]}]))
    narrow = admitted_by(
        surface([{"l+": ["network() @ * : connect : a.io:443", f"agent({COMPONENT}/*) @ * : invoke : run"]}])
    )
    width = width_of(parse_target("network() : connect : a.io:80"), wide, narrow)
    assert width.ports == ((0, 442), (444, 65535))
    assert (width.port_count, width.resolves, width.verbs) == (65535, True, ("connect",))
    call = parse_target(f'agent({COMPONENT}/Cart("a")) : view : run')
    assert width_of(call, wide, narrow, ["run", "stop"]).methods == ("run", "stop")
    assert width_of(call, wide, narrow).verbs == ("view",)
    other = replace(call, verb="invoke", resource=parse_resource("stop", call.cls, "invoke"))
    assert width_of(other, wide, narrow, ["run", "stop"]).methods == ("stop",)


def test_queries_in_words() -> None:
    """A query is told as what it reaches."""
    secret = named("secret")
    key = below(parse_resource("stripe", secret, "reveal"))
    assert (
        query_text(secret, None, "reveal", key)
        == "every `reveal` call of `secret` for `stripe` and everything below it"
    )
    owner = parse_owner(ENVIRONMENT, secret.owner)
    assert query_text(secret, owner, ANY_VERB, Everything()) == f"every call of `secret` on `{ENVIRONMENT}`"
    with pytest.raises(ValueError):
        query(UNIVERSE, None, owner)


def test_effects_name_what_withholds() -> None:
    """A grant that an upper negative stops as a whole is told with it."""
    found = effects(
        admitted_by(
            surface([{"l+": [f"kv({ENVIRONMENT}) @ * : read : a.b"], "u-": [f"kv({ENVIRONMENT}) @ * : * : a.*"]}])
        )
    )
    assert [r.grant.target.resource.text for r in found[0].related] == ["a.*"]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 12])
@pytest.mark.parametrize(
    "cls", [c for c in Universe().classes if c.resource is not ResourceKind.TOOL], ids=lambda c: c.name
)
def test_what_stands_for_unnamed_things_can_be_written_and_read(cls: PermissionClass, count: int) -> None:
    """However many of the usual names are taken: the call found is the one that its text says."""
    star = Target(cls, Owner(cls.owner), "*", Everything())
    for verb in cls.verbs:
        taken: list[Target] = []
        for _ in range(count + 1):
            calls = minus(calls_of([replace(star, verb=verb)]), calls_of(taken))
            found = next(iter(calls_in(calls, Universe())), None)
            if not isinstance(found, Target):
                break
            assert parse_target(found.text) == found
            taken.append(found)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 30])
def test_an_unnamed_instance_is_an_instance(count: int) -> None:
    """Also where grants name as many instances as there are letters, and phantoms of them."""
    ids = [f'Cart("{chr(97 + n)}")' if n < 26 else f"Cart({n})" for n in range(count)]
    phantoms = [f"{name}[{numbered_uuid(n)}]" for name in ('Cart("a")', *ids) for n in range(1, 4)]
    context = AgentContext("a@x.io", "shop", "prod", "shop:cart", "Cart")
    owner = Owner(OwnerKind.AGENT, ("a@x.io", "shop", "prod", "shop:cart", "Cart"), None, True)
    for asked in ([*ids], list(dict.fromkeys((*ids, *phantoms)))):
        found = [str(i.agent_id) for i in instances_of(context, (), asked)]
        assert len(set(found)) == len(asked) + 2
        assert all(map(is_agent_id, found))
        own = Owner(OwnerKind.AGENT, (*owner.known[:4], found[0]))
        assert owner.covers(own)
        assert not owner.covers(replace(own, known=(*owner.known[:4], found[-1])))
        typed = calls_of([Target(named("agent"), owner, "view", Everything())])
        of_named = calls_of(
            Target(named("agent"), Owner(OwnerKind.AGENT, (*owner.known[:4], name)), "view", Everything())
            for name in ids
        )
        exact = [c for c in calls_in(minus(typed, of_named), Universe()) if isinstance(c, Target)]
        assert exact
        assert all(is_agent_id(c.owner.known[4]) for c in exact)
