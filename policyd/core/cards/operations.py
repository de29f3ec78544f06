"""What the guest operations on cards have in common: who asks, what the store knows, and how it ends.

The operations themselves are dry runs over these values: they decide in the platform's order of
checks and say what would change, and change nothing.

Source: cards 6.2, A.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.cards.attenuation import TooBroad
from policyd.core.cards.card import Bounds, Card, CardId, ScopeCard
from policyd.core.cards.surface import Surface, surface_of
from policyd.core.cards.timestamp import Timestamp
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import ANYONE, AgentContext, Owner, OwnerKind, Target, agent_holder, class_named
from policyd.core.grants.resources import Resource
from policyd.core.grants.resources.exact import ANY


@dataclass(frozen=True, slots=True)
class Refused:
    """An operation is refused.

    Attributes:
        variant: the guest's `permission-error`, such as `not-permitted`.
        text: what the platform says with it.
        cause: the failed attenuation behind `lower-bound-too-broad` and `upper-bound-too-broad`.
    """

    variant: str
    text: str
    cause: TooBroad | None = None


class Change(Enum):
    """What an accepted operation does to one card."""

    STORED = "stored"
    INSTALLED = "installed"
    NOT_ADMITTED = "not-admitted"
    REMOVED = "removed"
    REVOKED = "revoked"
    DROPPED = "dropped"

    @property
    def words(self) -> str:
        """As a person reads it."""
        return _CHANGES[self]


_CHANGES = {
    Change.STORED: "a new card is stored, in no wallet yet",
    Change.INSTALLED: "the card enters the target's wallet",
    Change.NOT_ADMITTED: "the target's wallet does not admit the card, which only its log tells",
    Change.REMOVED: "the card leaves the own wallet",
    Change.REVOKED: "the card is gone for good, from every wallet",
    Change.DROPPED: "the scope card is dropped, because one of its roots is gone",
}


@dataclass(frozen=True, slots=True)
class Effect:
    """One change that an accepted operation makes."""

    change: Change
    card: CardId


@dataclass(frozen=True, slots=True)
class Accepted:
    """An operation goes through.

    Attributes:
        card: the card made, None where none is.
        witnesses: the parents that were used, in the order of the attenuation check.
        expires_at: when the card made expires; None for never, and where no card is made.
        effects: what changes, in order.
    """

    card: Card | ScopeCard | None
    witnesses: tuple[CardId, ...] = ()
    expires_at: Timestamp | None = None
    effects: tuple[Effect, ...] = ()


Wanted = Bounds | Refused
"""The bounds asked for, as read: a list that does not parse is a refusal, told when its turn comes."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the platform's store knows of cards.

    Attributes:
        cards: the stored cards by id, those of wallets included; templates as they are stored.
        revoked: ids known to be revoked.
    """

    cards: Mapping[CardId, Card]
    revoked: frozenset[CardId] = frozenset()

    @classmethod
    def of(cls, cards: Iterable[Card], revoked: Iterable[CardId] = ()) -> Ledger:
        """A ledger of these cards."""
        return cls({card.id: card for card in cards}, frozenset(revoked))

    @property
    def parents_of(self) -> dict[CardId, tuple[CardId, ...]]:
        """The parents of every stored card."""
        return {card.id: card.parents for card in self.cards.values()}

    def resolve(self, handle: Card) -> Card | Refused:
        """The stored card that a guest's handle points to (A.1)."""
        if handle.id in self.revoked:
            return Refused("card-revoked", f"permission card {handle.id} is revoked")
        stored = self.cards.get(handle.id)
        if stored is None:
            return Refused("card-revoked", f"permission card {handle.id} is unknown or revoked")
        if not is_same_card(handle, stored):
            return not_permitted(f"permission-card snapshot for {handle.id} does not match the stored card")
        return stored

    def is_dead(self, card_id: CardId, at: Timestamp) -> bool:
        """Whether a card is revoked, or known and expired at `at`."""
        card = self.cards.get(card_id)
        return card_id in self.revoked or (card is not None and card.is_expired(at))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a card call, with all that decides about it.

    Attributes:
        agent: the agent, its id included; None for a worker that is no agent, whose surface is empty (E11).
        wallet: its cards in any order, templates as they are stored; dead ones decide nothing.
        at: the moment.
        account: the e-mail that the agent's component had when the agent was made; empty for the present one (Q17).
        scope: the scope card of the running invocation.
        minted: further scope cards that belong to this invocation.
        has_invocation: whether an invocation is running.
        is_unrestricted: everything is allowed, as for invocations of plugins (5.3).
    """

    agent: AgentContext | None
    wallet: tuple[Card, ...]
    at: Timestamp
    account: str = ""
    scope: ScopeCard | None = None
    minted: tuple[ScopeCard, ...] = field(default=())
    has_invocation: bool = True
    is_unrestricted: bool = False

    def live(self, ledger: Ledger) -> tuple[Card, ...]:
        """The cards that decide, in wallet order, as they are stored (E10)."""
        unique = {card.id: card for card in self.wallet if card.id not in ledger.revoked}
        return tuple(unique[i] for i in sorted(unique) if not unique[i].is_expired(self.at))

    def live_scope(self, ledger: Ledger) -> ScopeCard | None:
        """The active scope card, unless one of its roots is gone (5.4)."""
        if self.scope is None or any(ledger.is_dead(root, self.at) for root in self.scope.roots):
            return None
        return self.scope

    def filled(self, card: Card) -> Card:
        """A template with its slots filled for the caller; concrete cards pass through (E9)."""
        return card if self.agent is None else card.for_agent(self.agent)

    def surface(self, ledger: Ledger, *, without: CardId | None = None) -> Surface:
        """The current surface, with one card left aside if asked."""
        if self.agent is None:
            return Surface(ANYONE, (), (), ())
        cards = [self.filled(card) for card in self.live(ledger) if card.id != without]
        return surface_of(cards, agent_holder(self.agent), self.live_scope(ledger))

    def missing_permission(
        self, ledger: Ledger, verb: str, resource: Resource = ANY, *, without: CardId | None = None
    ) -> Refused | None:
        """The refusal where the caller lacks `card : verb : resource` on its own account, else None (6.2)."""
        if self.is_unrestricted:
            return None
        account = self.account or (self.agent.account if self.agent else "")
        cls = class_named("card", SNAPSHOT)
        assert cls is not None  # a class of every edition
        target = Target(cls, Owner(OwnerKind.ACCOUNT, (account,)), verb, resource)
        if self.surface(ledger, without=without).allows(target):
            return None
        return not_permitted(f"card:{verb} is not permitted for this agent")


def not_permitted(text: str) -> Refused:
    """The commonest refusal, with the platform's text."""
    return Refused("not-permitted", text)


def too_broad(cause: TooBroad) -> Refused:
    """A failed attenuation as a guest sees it (A.1)."""
    if cause.is_lower:
        return Refused("lower-bound-too-broad", cause.grant.text if cause.grant else "", cause)
    return Refused(
        "upper-bound-too-broad", cause.grant.text if cause.grant else "upper-bound grant is too broad", cause
    )


def is_same_card(one: Card, other: Card) -> bool:
    """Whether two copies of a card hold the same data; stored moments have microseconds (L3)."""
    return _stored(one) == _stored(other)


def _stored(card: Card) -> Card:
    expires = card.expires_at
    return replace(card, created_at=_micros(card.created_at), expires_at=None if expires is None else _micros(expires))


def _micros(moment: Timestamp) -> Timestamp:
    return Timestamp(moment.seconds, moment.nanos // 1000 * 1000)
