"""who-can and what-can: exact and complete, compared with asking every holder one by one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from contract.samples import CART, HOME, NOW, bounds, card_id, deployment, holder, initial
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import FEW, targets
from laws.strategies import bounds as some_bounds
from ruamel.yaml import YAML

from policyd.core.cards import Card, Timestamp, surface_of
from policyd.core.edition import NEXT
from policyd.core.grants import Target, classes_of
from policyd.store.facts import AgentType, CardFact, Component, Deployment, InitialCard, Installed, WalletFact
from policyd.store.holders import context_of
from policyd.store.snapshots import put
from policyd.store.wallets import holders, wallet
from policyd.store.what_can import Extent, what_can
from policyd.store.who_can import who_can
from policyd.syntax import Form, parse_target

CASES = sorted((Path(__file__).parent.parent / "cases" / "store" / "who_can").glob("*.yaml"))
LATER = Timestamp.parse("2030-01-01T00:00:00Z")


def card_of(number, given):
    form = Form.POLYMORPHIC if given.get("template") else Form.CONCRETE
    lists = (given.get(name, ()) for name in ("lower", "lowerNegative", "upper", "upperNegative"))
    expires = given.get("expires")
    return CardFact(
        Card(
            card_id(number),
            bounds(*lists, form=form),
            bool(given.get("template")),
            tuple(card_id(n) for n in given.get("parents", ())),
            expires_at=Timestamp.parse(expires) if expires else None,
        )
    )


def facts_of(case):
    """The deployment that a case describes: agent types with initial cards, cards by number, wallets."""
    agents = tuple(
        AgentType(name, "shop:cart", InitialCard(bounds(*lists, form=Form.MANIFEST)))
        for name, lists in (case.get("agents") or {}).items()
    )
    return Deployment(
        *HOME,
        components=(Component("shop:cart"),),
        agent_types=agents,
        cards=tuple(card_of(number, given) for number, given in (case.get("cards") or {}).items()),
        revoked=tuple(card_id(n) for n in case.get("revoked", ())),
        wallets=tuple(
            WalletFact(holder(w["holder"]), w.get("agent", ""), cards=tuple(Installed(card_id(n)) for n in w["cards"]))
            for w in case.get("wallets", ())
        ),
    )


def shown(access):
    text = access.holder.text
    if access.only:
        text += f" only {access.only}"
    return f"{text} except {access.except_for}" if access.except_for else text


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases(database, path):
    """Each question of a case is answered with exactly the holders that it lists."""
    case = YAML(typ="safe", pure=True).load(path)
    number = put(database, facts_of(case), at=NOW, by="test").snapshot.number
    for question in case["questions"]:
        at = Timestamp.parse(question["at"]) if "at" in question else None
        answer = who_can(database, number, parse_target(question["target"]), at=at)
        assert [shown(a) for a in answer.accesses] == question["who"], question
        assert [g.card for g in answer.unheld] == [card_id(n) for n in question.get("unheld", ())], question


HOLDER_TEXTS = ("ana@lab.io", "ana@lab.io/atlas/qa/geo:core/Mapper", "ana@lab.io/atlas/qa/geo:core/Router")
INSTANCES = ("", 'Mapper("n1")')


@st.composite
def worlds(draw):
    """Deployments with initial cards, concrete cards and templates, in wallets of types, instances and accounts."""
    count = draw(st.integers(0, 4))
    cards = []
    for n in range(count):
        template = draw(st.booleans())
        form = Form.POLYMORPHIC if template else Form.CONCRETE
        expires = draw(st.sampled_from((None, None, Timestamp(10), LATER)))
        parents = (card_id(draw(st.integers(0, n))),)
        cards.append(CardFact(Card(card_id(n + 1), draw(some_bounds(form)), template, parents, expires_at=expires)))
    agents = tuple(
        AgentType(name, "geo:core", InitialCard(draw(some_bounds(Form.MANIFEST))))
        for name in ("Mapper", "Router")
        if draw(st.booleans())
    )
    wallets = []
    for text in HOLDER_TEXTS:
        for instance in INSTANCES if text.endswith("Mapper") else ("",):
            held = draw(st.lists(st.integers(1, count), max_size=3, unique=True)) if count else []
            if "/" not in text:  # an account fills no slots: no template is installed there
                held = [n for n in held if not cards[n - 1].card.is_polymorphic]
            if draw(st.booleans()):
                wallets.append(WalletFact(holder(text), instance, cards=tuple(Installed(card_id(n)) for n in held)))
    revoked = (card_id(draw(st.integers(0, 9))),) if draw(st.booleans()) else ()
    return Deployment(
        "ana@lab.io",
        "atlas",
        "qa",
        components=(Component("geo:core"),),
        agent_types=agents,
        cards=tuple(cards),
        revoked=revoked,
        wallets=tuple(wallets),
    )


def by_asking_everyone(database, number, target, at):
    """Whether each holder, and the one instance that may differ, reaches the target; by the plain evaluator."""
    found = {}
    for who in holders(database, number):
        names = [who.agent_id]
        leaf = target.owner.known[4] if len(target.owner.known) == 5 else ""
        own = [h.agent_id for h in holders(database, number) if h.recipient == who.recipient]
        same_type = leaf.startswith(f"{who.recipient.known[-1]}(") and target.owner.known[:4] == who.recipient.known[:4]
        if not who.agent_id and same_type and leaf not in own and not target.owner.is_type_wildcard:
            names.append(leaf)
        for name in names:
            stored = wallet(database, number, who.recipient.text, name).wallet
            live = [held.card for held in stored.live(at)]
            found[who.recipient.text, who.agent_id, name] = surface_of(live, stored.holder).allows(target)
    return found


@settings(max_examples=25)
@given(worlds(), st.lists(targets(names=FEW), min_size=1, max_size=4), st.sampled_from((None, Timestamp(11), LATER)))
def test_exact_and_complete(shared, facts, questions, at):
    """The answer names a holder, or an instance of it, exactly where the plain evaluator admits it."""
    number = put(shared, facts, at=NOW, by="test").snapshot.number
    for target in questions:
        answered = {}
        for access in who_can(shared, number, target, at=at).accesses:
            who = access.holder
            answered[who.recipient.text, who.agent_id] = (access.only, access.except_for)
        for (text, agent_id, name), admitted in by_asking_everyone(shared, number, target, at).items():
            only, except_for = answered.get((text, agent_id), (None, None))
            is_special = name != agent_id
            if only is None:
                expected = False
            elif is_special:
                expected = only == name or (not only and except_for != name)
            else:
                expected = not only
            assert admitted == expected, (text, agent_id, name, target.text, facts)


@settings(max_examples=25)
@given(worlds(), st.lists(targets(names=FEW), min_size=1, max_size=4), st.sampled_from((None, Timestamp(11))))
def test_what_can_lists_all_that_lends(shared, facts, questions, at):
    """What a holder reaches is lent by a listed grant; a grant lent as a whole is reached as a whole."""
    number = put(shared, facts, at=NOW, by="test").snapshot.number
    for who in holders(shared, number):
        for cls in {target.cls for target in questions}:
            answer = what_can(shared, number, who.recipient.text, cls, agent_id=who.agent_id, at=at)
            for lent in answer.lent:
                reached = answer.allows(lent.ref.grant.target)
                assert reached or lent.extent is not Extent.WHOLE
                assert not reached or lent.extent is not Extent.NOTHING
            for target in (t for t in questions if t.cls == cls):
                if answer.allows(target):
                    assert any(lent.ref.grant.target.covers(target) for lent in answer.lent)


@pytest.fixture(scope="module")
def shared(tmp_path_factory, sqlite_template):
    """One database for all examples of a law."""
    import shutil

    from policyd.store.session import Database

    path = tmp_path_factory.mktemp("shared") / "policyd.db"
    shutil.copy(sqlite_template, path)
    database = Database.at(f"sqlite:///{path}")
    yield database
    database.close()


def test_many_holders_by_index(database):
    """A holder without any grant for the target costs nothing: the answer does not read its card."""
    agents = tuple(AgentType(f"A{n}", "shop:cart", initial((f"kv(?env) @ ?agent : read : b{n}.k",))) for n in range(60))
    number = put(database, deployment(agent_types=agents), at=NOW, by="test").snapshot.number
    seen = []
    from sqlalchemy import event

    listen = lambda *args: seen.append(args[2])  # noqa: E731 - to be removed by the same name
    event.listen(database.engine, "before_cursor_execute", listen)
    answer = who_can(database, number, parse_target("kv(acme@x.io/shop/prod) : read : b7.k"))
    event.remove(database.engine, "before_cursor_execute", listen)
    assert [a.holder.text for a in answer.accesses] == ["acme@x.io/shop/prod/shop:cart/A7"]
    assert len(seen) <= 12
    with database.reading() as connection:
        plan = _plan(connection, seen)
    assert "ix_grants_snapshot_id_permission_class_owner_key_resource_key" in plan


def _plan(connection, statements):
    """How the engine would find the grants of the last question, with the index preferred as on large tables."""
    from sqlalchemy import text

    explain = "EXPLAIN QUERY PLAN " if connection.dialect.name == "sqlite" else "EXPLAIN "
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL enable_seqscan = off"))
    question = (
        "SELECT id FROM grants WHERE snapshot_id = 1 AND permission_class = 'kv' AND owner_key = 5 AND resource_key = 6"
    )
    assert any("owner_key" in statement for statement in statements)
    return json.dumps([list(map(str, row)) for row in connection.execute(text(explain + question))])


def test_unknown_holders_are_told(database):
    """A holder that nobody knows, and a bare type name that two components have, are refused."""
    from policyd.findings import InputError

    facts = deployment(
        components=(Component("shop:cart"), Component("x:y")),
        agent_types=(
            AgentType("Cart", "shop:cart", initial()),
            AgentType("Two", "shop:cart", initial()),
            AgentType("Two", "x:y", initial()),
        ),
    )
    number = put(database, facts, at=NOW, by="test").snapshot.number
    kv = next(c for c in classes_of(NEXT) if c.name == "kv")
    assert what_can(database, number, "Cart", kv).holder.recipient.text == CART
    for text in ("Two", "Nobody", "acme@x.io", "acme@x.io/shop/prod/x:y/Cart", "a/b"):
        with pytest.raises(InputError, match="STORE011"):
            wallet(database, number, text)
    with pytest.raises(InputError, match="STORE010"):
        wallet(database, number + 1, "Cart")


def test_wallets_come_as_the_evaluator_takes_them(database):
    """A stored wallet has the holder's context, who installed what, and what is revoked."""
    facts = replace(
        deployment(),
        cards=(
            CardFact(Card(card_id(1), bounds(["env(?agent) @ * : read : *"], form=Form.POLYMORPHIC), True)),
            CardFact(Card(card_id(2), bounds(["env(acme@x.io/*/*/*/*) @ * : read : *"]), parents=(card_id(8),))),
        ),
        revoked=(card_id(8),),
        wallets=(WalletFact(holder(CART), 'Cart("1")', "ops@x.io", (Installed(card_id(1)), Installed(card_id(2)))),),
    )
    number = put(database, facts, at=NOW, by="test").snapshot.number
    stored = wallet(database, number, CART, 'Cart("1")')
    assert stored.wallet.context == context_of(holder(CART), 'Cart("1")')
    assert stored.wallet.recorded_account == "ops@x.io"
    assert [(h.is_initial, h.is_own_install) for h in stored.wallet.cards] == [(True, False), (False, True)]
    assert [h.card.id for h in stored.wallet.live(None)] == [card_id(1)]
    other = wallet(database, number, CART, 'Cart("2")')
    assert other.holder.agent_id == ""
    assert [h.card.id for h in other.wallet.cards] == ["initial:Cart"]
    assert isinstance(stored.wallet.cards[0].card.bounds.lower_positive[0].target, Target)
