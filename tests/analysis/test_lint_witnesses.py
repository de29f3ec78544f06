"""The calls that lints show are decided as they say, by the plain evaluator over the whole card."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_rule_laws import ORDINARY, card_of, context, subject_of

from policyd.analysis import RULES
from policyd.analysis.rules.host.inert_verb import asked_verbs
from policyd.core.application import InitialCard
from policyd.core.cards import Card, surface_of
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import Target, agent_holder
from policyd.core.grants.classes import classes_of
from policyd.findings import Finding
from policyd.syntax import parse_target

ADMITTED = {"HOST014", "HOST015", "HOST017", "HOST020", "HOST029", "HOST030"}
"""Lints that show a call which the card lets through although it should not."""

REFUSED = {"HOST016", "HOST019", "HOST023", "HOST025", "HOST026", "HOST027", "HOST028", "HOST034"}
"""Lints that show a call which the card refuses although the grant is meant for it."""

OWNERS = {
    "agent": [
        "?agent",
        "?component/*",
        "?component/Cart(*)",
        "?env/*/*",
        'acme@example.com/shop/prod/shop:cart/Pay("7")',
    ],
    "environment": ["?env"],
    "account": ["?account"],
    "tool": ["?env/*/*", "acme@example.com/other/prod/a:b/grep"],
}
SHAPES: dict[str, tuple[str, list[str], list[str]]] = {
    "kv": ("environment", ["list", "read", "*"], ["s.**", "s.k", "*.k", "*.**"]),
    "blob": ("environment", ["read", "write", "delete", "list", "*"], ["c.**", "c.o", "*.o", "d.o"]),
    "rdbms": ("environment", ["query", "mutate", "*"], ["d.s.t", "d.*.*", "*.*.*", "d.s.*", "d.S.*", "d.s.T"]),
    "secret": ("environment", ["hold", "reveal", "*"], ["*", "a.b_c", "a.bC", "a.*"]),
    "env": ("agent", ["read"], ["*", "GOLEM_AGENT_ID"]),
    "config": ("agent", ["read"], ["*", "a"]),
    "filesystem": ("agent", ["read", "write", "list", "stat", "*"], ["/**", "/a", "/a/*", "/a/**", "/b/**"]),
    "oplog": ("agent", ["read"], ["*", "start=1:end=50", "start=50:end=60", "start=30", "start=1:end=100", "end=250"]),
    "agent": ("agent", ["view", "invoke"], ["*", "m", "createWebhook", "create-webhook"]),
    "network": ("", ["connect"], ["*", "h.x", "*.x", "h.x:80", "*:80", "*.*.*.*", "203.0.113.7", "bücher.x"]),
    "tool": ("tool", ["invoke"], ["*", "run -x", "run --p=data"]),
    "card": ("account", ["install"], ["*"]),
    "environment": ("environment", ["deploy", "view", "view-agent-types"], ["*"]),
    "component": ("component", ["update", "view"], ["*"]),
}
OWNERS["component"] = ["?component"]


@st.composite
def grant_texts(draw: st.DrawFn) -> str:
    """A grant of a class that a lint looks at."""
    name = draw(st.sampled_from(sorted(SHAPES)))
    owners, verbs, resources = SHAPES[name]
    owner = draw(st.sampled_from(OWNERS.get(owners, [""])))
    recipient = draw(st.sampled_from(["?agent", "?agent", "?agent", "?component/*", "?component/Stock"]))
    return f"{name}({owner}) @ {recipient} : {draw(st.sampled_from(verbs))} : {draw(st.sampled_from(resources))}"


LISTS = st.tuples(*(st.lists(grant_texts(), max_size=size) for size in (6, 3, 3, 2)))


def decided(card: InitialCard, call: Target) -> bool:
    """Whether the card alone admits an ordinary agent of its type the call."""
    filled = Card(card.card(context("")).id, card.bounds(context(ORDINARY)), is_polymorphic=True)
    surface = surface_of([filled.for_agent(context(ORDINARY))], agent_holder(context(ORDINARY)))
    return surface.allows(call.filled(context(ORDINARY)))


def lints(card: InitialCard) -> list[Finding]:
    """What the lints with a call tell of a card."""
    subject = subject_of(card)
    return [f for rule in RULES if rule.code in ADMITTED | REFUSED for f in rule.run(subject)]


@given(LISTS)
def test_every_call_is_decided_as_told(lists: tuple[list[str], ...]) -> None:
    """A lint that says a call goes through shows one that does, and one that says it is refused shows such a one."""
    card = card_of(lists)
    for finding in lints(card):
        if finding.message.startswith("no agent invokes itself"):
            continue  # the platform refuses that whatever the cards say, so no call shows it
        assert finding.witness, finding
        assert decided(card, parse_target(finding.witness, slots=True)) is (finding.code in ADMITTED), finding


CASES = [
    (["blob(?env) @ ?agent : * : c.**"], ["blob(?env) @ ?agent : delete : c.o"], "HOST014"),
    (["agent(?component/*) @ ?agent : view : *"], ['agent(?component/Cart("7")) @ ?agent : view : *'], "HOST014"),
    (["agent(?component/*) @ ?agent : view : *"], ["agent(?agent) @ ?agent : view :"], "HOST014"),
    (["oplog(?agent) @ ?agent : read : *"], ["oplog(?agent) @ ?agent : read : start=50"], "HOST014"),
    (["oplog(?agent) @ ?agent : read : *"], ["oplog(?agent) @ ?agent : read : end=250"], "HOST014"),
    (["filesystem(?agent) @ ?agent : * : /a/**"], ["filesystem(?agent) @ ?agent : write : /a/k"], "HOST015"),
    (["filesystem(?agent) @ ?agent : list : /a"], [], "HOST016"),
    (["network() @ ?agent : connect : *:80"], ["network() @ ?agent : connect : h.x:80"], "HOST017"),
    (["secret(?env) @ ?agent : reveal : a.bC"], [], "HOST019"),
    (["rdbms(?env) @ ?agent : * : d.*.*"], ["rdbms(?env) @ ?agent : mutate : d.s.*"], "HOST020"),
    (["rdbms(?env) @ ?agent : mutate : d.s.t"], [], "HOST023"),
    (["agent(?component/*) @ ?agent : view : m"], [], "HOST025"),
    (["agent(?agent) @ ?agent : invoke : create_webhook"], [], "HOST026"),
    (["oplog(?agent) @ ?agent : read : start=1:end=99"], [], "HOST027"),
    (["blob(?env) @ ?agent : read : c.o"], [], "HOST028"),
    (["component(?component) @ ?agent : update : *"], [], "HOST034"),
]


@pytest.mark.parametrize("positive, negative, code", CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_told(positive: list[str], negative: list[str], code: str) -> None:
    """The shape each lint is about is told, once, with a call that is decided so."""
    card = card_of((positive, negative, [], []))
    found = [f for f in lints(card) if f.code == code]
    assert len(found) == 1
    assert decided(card, parse_target(found[0].witness, slots=True)) is (code in ADMITTED)


QUIET = [
    (["blob(?env) @ ?agent : * : c.**"], ["blob(?env) @ ?agent : read : c.o"]),
    (["blob(?env) @ ?agent : * : c.**"], ["blob(?env) @ ?agent : delete : c.*"]),
    (["kv(?env) @ ?agent : read : s.**"], ["kv(?env) @ ?agent : read : s.k"]),
    (["oplog(?agent) @ ?agent : read : start=1:end=100"], ["oplog(?agent) @ ?agent : read : *"]),
    (["filesystem(?agent) @ ?agent : write : /a/**"], ["filesystem(?agent) @ ?agent : read : /a/k"]),
    (["filesystem(?agent) @ ?agent : read : /a"], []),
    (["network() @ ?agent : connect : *.x"], ["network() @ ?agent : connect : h.x"]),
    (["network() @ ?agent : connect : *"], ["network() @ ?agent : connect : 10.0.0.1"]),
    (
        ["network() @ ?agent : connect : *"],
        ["network() @ ?agent : connect : *.*.*.*", "network() @ ?agent : connect : h.x"],
    ),
    (["secret(?env) @ ?agent : hold : a.b_c", "secret(?env) @ ?agent : reveal : a.bC"], []),
    (["rdbms(?env) @ ?agent : query : d.s.t"], ["rdbms(?env) @ ?agent : query : d.s.u"]),
    (["rdbms(?env) @ ?agent : query : d.s.t"], []),
    (["agent(?component/*) @ ?agent : view : *", "agent(?component/*) @ ?agent : view : m"], []),
    (["agent(?agent) @ ?agent : invoke : *"], []),
    (["oplog(?agent) @ ?agent : read : start=1:end=100"], []),
    (["blob(?env) @ ?agent : write : c.o", "blob(?env) @ ?agent : write : c.**"], []),
    (["component(?component) @ ?agent : update : *", "component(?component) @ ?agent : view : *"], []),
]


@pytest.mark.parametrize("positive, negative", QUIET)
def test_what_is_not_told(positive: list[str], negative: list[str]) -> None:
    """Next to each lint is a card that has what it lacks, and nothing is told of that."""
    assert [(f.code, f.message) for f in lints(card_of((positive, negative, [], [])))] == []


def test_a_ceiling_that_stops_the_call_ends_the_finding() -> None:
    """What an upper bound withholds goes past no negative."""
    lists = (["blob(?env) @ ?agent : * : c.**"], ["blob(?env) @ ?agent : delete : c.o"])
    assert Counter(f.code for f in lints(card_of((*lists, [], []))))["HOST014"] == 1
    assert not lints(card_of((*lists, ["blob(?env) @ ?agent : read : c.**"], [])))
    assert not lints(card_of((*lists, [], ["blob(?env) @ ?agent : delete : c.**"])))


def test_inert_verbs_are_those_of_no_operation() -> None:
    """The verbs that nothing asks for are the ones that the table of the platform leaves unmarked."""
    inert = {f"{c.name} : {v}" for c in classes_of(SNAPSHOT) for v in c.verbs if v not in asked_verbs(c, SNAPSHOT)}
    named = {"secret : mint", "plan : create", "system : view-default-plan", "environment : rollback"}
    whole = ("account.oauth2-identity", "environment.kv-bucket", "environment.blob-bucket", "environment.initial-files")
    assert inert >= {*named, "environment : write-deployment-record"}
    others = {x for x in inert if not x.endswith(": restore") and not x.startswith(whole)}
    assert others == {*named, "environment : write-deployment-record"}
    assert all(not asked_verbs(c, NEXT) for c in classes_of(NEXT) if c.name in whole)
