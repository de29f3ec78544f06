"""Deciding one target, card by card: the reference for every faster path.

Source: cards 5.1 to 5.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from policyd.core.admission.decision import FEW, Decision, Forbidden, Withheld
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import Card, GrantRef, ScopeCard, Surface, Timestamp, surface_of
from policyd.core.cards.surface import Part
from policyd.core.grants import Target


def surface_at(wallet: Wallet, at: Timestamp | None, scope: ScopeCard | None = None) -> Surface:
    """The effective surface of a wallet's holder at a moment, with the scope card of the invocation if any."""
    return surface_of([held.card for held in wallet.live(at)], wallet.holder, scope)


def decide(surface: Surface, target: Target) -> Decision:
    """Decide whether `surface` admits `target`, and say why.

    Admitted when the lower part of some card lends the target and the upper part of no card
    withholds it. The order of the cards does not matter for the outcome, only for what is named first.

    Source: cards 5.2.
    """
    forbidden: list[Forbidden] = []
    granted: GrantRef | None = None
    for part in surface.lower:
        granting = part.granting(target)
        if granting is None:
            continue
        denying = part.denying(target)
        if denying is None:
            granted = granting
            break
        forbidden.append(Forbidden(granting, denying))
    withheld = [w for w in (_withheld(part, target) for part in surface.upper) if w is not None]
    if granted is not None:
        forbidden = []
    return Decision(granted, tuple(forbidden[:FEW]), len(forbidden), tuple(withheld[:FEW]), len(withheld))


def _withheld(part: Part, target: Target) -> Withheld | None:
    if part.positive and part.granting(target) is None:
        return Withheld(part.card, None)
    denying = part.denying(target)
    return None if denying is None else Withheld(part.card, denying)


class Lapse(Enum):
    """Why a grant that would have covered the target does not count."""

    ELSEWHERE = "granted to someone else"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Lapsed:
    """A lower positive that covers the target and yet does not count."""

    lapse: Lapse
    ref: GrantRef


def lapsed_grants(wallet: Wallet, target: Target, at: Timestamp | None) -> tuple[Lapsed, ...]:
    """The lower positives that would cover `target` but are for someone else or no longer valid.

    They decide nothing; they keep "not granted" apart from "granted to someone else" and "no longer valid".
    """
    found = [
        Lapsed(Lapse.ELSEWHERE, ref)
        for ref in _covering([held.card for held in wallet.live(at)], target)
        if not ref.grant.recipient.covers(wallet.holder)
    ]
    for held in wallet.dead(at):
        lapse = Lapse.REVOKED if held.card.id in wallet.revoked else Lapse.EXPIRED
        found += [
            Lapsed(lapse, ref) for ref in _covering([held.card], target) if ref.grant.recipient.covers(wallet.holder)
        ]
    return tuple(found)


def _covering(cards: Sequence[Card], target: Target) -> list[GrantRef]:
    return [
        GrantRef(card.id, bound, index, grant)
        for card in cards
        for bound, index, grant in card.bounds.each()
        if bound.is_lower and bound.is_positive and grant.target.covers(target)
    ]
