"""Attenuation: whether a child card stays within its parents, and which parent a wallet would use.

The soft spots of the platform's check are kept, not repaired: a ceiling for a recipient that no
parent ceiling overlaps is unconstrained, lower negatives are not inherited by a child without lower
positives, and wallet selection looks at each card alone.

Source: cards 6.1, 6.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.cards.card import Bounds, Card, CardId
from policyd.core.grants import Grant


@dataclass(frozen=True, slots=True)
class Attenuates:
    """The child stays within its parents.

    Attributes:
        witnesses: the parents that were used: lower ones in child order, then those with a ceiling.
    """

    witnesses: tuple[CardId, ...]


@dataclass(frozen=True, slots=True)
class TooBroad:
    """The child is refused.

    Attributes:
        is_lower: whether the lower or the upper check failed.
        grant: the grant that the platform names, None where it names none.
        card: the parent whose ceiling is at stake (upper checks), None for lower ones.
        rule: the rule that failed: `A1`, `A2`, `A4`, `A5` or `A6`.
        missing: the parent's grants that the child does not restate or cover.
    """

    is_lower: bool
    grant: Grant | None
    rule: str
    card: CardId | None = None
    missing: tuple[Grant, ...] = ()

    @property
    def kind(self) -> str:
        """The platform's name of the refusal."""
        return "LowerBoundTooBroad" if self.is_lower else "UpperBoundTooBroad"


def attenuate(parents: Sequence[Card], child: Bounds) -> Attenuates | TooBroad:
    """Check `child` against `parents`, in the platform's order of checks (A1 to A7).

    Args:
        parents: concrete cards, not filtered by recipient.
        child: the bounds wanted, concrete.
    """
    witnesses: dict[CardId, None] = {}
    for wanted in child.lower_positive:
        parent = _lower_parent(parents, wanted, child)
        if isinstance(parent, TooBroad):
            return parent
        witnesses[parent.id] = None
    for card in parents:
        refusal = _ceiling_refusal(card, child)
        if refusal is not None:
            return refusal
        if card.bounds.upper_positive or card.bounds.upper_negative:
            witnesses[card.id] = None
    return Attenuates(tuple(witnesses))


def _lower_parent(parents: Sequence[Card], wanted: Grant, child: Bounds) -> Card | TooBroad:
    """A1, A2: the first parent that grants `wanted` and whose negatives are all restated."""
    unrestated: tuple[Grant, ...] = ()
    for card in parents:
        if not any(g.covers(wanted) for g in card.bounds.lower_positive):
            continue
        missing = _uncovered(card.bounds.lower_negative, child.lower_negative)
        if not missing:
            return card
        unrestated = unrestated or missing
    return TooBroad(True, wanted, "A2" if unrestated else "A1", None, unrestated)


def _uncovered(inherited: Sequence[Grant], restated: Sequence[Grant]) -> tuple[Grant, ...]:
    return tuple(n for n in inherited if not any(r.covers(n) for r in restated))


def _ceiling_refusal(card: Card, child: Bounds) -> TooBroad | None:
    """A4, A5, A6 for one parent."""
    missing = _uncovered(card.bounds.upper_negative, child.upper_negative)
    if missing:
        named = (*child.upper_positive[:1], *child.lower_positive[:1], None)[0]
        return TooBroad(False, named, "A4", card.id, missing)
    ceiling = card.bounds.upper_positive
    if ceiling and not child.upper_positive:
        return TooBroad(False, None, "A5", card.id, ceiling)
    fallen = tuple(p for p in ceiling if not any(c.recipient.covers(p.recipient) for c in child.upper_positive))
    if fallen:
        return TooBroad(False, None, "A5", card.id, fallen)
    for grant in child.upper_positive:
        for parent in ceiling:
            if grant.recipient.covers(parent.recipient):
                overlap = parent.recipient
            elif parent.recipient.covers(grant.recipient):
                overlap = grant.recipient
            else:
                continue
            if not any(q.recipient.covers(overlap) and q.target.covers(grant.target) for q in ceiling):
                return TooBroad(False, grant, "A6", card.id, (parent,))
    return None


@dataclass(frozen=True, slots=True)
class SingleParent:
    """One card of the wallet is enough; the largest id among those that are (A8)."""

    card: CardId


@dataclass(frozen=True, slots=True)
class MultipleRequired:
    """The wallet as a whole would do, no single card does (A9)."""


@dataclass(frozen=True, slots=True)
class NotPermitted:
    """The wallet is empty."""


Selection = SingleParent | MultipleRequired | NotPermitted | TooBroad


def select_parent(wallet: Sequence[Card], child: Bounds) -> Selection:
    """Which single parent a derivation from the wallet would use (A8, A9).

    Args:
        wallet: concrete cards in wallet order.
        child: the complete bounds wanted.
    """
    if not wallet:
        return NotPermitted()
    alone = [card.id for card in wallet if isinstance(attenuate([card], child), Attenuates)]
    if alone:
        return SingleParent(max(alone))
    joint = attenuate(wallet, child)
    return joint if isinstance(joint, TooBroad) else MultipleRequired()
