"""What a holder may do in a class: every grant that lends something, and all that limits it.

Source: cards 5.1, 5.2; interface, what-can.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.cards import CardId, GrantRef, Part, Surface, Timestamp, surface_of
from policyd.core.grants import PermissionClass, Target
from policyd.findings import InputError, Span
from policyd.store.session import Database
from policyd.store.wallets import Holder, StoredWallet, wallet


class Extent(Enum):
    """How much of a lending grant comes through."""

    WHOLE = "whole"
    LIMITED = "limited"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The upper bound of one card, as far as the class is concerned.

    Attributes:
        card: whose.
        is_closed: it has a positive list for this holder, so that nothing else comes through.
        positive: what of that list is about the class; nothing of the class comes through where this is empty
            and `is_closed`.
        negative: what it denies in the class.
    """

    card: CardId
    is_closed: bool
    positive: tuple[GrantRef, ...]
    negative: tuple[GrantRef, ...]


@dataclass(frozen=True, slots=True)
class Lent:
    """A grant that lends something in the class.

    Attributes:
        ref: the grant, slots filled.
        place: where it stands, None where unknown.
        extent: whether all of it comes through, possibly a part, or nothing.
        denied_by: negatives of its own card in the class.
    """

    ref: GrantRef
    place: Span | None
    extent: Extent
    denied_by: tuple[GrantRef, ...]


@dataclass(frozen=True, slots=True)
class WhatCan:
    """Everything a holder may do in a class: what is lent, less what its own card denies, within all ceilings.

    Attributes:
        holder: who.
        cls: the class.
        lent: by card, then by position.
        ceilings: those of all live cards that limit the class, by card.
        surface: the whole surface of the holder, which answers single targets.
    """

    holder: Holder
    cls: PermissionClass
    lent: tuple[Lent, ...]
    ceilings: tuple[Ceiling, ...]
    surface: Surface

    def allows(self, target: Target) -> bool:
        """Whether the holder may reach `target`, which is of the class."""
        return self.surface.allows(target)


def what_can(
    database: Database,
    snapshot: int,
    holder: str,
    cls: PermissionClass,
    *,
    agent_id: str = "",
    at: Timestamp | None = None,
) -> WhatCan:
    """Everything that a holder of the snapshot may do in `cls`.

    Args:
        database: migrated.
        snapshot: its number.
        holder: as for `policyd.store.wallets.wallet`.
        cls: the class.
        agent_id: an instance, empty for any other of its type.
        at: the moment; None to leave expiry aside.

    Raises:
        InputError: STORE010 if there is no such snapshot, STORE011 if the holder is not known there.
    """
    return what_can_of(wallet(database, snapshot, holder, agent_id), cls, at)


def what_can_of(stored: StoredWallet, cls: PermissionClass, at: Timestamp | None = None) -> WhatCan:
    """Everything that a wallet lets its holder do in `cls`.

    Raises:
        InputError: CARD060 for an account that holds a template.
    """
    live = [held.card for held in stored.wallet.live(at)]
    if any(card.is_polymorphic for card in live):
        help = "install what its holder may do as a concrete card"
        raise InputError.of(
            "CARD060", "the wallet of an account holds a template: an account fills no slots", None, help
        )
    surface = surface_of(live, stored.wallet.holder)
    ceilings = tuple(c for c in (_ceiling(part, cls) for part in surface.upper) if _limits(c))
    lent = tuple(
        Lent(
            ref,
            stored.places.get((ref.card, ref.bound, ref.index)),
            _extent(ref.grant.target, part, ceilings),
            _of(cls, part.negative),
        )
        for part in surface.lower
        for ref in _of(cls, part.positive)
    )
    return WhatCan(stored.holder, cls, lent, ceilings, surface)


def _of(cls: PermissionClass, refs: Sequence[GrantRef]) -> tuple[GrantRef, ...]:
    return tuple(ref for ref in refs if ref.grant.target.cls == cls)


def _ceiling(part: Part, cls: PermissionClass) -> Ceiling:
    return Ceiling(part.card, bool(part.positive), _of(cls, part.positive), _of(cls, part.negative))


def _limits(ceiling: Ceiling) -> bool:
    return ceiling.is_closed or bool(ceiling.negative)


def _extent(target: Target, part: Part, ceilings: Sequence[Ceiling]) -> Extent:
    """Whole where nothing in its way touches the class, or a ceiling covers all of it; never guessed."""
    negatives = [ref for ceiling in ceilings for ref in ceiling.negative]
    negatives += [ref for ref in part.negative if ref.grant.target.cls == target.cls]
    if any(ref.grant.target.covers(target) for ref in negatives):
        return Extent.NOTHING
    closed = [ceiling for ceiling in ceilings if ceiling.is_closed]
    if any(not ceiling.positive for ceiling in closed):
        return Extent.NOTHING
    inside = all(any(ref.grant.target.covers(target) for ref in ceiling.positive) for ceiling in closed)
    return Extent.WHOLE if inside and not negatives else Extent.LIMITED
