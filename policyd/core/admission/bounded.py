"""Whether the authority of a wallet is capped by a ceiling that its holder cannot shed.

Source: questions 1 (bounded, a call).
"""

from __future__ import annotations

from dataclasses import replace

from policyd.core.admission.decide import decide, surface_at
from policyd.core.admission.verdict import Facet, FacetName, Reason, Why
from policyd.core.admission.wallet import HeldCard, Wallet
from policyd.core.cards import Bound, Card, GrantRef, Timestamp, applies_to
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import Level, Owner, OwnerKind, Recipient, Target, class_named
from policyd.core.grants.resources import CardTarget, Resource
from policyd.core.grants.resources.exact import ANY

_FRESH = ("account@fresh.example", "fresh-app", "fresh-env", "fresh:component", "FreshType")


def bounded(wallet: Wallet, at: Timestamp | None) -> tuple[Facet, tuple[Reason, ...]]:
    """Whether some ceiling holds that this holder can neither shed nor outlive, and why.

    A ceiling counts if its positive list is not empty for the holder, its card never expires, is the
    initial card or was installed by someone else, cannot be revoked by the holder and cannot be moved away.

    Args:
        wallet: the cards of the holder.
        at: the moment; None leaves expiry aside for the live cards, yet a mortal ceiling never counts.
    """
    live = wallet.live(at)
    ceilings = [(held, refs) for held in live if (refs := _ceiling(held.card, wallet.holder))]
    if not ceilings:
        return Facet.NO, (_reason(Why.NO_CEILING),)
    revoking = decide(surface_at(wallet, at), card_call(wallet.recorded_account, "revoke", ANY))
    if revoking.is_admitted and wallet.holder.level is Level.AGENT:
        refs = (revoking.granted_by,) if revoking.granted_by else ()
        return Facet.NO, (_reason(Why.CEILING_REVOCABLE, refs=refs),)
    weak: list[Reason] = []
    for held, refs in ceilings:
        flaw = _flaw(wallet, held, at)
        if flaw is None:
            return Facet.YES, (Reason(FacetName.BOUNDED, Why.CEILING_BOUNDS, held.card.id, refs[:1], count=len(refs)),)
        weak.append(flaw)
    return Facet.NO, tuple(weak)


def _ceiling(card: Card, holder: Recipient) -> tuple[GrantRef, ...]:
    return tuple(
        GrantRef(card.id, Bound.UPPER_POSITIVE, index, grant)
        for index, grant in enumerate(card.bounds.upper_positive)
        if grant.recipient.covers(holder)
    )


def _reason(why: Why, held: HeldCard | None = None, refs: tuple[GrantRef, ...] = (), detail: str = "") -> Reason:
    return Reason(FacetName.BOUNDED, why, held.card.id if held else None, refs, detail)


def _flaw(wallet: Wallet, held: HeldCard, at: Timestamp | None) -> Reason | None:
    """Why the ceiling of this card does not count, or None if it does."""
    if held.card.expires_at is not None:
        return _reason(Why.CEILING_EXPIRES, held, detail=held.card.expires_at.text)
    if wallet.holder.level is not Level.AGENT:
        return None  # a card of a token: nothing is installed on accounts by their holder
    if not held.is_initial and held.is_own_install:
        return _reason(Why.CEILING_OWN_INSTALL, held)
    original = next(h.card for h in wallet.cards if h.card.id == held.card.id)
    if original.is_polymorphic:
        return None  # a template stays where it is: installing it mints a child (cards T4)
    target = movable_to(wallet, held.card, at)
    return None if target is None else _reason(Why.CEILING_MOVABLE, held, detail=target.text)


def card_call(account: str, verb: str, resource: Resource) -> Target:
    """The target that a `card` operation of a holder asks for (cards 6.2)."""
    cls = class_named("card", SNAPSHOT)
    assert cls is not None  # a class of every edition
    return Target(cls, Owner(OwnerKind.ACCOUNT, (account,)), verb, resource)


def movable_to(wallet: Wallet, card: Card, at: Timestamp | None) -> Recipient | None:
    """An agent holder on which this holder could install `card` and so lose it, or None if there is none.

    The permission is asked without the card itself (cards T2), and the card must apply there (T3). Recipients
    are prefixes of one tree, so if any agent qualifies, one does that completes a mentioned prefix freshly.
    """
    surface = surface_at(wallet.without(card.id), at)
    own = wallet.holder
    for target in _agents_mentioned(wallet):
        if target == own or not applies_to(card.bounds, target):
            continue
        call = card_call(wallet.recorded_account, "install", CardTarget(target))
        if decide(surface, call).is_admitted:
            return target
    return None


def _agents_mentioned(wallet: Wallet) -> list[Recipient]:
    prefixes: dict[tuple[str, ...], None] = {(): None}
    for held in wallet.cards:
        for _, _, grant in wallet.filled(held.card).bounds.each():
            prefixes[grant.recipient.known] = None
            resource = grant.target.resource
            if isinstance(resource, CardTarget):
                prefixes[resource.recipient.known] = None
    found: dict[Recipient, None] = {}
    for prefix in prefixes:
        found[_completed(prefix)] = None
    return list(found)


def _completed(prefix: tuple[str, ...]) -> Recipient:
    known = (*prefix, *_FRESH[len(prefix) :])
    return replace(Recipient(Level.AGENT, known), is_external_tool_owner=False)
