"""Whether the authority of a wallet is capped by a ceiling that its holder cannot shed.

Source: questions 1 (bounded, a call).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policyd.core.admission.verdict import Facet, FacetName, Reason, Why
from policyd.core.admission.wallet import HeldCard, Wallet
from policyd.core.cards import Bound, Card, CardId, GrantRef, ScopeCard, Surface, Timestamp, applies_to, surface_of
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import Level, Owner, OwnerKind, Recipient, Target, class_named
from policyd.core.grants.resources import CardTarget, Resource
from policyd.core.grants.resources.exact import ANY

_FRESH = ("account@fresh.example", "fresh-app", "fresh-env", "fresh:component", "FreshType")


def bounded(wallet: Wallet, at: Timestamp | None, scope: ScopeCard | None = None) -> tuple[Facet, tuple[Reason, ...]]:
    """Whether some ceiling holds that this holder can neither shed nor outlive, and why.

    A ceiling counts if its positive list is not empty for the holder, its card never expires, is the
    initial card or was installed by someone else, cannot be revoked by the holder and cannot be moved away.
    What withholds revoking or moving counts only while it cannot be shed itself: a holder takes one step
    after the other. So the cards that cannot be shed are found by leaving out the others until nothing changes.

    Args:
        wallet: the cards of the holder.
        at: the moment; None leaves expiry aside for the live cards, yet a mortal ceiling never counts.
        scope: the overlay of the invocation; what it lends may be used to shed a card, it caps nothing.
    """
    live = wallet.live(at)
    ceilings = [(held, refs) for held in live if (refs := _ceiling(held.card, wallet.holder))]
    if not ceilings:
        return Facet.NO, (_reason(Why.NO_CEILING),)
    if wallet.holder.level is not Level.AGENT:
        return _of_caller(ceilings)
    kept = _Kept(wallet, live, scope)
    revoking = kept.revoking()
    if revoking is not None:
        return Facet.NO, (_reason(Why.CEILING_REVOCABLE, refs=(revoking,)),)
    weak: list[Reason] = []
    for held, refs in ceilings:
        flaw = kept.flaws.get(held.card.id)
        if flaw is None:
            return Facet.YES, (Reason(FacetName.BOUNDED, Why.CEILING_BOUNDS, held.card.id, refs[:1], count=len(refs)),)
        weak.append(flaw)
    return Facet.NO, tuple(weak)


def _of_caller(ceilings: Sequence[tuple[HeldCard, tuple[GrantRef, ...]]]) -> tuple[Facet, tuple[Reason, ...]]:
    """A user or token: nothing is installed on accounts by their holder, so only expiry matters."""
    weak: list[Reason] = []
    for held, refs in ceilings:
        if held.card.expires_at is None:
            return Facet.YES, (Reason(FacetName.BOUNDED, Why.CEILING_BOUNDS, held.card.id, refs[:1], count=len(refs)),)
        weak.append(_reason(Why.CEILING_EXPIRES, held, detail=held.card.expires_at.text))
    return Facet.NO, tuple(weak)


def _ceiling(card: Card, holder: Recipient) -> tuple[GrantRef, ...]:
    return tuple(
        GrantRef(card.id, Bound.UPPER_POSITIVE, index, grant)
        for index, grant in enumerate(card.bounds.upper_positive)
        if grant.recipient.covers(holder)
    )


def _reason(why: Why, held: HeldCard | None = None, refs: tuple[GrantRef, ...] = (), detail: str = "") -> Reason:
    return Reason(FacetName.BOUNDED, why, held.card.id if held else None, refs, detail)


def card_call(account: str, verb: str, resource: Resource) -> Target:
    """The target that a `card` operation of a holder asks for (cards 6.2)."""
    cls = class_named("card", SNAPSHOT)
    assert cls is not None  # a class of every edition
    return Target(cls, Owner(OwnerKind.ACCOUNT, (account,)), verb, resource)


@dataclass(init=False, slots=True)
class _Kept:
    """The cards that an agent cannot shed, and why each other one can go.

    Attributes:
        flaws: by card that does not count, the first reason found.
    """

    flaws: dict[CardId, Reason]
    _wallet: Wallet
    _live: tuple[HeldCard, ...]
    _surface: Surface

    def __init__(self, wallet: Wallet, live: tuple[HeldCard, ...], scope: ScopeCard | None) -> None:
        self._wallet = wallet
        self._live = live
        self._surface = surface_of([held.card for held in live], wallet.holder, scope)
        self.flaws = {}
        for held in live:
            if held.card.expires_at is not None:
                self.flaws[held.card.id] = _reason(Why.CEILING_EXPIRES, held, detail=held.card.expires_at.text)
            elif not held.is_initial and held.is_own_install:
                self.flaws[held.card.id] = _reason(Why.CEILING_OWN_INSTALL, held)
        while self._drop_movable():
            pass

    def revoking(self) -> GrantRef | None:
        """The grant by which the holder may revoke cards, once what can be shed no longer withholds it."""
        return self._lent(card_call(self._wallet.recorded_account, "revoke", ANY), without=None)

    def _lent(self, target: Target, without: CardId | None) -> GrantRef | None:
        """The grant that lends `target`, if no card that stays withholds it; one card may be left out (T2)."""
        lending = next(
            (part.granting(target) for part in self._surface.lower if part.card != without and part.lends(target)), None
        )
        if lending is None:
            return None
        staying = (p for p in self._surface.upper if p.card not in self.flaws and p.card != without)
        return lending if all(p.admits(target) for p in staying if self._is_held(p.card)) else None

    def _is_held(self, card: CardId) -> bool:
        """Whether a card is in the wallet: a scope card ends with its invocation and caps nothing for good."""
        return any(held.card.id == card for held in self._live)

    def _drop_movable(self) -> bool:
        """Note one more card that can be moved away; whether there was one."""
        for held in self._live:
            if held.card.id in self.flaws or self._is_template(held.card.id):
                continue
            target = self._movable_to(held.card)
            if target is not None:
                self.flaws[held.card.id] = _reason(Why.CEILING_MOVABLE, held, detail=target.text)
                return True
        return False

    def _is_template(self, card: CardId) -> bool:
        # a template stays where it is: installing it mints a child (cards T4)
        return next(held.card for held in self._wallet.cards if held.card.id == card).is_polymorphic

    def _movable_to(self, card: Card) -> Recipient | None:
        """An agent on which this holder could install `card` and so lose it, or None if there is none.

        The card must apply there (T3). Recipients are prefixes of one tree, so if any agent qualifies, one
        does that completes a mentioned prefix freshly; another agent of the holder's own type qualifies, too.
        """
        for target in _agents_mentioned(self._wallet):
            if not applies_to(card.bounds, target):
                continue
            call = card_call(self._wallet.recorded_account, "install", CardTarget(target))
            if self._lent(call, without=card.id) is not None:
                return target
        return None


def _agents_mentioned(wallet: Wallet) -> list[Recipient]:
    prefixes: dict[tuple[str, ...], None] = {(): None, wallet.holder.known: None}
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
