"""The generation of a wallet (cards 5.5, 6.8 W1; G336, G337)."""

from policyd.core.cards import Card, CardId, Timestamp, WalletVersion

A, B, C = (CardId(f"00000000-0000-0000-0000-00000000000{n}") for n in "123")
NOW = Timestamp(100)
FULL = WalletVersion(frozenset({A, B, C}), 7)


def test_two_cards_that_expire_at_one_boundary_count_twice():
    cards = [Card(A, expires_at=NOW), Card(B, expires_at=NOW), Card(C, expires_at=Timestamp(101))]
    assert FULL.without_expired(cards, NOW) == WalletVersion(frozenset({C}), 9)


def test_a_cascade_counts_once():
    assert FULL.after_revocation([A, B]) == WalletVersion(frozenset({C}), 8)


def test_nothing_changes_where_nothing_changes():
    elsewhere = CardId("00000000-0000-0000-0000-000000000009")
    assert FULL.with_card(A) == FULL
    assert FULL.after_revocation([elsewhere]) == FULL
    assert FULL.without_expired([Card(elsewhere, expires_at=NOW), Card(A)], NOW) == FULL


def test_every_added_card_counts():
    assert WalletVersion().with_card(A).with_card(B).with_card(A) == WalletVersion(frozenset({A, B}), 2)
