"""Snapshots: what is put comes back, the same facts are one snapshot, and a history that loses nothing."""

from dataclasses import replace

import pytest
from contract.samples import HOME, NOW, card_id, deployment, full, grant, initial, span

from policyd.core.cards import Timestamp
from policyd.findings import InputError
from policyd.store import audits
from policyd.store.document import deployment_json
from policyd.store.document_reading import read_deployment
from policyd.store.facts import AgentType, Component, InitialCard
from policyd.store.ordering import ordered
from policyd.store.snapshots import Scope, change, load, put, resolve, snapshots


def store(database, facts, at=NOW):
    return put(database, facts, at=at, by="test", sources=("golem.yaml",))


def test_every_fact_comes_back(database):
    """A deployment with a fact of every kind is read back equal, places and findings included."""
    stored = store(database, full())
    assert load(database, stored.snapshot.number) == ordered(full())
    assert stored.snapshot.grant_count == full().grant_count


def test_export_and_import_keep_the_digest(database):
    """What export writes is read as the same facts, so importing it anywhere gives the same digest."""
    first = store(database, full())
    document = deployment_json(load(database, first.snapshot.number))
    again = store(database, read_deployment(document))
    assert not again.is_new
    assert not again.is_revision
    assert again.snapshot.digest == first.snapshot.digest


def test_ten_fresh_loads_give_one_digest(make_database, engine):
    """The digest depends on nothing that a database or a process adds."""
    found = {store(make_database(engine), full()).snapshot.digest for _ in range(10)}
    assert len(found) == 1


def test_order_of_sets_does_not_matter(database):
    """Facts given in another order are the same snapshot."""
    facts = full()
    turned = replace(
        facts,
        components=facts.components[::-1],
        agent_types=facts.agent_types[::-1],
        cards=facts.cards[::-1],
        revoked=facts.revoked[::-1],
        wallets=facts.wallets[::-1],
        retry_policies=facts.retry_policies[::-1],
        values=facts.values[::-1],
    )
    assert store(database, facts).snapshot.digest == store(database, turned).snapshot.digest


def test_order_and_repetition_of_grants_matter(database):
    """Grants in another order, or once more, are other facts."""
    two = ("kv(?env) @ ?agent : read : a.b", "kv(?env) @ ?agent : read : c.d")
    digests = {
        store(database, deployment(agent_types=(AgentType("Cart", "shop:cart", initial(texts)),))).snapshot.digest
        for texts in (two, two[::-1], (*two, two[0]))
    }
    assert len(digests) == 3


def test_places_are_no_facts_and_follow_the_newest_import(database):
    """The same facts at other places are the same snapshot, which then tells the new places."""
    first = store(database, deployment())
    moved = InitialCard(deployment().agent_types[0].card.bounds, ((span(99),), (), (), ()))
    facts = deployment(agent_types=(AgentType("Cart", "shop:cart", moved, span(98)),))
    second = store(database, facts)
    assert (second.is_new, second.is_revision) == (False, False)
    assert second.snapshot.number == first.snapshot.number
    found = load(database, first.snapshot.number).agent_types[0]
    assert found.place == span(98)
    assert found.card.places[0] == (span(99),)


def test_going_back_is_a_revision_of_its_own(database):
    """A, B, A are two snapshots and three revisions, and A is the latest."""
    a, b = deployment(), deployment(components=(Component("shop:cart"), Component("x:y")))
    numbers = [store(database, facts).snapshot.number for facts in (a, b, a)]
    assert numbers[0] == numbers[2] != numbers[1]
    latest = resolve(database, "@acme@x.io/shop/prod")
    assert (latest.number, latest.revision, latest.is_latest) == (numbers[0], 3, True)
    assert not resolve(database, f"@{numbers[1]}").is_latest
    assert [info.number for info in snapshots(database, only_latest=True)] == [numbers[0]]


def test_importing_the_latest_adds_nothing(database):
    """Same facts, same snapshot, same revision, no audit entry."""
    store(database, deployment())
    again = store(database, deployment(), at=Timestamp.parse("2027-01-01T00:00:00Z"))
    assert (again.is_new, again.is_revision, again.snapshot.imported_at) == (False, False, NOW.text)
    assert [entry.action for _, entry in audits.audit_log(database)] == ["import"]


