"""The generation of a wallet: how its version token moves.

Source: cards 5.5, 6.8 W1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policyd.core.cards.card import Card, CardId
from policyd.core.cards.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class WalletVersion:
    """Which cards a wallet holds, and how often that has changed.

    Attributes:
        cards: the ids it holds.
        generation: rises with every change, and only then.
    """

    cards: frozenset[CardId] = frozenset()
    generation: int = 0

    def with_card(self, card: CardId) -> WalletVersion:
        """After admitting a card; one that is already there changes nothing."""
        return self if card in self.cards else WalletVersion(self.cards | {card}, self.generation + 1)

    def without_expired(self, cards: Iterable[Card], at: Timestamp) -> WalletVersion:
        """After a boundary at `at`: each expired card is a removal of its own."""
        dead = self.cards & {card.id for card in cards if card.is_expired(at)}
        return WalletVersion(self.cards - dead, self.generation + len(dead))

    def after_revocation(self, gone: Iterable[CardId]) -> WalletVersion:
        """After a revocation cascade: all its cards go in one step."""
        lost = self.cards & frozenset(gone)
        return WalletVersion(self.cards - lost, self.generation + 1) if lost else self
