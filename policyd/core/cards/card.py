"""Cards: four lists of grants, and what is known of their making.

Source: cards 5.4, 6.9, C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NewType

from policyd.core.cards.timestamp import Timestamp
from policyd.core.grants import AgentContext, Grant, Owner, Target

CardId = NewType("CardId", str)
"""A UUID in lower case with hyphens; text order is the order of its 16 bytes."""


EPOCH = Timestamp(0)


class Bound(Enum):
    """One of the four lists of a card, in the order in which they are written."""

    LOWER_POSITIVE = "lowerPositive"
    LOWER_NEGATIVE = "lowerNegative"
    UPPER_POSITIVE = "upperPositive"
    UPPER_NEGATIVE = "upperNegative"

    @property
    def is_lower(self) -> bool:
        """Whether the list belongs to the lower bound."""
        return self in (Bound.LOWER_POSITIVE, Bound.LOWER_NEGATIVE)

    @property
    def is_positive(self) -> bool:
        """Whether the list grants rather than denies."""
        return self in (Bound.LOWER_POSITIVE, Bound.UPPER_POSITIVE)

    @property
    def words(self) -> str:
        """As a person reads it: `lower positive`."""
        return f"{'lower' if self.is_lower else 'upper'} {'positive' if self.is_positive else 'negative'}"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The four lists: what a card gives, and the most it lets through.

    Attributes:
        lower_positive: L+, what it lends; order and duplicates are kept in all four.
        lower_negative: L−, cuts its own L+ only.
        upper_positive: U+, the ceiling on the whole wallet; empty is no ceiling.
        upper_negative: U−, denied to the whole wallet.
    """

    lower_positive: tuple[Grant, ...] = ()
    lower_negative: tuple[Grant, ...] = ()
    upper_positive: tuple[Grant, ...] = ()
    upper_negative: tuple[Grant, ...] = ()

    def of(self, bound: Bound) -> tuple[Grant, ...]:
        """One of the lists."""
        match bound:
            case Bound.LOWER_POSITIVE:
                return self.lower_positive
            case Bound.LOWER_NEGATIVE:
                return self.lower_negative
            case Bound.UPPER_POSITIVE:
                return self.upper_positive
            case Bound.UPPER_NEGATIVE:
                return self.upper_negative

    def each(self) -> Iterator[tuple[Bound, int, Grant]]:
        """Every grant with its list and its index in it."""
        for bound in Bound:
            for index, grant in enumerate(self.of(bound)):
                yield bound, index, grant

    def mapped(self, change: Callable[[Grant], Grant]) -> Bounds:
        """The same lists with every grant changed; nothing is dropped or reordered."""
        return Bounds(*(tuple(change(g) for g in self.of(bound)) for bound in Bound))

    @property
    def is_empty(self) -> bool:
        """Whether all four lists are empty."""
        return not any(self.of(bound) for bound in Bound)


@dataclass(frozen=True, slots=True)
class ManagedBy:
    """Who keeps a card.

    Attributes:
        kind: `AccountRoot`, `EnvironmentDefault`, `PermissionShare`, `AgentInitial`, `RuntimeDerived`, or
            `ComponentInitial` under edition `next`.
        members: the other members of the platform's JSON, in order; values are text, numbers or pairs of them.
    """

    kind: str
    members: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A persistent card; it never changes after creation.

    Attributes:
        id: unique.
        bounds: the four lists.
        is_polymorphic: a template, whose owners may carry slots.
        parents: the cards it was derived from, in order, repetitions kept.
        created_at: when.
        expires_at: from this moment on it is dead; None never.
        is_system: platform-made; influences revocation, never a decision.
        managed_by: who keeps it; influences no decision.
    """

    id: CardId
    bounds: Bounds = Bounds()
    is_polymorphic: bool = False
    parents: tuple[CardId, ...] = ()
    created_at: Timestamp = EPOCH
    expires_at: Timestamp | None = None
    is_system: bool = False
    managed_by: ManagedBy | None = None

    def is_expired(self, at: Timestamp | None) -> bool:
        """Whether the card is dead at `at`; the moment of expiry itself counts as dead (E10)."""
        return at is not None and self.expires_at is not None and self.expires_at <= at

    def for_agent(self, context: AgentContext) -> Card:
        """A copy with the slots of a template filled; concrete cards pass through (E9, M3)."""
        if not self.is_polymorphic:
            return self
        # many grants of a card have one owner, so each owner is filled once
        owners: dict[int, Owner] = {}

        def filled(grant: Grant) -> Grant:
            target = grant.target
            if not target.is_open(context):
                return grant
            owner = owners.get(id(target.owner))
            if owner is None:
                owner = owners[id(target.owner)] = target.owner.filled(context)
            return Grant(Target(target.cls, owner, target.verb, target.resource), grant.recipient)

        return replace(self, bounds=self.bounds.mapped(filled), is_polymorphic=False)


@dataclass(frozen=True, slots=True)
class ScopeCard:
    """An overlay that lives for one invocation.

    Attributes:
        id: unique.
        bounds: concrete grants.
        roots: the persistent cards it stands on.
    """

    id: CardId
    bounds: Bounds = Bounds()
    roots: tuple[CardId, ...] = field(default=())
