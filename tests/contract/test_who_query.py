"""who-can for queries: whoever the evaluator admits to one of the calls is listed, with a call that it may make."""

import shutil
from dataclasses import replace

import pytest
from contract.samples import HOME, NOW, bounds, card_id, holder
from contract.test_who_can import by_asking_everyone, worlds
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import FEW, targets

from policyd.core.admission import Facet
from policyd.core.cards import Card, Timestamp, surface_of
from policyd.core.edition import NEXT
from policyd.store.facts import CardFact, Component, Deployment, Installed, WalletFact
from policyd.store.session import Database
from policyd.store.snapshots import put
from policyd.store.wallets import holders, wallet
from policyd.syntax import parse_target
from policyd.usecases.snapshots import StoredSnapshots
from policyd.usecases.stored_decisions import Decisions, StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import party_name
from policyd.usecases.who_can import who, who_json


@pytest.fixture(scope="module")
def database_of_laws(tmp_path_factory, sqlite_template):
    """One database for all examples of a law."""
    path = tmp_path_factory.mktemp("laws") / "policyd.db"
    shutil.copy(sqlite_template, path)
    database = Database.at(f"sqlite:///{path}")
    yield database
    database.close()


def asked(database, facts, query, at=None):
    info = put(database, facts, at=NOW, by="test").snapshot
    stored = StoredFacts.of(StoredSnapshots(database).load(info))
    return info, stored, who(database, stored, info, query, NEXT, at)


@settings(max_examples=25)
@given(worlds(), targets(names=FEW), st.sampled_from((None, Timestamp(11))))
def test_whoever_may_make_one_call_is_listed_for_all_calls_of_its_class(database_of_laws, facts, target, at):
    """`any` finds everybody whom the plain evaluator admits to some target of the class."""
    query = f"{target.cls.name}(any) : any : any"
    if target.cls.owner.depth == 0:
        query = f"{target.cls.name}() : any : any"
    info, stored, answer = asked(database_of_laws, facts, query, at)
    listed = {reached.holder.partition(" as ")[0] for reached in answer.some}
    for (text, agent_id, name), admitted in by_asking_everyone(database_of_laws, info.number, target, at).items():
        if not admitted or name != agent_id:
            continue
        recipient = next(h.recipient for h in holders(database_of_laws, info.number) if h.recipient.text == text)
        # Only where the question is about calls of the agent itself: files and variables of others are none.
        if target.cls.name in ("filesystem", "env", "config"):
            continue
        assert party_name(stored, recipient, agent_id) in listed, (query, target.text)


@settings(max_examples=25)
@given(worlds(), targets(names=FEW))
def test_every_example_is_admitted(database_of_laws, facts, target):
    """An account or instance that is listed is admitted to the call that stands beside it."""
    query = f"{target.cls.name}({'any' if target.cls.owner.depth else ''}) : any : any"
    info, stored, answer = asked(database_of_laws, facts, query)
    by_name = {
        party_name(stored, h.recipient, h.agent_id): h
        for h in holders(database_of_laws, info.number)
        if h.agent_id or h.recipient.level.value < 5
    }
    for reached in answer.some:
        known = by_name.get(reached.holder)
        if known is None or "?" in reached.witness:
            continue
        found = wallet(database_of_laws, info.number, known.recipient.text, known.agent_id)
        live = [held.card for held in found.wallet.live(None)]
        assert surface_of(live, found.wallet.holder).allows(parse_target(reached.witness))


def test_a_pattern_lists_who_holds_a_part(database):
    """All of it by one grant, some of it, nothing of it; and a card in no wallet leaves the list open."""

    def held(number, text, resource):
        lower = (f"kv({'/'.join(HOME)}) @ {text} : read : {resource}",)
        return CardFact(Card(card_id(number), bounds(lower), False, ()))

    people = ("ana@x.io", "bob@x.io", "cyd@x.io")
    cards = tuple(
        held(n, who, what)
        for n, (who, what) in enumerate(zip(people, ("orders.*", "orders.1", "other.*"), strict=True), 1)
    )
    wallets = tuple(WalletFact(holder(who), "", cards=(Installed(card_id(n)),)) for n, who in enumerate(people, 1))
    facts = Deployment(*HOME, components=(Component("shop:cart"),), cards=cards, wallets=wallets)
    for query, whole, some in (
        ("kv(?env) : read : orders.*", ["ana@x.io"], ["bob@x.io"]),
        ("kv(?env) : read : under(orders)", [], ["ana@x.io", "bob@x.io"]),
        ("kv(any) : any : any", [], ["ana@x.io", "bob@x.io", "cyd@x.io"]),
        ("kv(?env) : delete : any", [], []),
    ):
        _, _, answer = asked(database, facts, query)
        assert [a.holder.text for a in answer.found.accesses] == whole, query
        assert [r.holder for r in answer.some] == some, query
        assert answer.is_complete, query
    loose = held(9, "dan@x.io", "orders.7")
    _, _, answer = asked(database, replace(facts, cards=(*cards, loose)), "kv(?env) : read : under(orders)")
    assert [g.card for g in answer.found.unheld] == [card_id(9)]
    assert not answer.is_complete
    _, _, answer = asked(database, replace(facts, cards=(*cards, loose)), "kv(?env) : read : under(other)")
    assert answer.is_complete
    assert [r.witness for r in answer.some] == ["kv(acme@x.io/shop/prod) : read : other.key"]


@settings(max_examples=25)
@given(worlds(), st.lists(targets(names=FEW), min_size=1, max_size=3))
def test_types_of_no_known_component_are_listed_as_each_is_decided(database_of_laws, facts, questions):
    """Whoever `check` admits whichever component implements it is listed; whom it does not know is named as open."""
    open_types = tuple(replace(agent, component="", component_is_assumed=False) for agent in facts.agent_types)
    loose = replace(
        facts, agent_types=open_types, components=(Component("geo:core"), Component("geo:edge")), wallets=()
    )
    decisions = Decisions()
    for target in questions:
        info, stored, answer = asked(database_of_laws, loose, target.text)
        rows = who_json(answer)["holders"]
        listed = {row["holder"] for row in rows if row["extent"] == "all" and "/" not in row["holder"]}
        left_open = {text.partition("`")[2].partition("`")[0] for text in answer.not_analysed}
        for agent in open_types:
            decided = decisions.answer(stored, info, StoredQuestion(target.text, agent.name), NEXT).verdict.admitted
            assert (agent.name in listed) == (decided is Facet.YES), target.text
            assert decided is not Facet.UNKNOWN or agent.name in left_open, target.text
