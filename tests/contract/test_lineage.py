"""Families of cards, and what a revocation would take from whom."""

from dataclasses import replace

import pytest
from contract.samples import CART, NOW, bounds, card_id, deployment, holder, span

from policyd.core.cards import Bound, Card, ManagedBy, Timestamp
from policyd.core.cards import descendants as all_below
from policyd.findings import InputError
from policyd.store import writing
from policyd.store.facts import CardFact, Installed, WalletFact
from policyd.store.lineage import card_view, descendants, revocation
from policyd.store.snapshots import put, snapshots
from policyd.syntax import Form

EXPIRY = Timestamp.parse("2026-06-01T00:00:00Z")


def card(number, *parents, lower=(), upper=(), upper_negative=(), lower_negative=(), **others):
    form = Form.POLYMORPHIC if others.get("is_polymorphic") else Form.CONCRETE
    lists = bounds(lower, lower_negative, upper, upper_negative, form=form)
    places = tuple(tuple(span(number * 100 + i) for i in range(len(lists.of(b)))) for b in Bound)
    return CardFact(Card(card_id(number), lists, parents=tuple(map(card_id, parents)), **others), places)


def family():
    """1 -> 2 -> 4, 1 -> 3, {3, 5} -> 6; 7 stands below a card that is not stored."""
    return deployment(
        cards=(
            card(1, lower=["kv(acme@x.io/shop/prod) @ * : * : *.**"]),
            card(
                2,
                1,
                lower=["kv(acme@x.io/shop/prod) @ acme@x.io : read : a.b"],
                upper=["kv(acme@x.io/shop/prod) @ * : read : *.**", "env(acme@x.io/*/*/*/*) @ bob@x.io : read : *"],
            ),
            card(3, 1, 1, lower=["env(?agent) @ * : read : *"], is_polymorphic=True),
            card(4, 2, upper_negative=["secret(*/*/*) @ * : * : **"], expires_at=EXPIRY),
            card(5),
            card(6, 3, 5, lower_negative=["kv(acme@x.io/shop/prod) @ * : read : a.b"]),
            card(7, 99, managed_by=ManagedBy("PermissionShare", (("permissionShareId", card_id(60)),))),
        ),
        wallets=(
            WalletFact(holder("acme@x.io"), cards=(Installed(card_id(2)), Installed(card_id(5)))),
            WalletFact(holder("bob@x.io"), cards=(Installed(card_id(2)), Installed(card_id(4)))),
            WalletFact(holder(CART), 'Cart("1")', cards=(Installed(card_id(3)), Installed(card_id(6)))),
            WalletFact(holder("carl@x.io"), cards=(Installed(card_id(5)),)),
        ),
    )


def numbers(relatives):
    return [int(str(relative.card)[-3:]) for relative in relatives]


def test_the_family_of_a_card(database):
    """Parents in order with repetitions, children, descendants at any distance, holders."""
    snapshot = put(database, family(), at=NOW, by="test").snapshot.number
    view = card_view(database, snapshot, card_id(3))
    assert numbers(view.parents) == [1, 1]
    assert numbers(view.children) == numbers(view.descendants) == [6]
    assert [h.text for h in view.holders] == [f'{CART} Cart("1")']
    assert numbers(card_view(database, snapshot, card_id(1)).descendants) == [2, 3, 4, 6]
    assert view.fact == family().cards[2]
    seventh = card_view(database, snapshot, card_id(7))
    assert [(p.card, p.is_known) for p in seventh.parents] == [(card_id(99), False)]
    assert numbers(descendants(database, snapshot, card_id(99))) == [7]
    with pytest.raises(InputError, match="STORE014"):
        card_view(database, snapshot, card_id(99))


def test_descendants_agree_with_the_core(database):
    """The closure in the database holds what walking the parents finds."""
    facts = family()
    snapshot = put(database, facts, at=NOW, by="test").snapshot.number
    parents = {fact.card.id: fact.card.parents for fact in facts.cards}
    for fact in facts.cards:
        below = descendants(database, snapshot, fact.card.id)
        assert (fact.card.id, *(r.card for r in below)) == tuple(sorted(all_below(fact.card.id, parents)))


def test_what_everybody_would_lose(database):
    """Per holder: floors, ceilings and denials of the cards that go, with places; others' grants are not told."""
    snapshot = put(database, family(), at=NOW, by="test").snapshot.number
    lost = revocation(database, snapshot, card_id(1))
    assert lost.gone == tuple(card_id(n) for n in (1, 2, 3, 4, 6))
    assert [loss.holder.text for loss in lost.losses] == ["acme@x.io", f'{CART} Cart("1")', "bob@x.io"]
    acme, cart, bob = lost.losses
    assert [g.ref.grant.text for g in acme.floors] == ["kv(acme@x.io/shop/prod) @ acme@x.io : read : a.b"]
    assert [(g.ref.index, g.place) for g in acme.ceilings] == [(0, span(200))]
    assert acme.denials == ()
    assert cart.cards == (card_id(3), card_id(6))
    assert [g.ref.grant.text for g in cart.floors] == ['env(acme@x.io/shop/prod/shop:cart/Cart("1")) @ * : read : *']
    assert [g.place for g in cart.exceptions] == [span(600)]
    assert bob.floors == ()
    assert [g.ref.index for g in bob.ceilings] == [0, 1]
    assert [g.place for g in bob.denials] == [span(400)]
    assert snapshots(database)[0].number == snapshot
    assert not card_view(database, snapshot, card_id(1)).is_revoked


def test_what_is_dead_takes_nothing_along(database):
    """Expired and revoked cards limit and lend nothing, so nothing vanishes with them."""
    snapshot = put(database, family(), at=NOW, by="test").snapshot.number
    late = revocation(database, snapshot, card_id(4), at=EXPIRY)
    assert late.losses == ()
    assert revocation(database, snapshot, card_id(4), at=NOW).losses[0].denials != ()
    gone = put(database, replace(family(), revoked=(card_id(2),)), at=NOW, by="test").snapshot.number
    assert revocation(database, gone, card_id(1)).gone == (card_id(1), card_id(3), card_id(6))
    assert revocation(database, gone, card_id(2)).gone == ()


def test_what_the_platform_refuses_is_told(database):
    """A card that is kept by a share is not revoked directly (V4)."""
    snapshot = put(database, family(), at=NOW, by="test").snapshot.number
    assert "permission share" in revocation(database, snapshot, card_id(7)).refusal
    assert revocation(database, snapshot, card_id(1)).refusal == ""


def test_cycles_end(database):
    """Cards that name each other as parents, which the platform cannot make, are stored and answered."""
    facts = deployment(cards=(card(1, 2), card(2, 1), card(3, 3)))
    snapshot = put(database, facts, at=NOW, by="test").snapshot.number
    assert numbers(descendants(database, snapshot, card_id(1))) == [2]
    assert numbers(descendants(database, snapshot, card_id(3))) == []


def test_too_many_ancestors_are_refused(database, monkeypatch):
    """A chain whose closure would fill the disk is refused, and nothing is stored."""
    monkeypatch.setattr(writing, "MAX_ANCESTRIES", 100)
    facts = deployment(cards=tuple(card(n, n - 1) for n in range(1, 30)))
    with pytest.raises(InputError, match="STORE016"):
        put(database, facts, at=NOW, by="test")
    assert snapshots(database) == ()