def test_a_change_that_fails_changes_nothing(database):
    """An error in the middle leaves no row behind, not even the name of the account."""

    def fail(_):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        change(database, ("new@x.io", "shop", "prod"), fail, at=NOW, by="test")
    assert snapshots(database) == ()
    with pytest.raises(InputError, match="STORE010"):
        resolve(database, "@new@x.io/shop/prod")


@pytest.mark.parametrize("reference", ["12", "@", "@a/b", "@a//c", "@x", "@1/2", "@-1", "@٣", "@" + "9" * 30])
def test_other_texts_are_no_references(database, reference):
    """Only `@number` and `@account/application/environment` name a snapshot."""
    with pytest.raises(InputError, match="STORE011"):
        resolve(database, reference)


@pytest.mark.parametrize("reference", ["@1", "@999999999999999999", "@acme@x.io/shop/prod", "@a/b/c"])
def test_what_is_not_there_is_not_there(database, reference):
    """A well-formed reference to nothing is told as such."""
    with pytest.raises(InputError, match="STORE010"):
        resolve(database, reference)


def test_account_is_found_in_any_case(database):
    """E-mails are kept in lower case and found as they are typed (P11)."""
    number = store(database, deployment()).snapshot.number
    assert resolve(database, "@ACME@x.io/shop/prod").number == number


def test_a_scope_hides_everything_else(database):
    """What lies outside a scope does not exist: not by number, not by name, not in lists."""
    mine = store(database, deployment())
    theirs = store(database, replace(deployment(), account="other@x.io"))
    scope = Scope("acme@x.io", "shop")
    assert [info.number for info in snapshots(database, scope=scope)] == [mine.snapshot.number]
    for reference in (f"@{theirs.snapshot.number}", "@other@x.io/shop/prod"):
        with pytest.raises(InputError, match="STORE010"):
            resolve(database, reference, scope)
    with pytest.raises(InputError, match="STORE010"):
        resolve(database, f"@{mine.snapshot.number}", Scope("acme@x.io", "bank"))


def test_pages_skip_nothing_while_others_import(database):
    """Asking on behind the last number gives every snapshot once, also those imported meanwhile."""
    seen, after = [], 0
    for round_ in range(6):
        store(database, replace(deployment(), environment=f"e{round_}"))
        page = snapshots(database, after=after, limit=1)
        seen += [info.number for info in page]
        after = seen[-1]
    assert seen == sorted(set(seen))
    assert len(seen) == 6


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (deployment(components=(Component("a\0b"),)), "STORE013"),
        (deployment(components=(Component("\ud800"),)), "STORE013"),
        (deployment(components=(Component("x" * 601),)), "STORE013"),
        (deployment(components=(Component("shop:cart"), Component("shop:cart", revision=2))), "STORE012"),
        (deployment(components=()), "STORE012"),
        (replace(full(), cards=()), "STORE014"),
        (replace(full(), environment="other"), "STORE015"),
    ],
)
def test_facts_that_contradict_themselves_are_refused(database, facts, code):
    """What no table could hold is refused before anything is written."""
    with pytest.raises(InputError, match=code):
        store(database, facts)
    assert snapshots(database) == ()


def test_long_ids_fit(database):
    """Agent ids and owners are longer than an index entry may be."""
    agent = f'Cart("{"x" * 9000}")'
    wallet = replace(full().wallets[0], agent_id=agent)
    owner = grant(f"agent(acme@x.io/shop/prod/shop:cart/{agent}) @ * : view : *")
    facts = full()
    cards = tuple(
        replace(f, card=replace(f.card, bounds=replace(f.card.bounds, lower_positive=(owner,))), places=())
        for f in facts.cards
    )
    stored = store(database, replace(facts, wallets=(wallet,), cards=cards))
    assert load(database, stored.snapshot.number).wallets[0].agent_id == agent


def test_an_environment_keeps_to_itself(database):
    """The facts that a change answers must be about the environment that was asked for."""
    with pytest.raises(InputError, match="STORE012"):
        change(database, (*HOME[:2], "other"), lambda _: deployment(), at=NOW, by="test")


def test_revoked_cards_take_their_descendants_along(database):
    """A card below a revoked id is revoked, also where the id itself is not stored."""
    from policyd.store.lineage import card_view

    number = store(database, full()).snapshot.number
    assert card_view(database, number, card_id(2)).is_revoked
    assert not card_view(database, number, card_id(1)).is_revoked
