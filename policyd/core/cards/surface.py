"""The effective surface: what a set of cards lends to a holder, and what it withholds.

This is the plain evaluator: short, slow, and the meaning of all faster paths.

Source: cards 5.1, 5.2, 5.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from policyd.core.cards.card import Bound, Bounds, Card, CardId, ScopeCard
from policyd.core.grants import Grant, Recipient, Target


@dataclass(frozen=True, slots=True)
class GrantRef:
    """One grant of one card, by its place in the card.

    Attributes:
        card: the card.
        bound: which list.
        index: position in the list, from 0.
        grant: the grant as it was compared (slots filled).
    """

    card: CardId
    bound: Bound
    index: int
    grant: Grant = field(hash=False)


@dataclass(frozen=True, slots=True)
class Part:
    """The lower or the upper part of one card after filtering by recipient (E1).

    Attributes:
        card: whose part.
        positive: the grants that apply to the holder.
        negative: likewise.
    """

    card: CardId
    positive: tuple[GrantRef, ...]
    negative: tuple[GrantRef, ...]

    def granting(self, target: Target) -> GrantRef | None:
        """The first positive that covers the whole target."""
        return _first(self.positive, target)

    def denying(self, target: Target) -> GrantRef | None:
        """The first negative that covers the whole target (E6)."""
        return _first(self.negative, target)

    def lends(self, target: Target) -> bool:
        """Whether this lower part grants `target` and does not deny it (E2)."""
        return self.granting(target) is not None and self.denying(target) is None

    def admits(self, target: Target) -> bool:
        """Whether this upper part lets `target` through; no positive is no ceiling (E3, E4)."""
        return (not self.positive or self.granting(target) is not None) and self.denying(target) is None


def _first(refs: Iterable[GrantRef], target: Target) -> GrantRef | None:
    return next((ref for ref in refs if ref.grant.target.covers(target)), None)


@dataclass(frozen=True, slots=True)
class Surface:
    """What decides for one holder.

    Attributes:
        holder: who asks.
        lower: one part per card, then the scope card's where it has any positive.
        upper: one part per card, then the scope card's where it has anything.
        sources: the ids of all cards looked at, the scope card's last.
    """

    holder: Recipient
    lower: tuple[Part, ...]
    upper: tuple[Part, ...]
    sources: tuple[CardId, ...]

    def allows(self, target: Target) -> bool:
        """Whether the surface admits `target`: some card lends it, and every card lets it through."""
        return any(part.lends(target) for part in self.lower) and all(part.admits(target) for part in self.upper)


def filtered(card: CardId, bounds: Bounds, holder: Recipient) -> tuple[Part, Part]:
    """The lower and the upper part of a card for `holder`: grants for others are left out (E1)."""

    def keep(bound: Bound) -> tuple[GrantRef, ...]:
        return tuple(
            GrantRef(card, bound, index, grant)
            for index, grant in enumerate(bounds.of(bound))
            if grant.recipient.covers(holder)
        )

    return (
        Part(card, keep(Bound.LOWER_POSITIVE), keep(Bound.LOWER_NEGATIVE)),
        Part(card, keep(Bound.UPPER_POSITIVE), keep(Bound.UPPER_NEGATIVE)),
    )


def surface_of(cards: Sequence[Card], holder: Recipient, scope: ScopeCard | None = None) -> Surface:
    """The surface of `holder` over `cards` (concrete, live, in wallet order) and an optional scope card (E8).

    Raises:
        ValueError: for a template whose slots are not filled: an open slot would compare like a star.
    """
    if any(card.is_polymorphic for card in cards):
        raise ValueError("a template is to be filled for its holder first")
    parts = [filtered(card.id, card.bounds, holder) for card in cards]
    lower = [low for low, _ in parts]
    upper = [up for _, up in parts]
    sources = [card.id for card in cards]
    if scope is not None:
        low, up = filtered(scope.id, scope.bounds, holder)
        if low.positive:
            lower.append(low)
        if up.positive or up.negative:
            upper.append(up)
        sources.append(scope.id)
    return Surface(holder, tuple(lower), tuple(upper), tuple(sources))
