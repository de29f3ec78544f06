"""Wallets: the cards of one holder, and what is known of how they got there.

Source: cards 5.1, 5.3, 5.5; interface, wallet file.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from policyd.core.cards import Card, CardId, Timestamp
from policyd.core.grants import AgentContext, Level, Recipient


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card in a wallet.

    Attributes:
        card: the card itself; a template is filled for the holder when it decides.
        is_initial: it is the initial card of the holder's agent type.
        is_own_install: the holder installed it itself; also where nothing says who did.
    """

    card: Card
    is_initial: bool = False
    is_own_install: bool = True


@dataclass(frozen=True, slots=True)
class Wallet:
    """The cards of one holder.

    Attributes:
        holder: an agent (by its type) or an account.
        cards: 0..n, in wallet order: ascending id (use `Wallet.of`).
        context: the agent for which slots are filled; None for an account.
        recorded_account: the account e-mail that `card` operations ask about (Q17).
        revoked: ids that are revoked; their cards decide nothing.
    """

    holder: Recipient
    cards: tuple[HeldCard, ...]
    context: AgentContext | None = None
    recorded_account: str = ""
    revoked: frozenset[CardId] = field(default=frozenset())

    @classmethod
    def of(
        cls,
        holder: Recipient,
        cards: tuple[HeldCard, ...],
        context: AgentContext | None = None,
        recorded_account: str = "",
        revoked: frozenset[CardId] = frozenset(),
    ) -> Wallet:
        """A wallet with its cards brought into wallet order; a card held twice counts once."""
        unique = {held.card.id: held for held in cards}
        ordered = tuple(unique[card_id] for card_id in sorted(unique))
        account = recorded_account or (holder.known[0] if holder.level is not Level.ANY else "")
        return cls(holder, ordered, context, account, revoked)

    def live(self, at: Timestamp | None) -> tuple[HeldCard, ...]:
        """The cards that decide at `at`, templates filled: neither expired nor revoked (E9, E10)."""
        return tuple(
            replace(held, card=self.filled(held.card))
            for held in self.cards
            if held.card.id not in self.revoked and not held.card.is_expired(at)
        )

    def dead(self, at: Timestamp | None) -> tuple[HeldCard, ...]:
        """The cards that no longer decide at `at`, templates filled."""
        return tuple(
            replace(held, card=self.filled(held.card))
            for held in self.cards
            if held.card.id in self.revoked or held.card.is_expired(at)
        )

    def filled(self, card: Card) -> Card:
        """A template with its slots filled for the holder; everything else passes through."""
        return card if self.context is None else card.for_agent(self.context)

    def without(self, card: CardId) -> Wallet:
        """The same wallet with one card left out."""
        return replace(self, cards=tuple(held for held in self.cards if held.card.id != card))

    def for_agent(self, context: AgentContext) -> Wallet:
        """The same cards in the hands of another agent of the type."""
        return replace(self, context=context)
