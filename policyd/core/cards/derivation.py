"""Deriving: making a narrower card from a card, from the wallet, or for one invocation.

Source: cards 6.2 to 6.5.
"""

from __future__ import annotations

from collections.abc import Sequence

from policyd.core.cards.attenuation import MultipleRequired, NotPermitted, TooBroad, attenuate, select_parent
from policyd.core.cards.card import Bounds, Card, CardId, ManagedBy, ScopeCard
from policyd.core.cards.lifespan import LifespanRefused, child_expiry
from policyd.core.cards.operations import (
    Accepted,
    Caller,
    Change,
    Effect,
    Ledger,
    Refused,
    Wanted,
    is_same_card,
    not_permitted,
    too_broad,
)
from policyd.core.cards.scope import scope_expiry
from policyd.core.edition import Rules


def derive(
    caller: Caller,
    ledger: Ledger,
    parent: Card | ScopeCard,
    wanted: Wanted,
    lifespan: str | None,
    child_id: CardId,
    rules: Rules,
    managed_by: ManagedBy | None = None,
) -> Accepted | Refused:
    """What `derive` answers: permission, handle, kind of parent, syntax, attenuation, lifespan, in this order.

    Args:
        caller: who derives.
        ledger: what the store knows.
        parent: the handle; it need not be in the wallet, unless it is a template.
        wanted: L and U of the child, and the negatives to add to those of the parent.
        lifespan: ISO 8601 text, None for as long as the parent.
        child_id: the id of the child, computed by the platform (W3).
        rules: `derive_from_template`, `zero_lifespan`.
        managed_by: what is to stand in the child.
    """
    refusal = caller.missing_permission(ledger, "derive")
    if refusal is not None:
        return refusal
    if isinstance(parent, ScopeCard):
        return not_permitted("derive does not accept scope cards")
    stored = ledger.resolve(parent)
    if isinstance(stored, Refused):
        return stored
    if stored.is_polymorphic:
        if not rules.is_next("derive_from_template"):
            return Refused("card-polymorphic-not-usable", "derive requires a concrete parent card")
        held = _held(caller, ledger, stored)
        if isinstance(held, Refused):
            return held
        stored = held
    if isinstance(wanted, Refused):
        return wanted
    own = stored.bounds
    child = Bounds(
        wanted.lower_positive,
        (*own.lower_negative, *wanted.lower_negative),
        wanted.upper_positive,
        (*own.upper_negative, *wanted.upper_negative),
    )
    outcome = attenuate([stored], child)
    if isinstance(outcome, TooBroad):
        return too_broad(outcome)
    return _made(caller, stored, child, outcome.witnesses, lifespan, child_id, rules, managed_by)


def derive_from_wallet(
    caller: Caller,
    ledger: Ledger,
    wanted: Wanted,
    lifespan: str | None,
    child_id: CardId,
    rules: Rules,
    managed_by: ManagedBy | None = None,
) -> Accepted | Refused:
    """What `derive-from-wallet` answers: syntax first, then permission, choice of the parent, lifespan.

    Args:
        caller: who derives.
        ledger: what the store knows.
        wanted: the complete child; inherited negatives have to be restated in it.
        lifespan: ISO 8601 text, None for as long as the parent.
        child_id: the id of the child, computed by the platform (W3).
        rules: `zero_lifespan`.
        managed_by: what is to stand in the child.
    """
    if isinstance(wanted, Refused):
        return wanted
    refusal = caller.missing_permission(ledger, "derive")
    if refusal is not None:
        return refusal
    if caller.agent is None:
        return not_permitted("derive-from-wallet is only available to an agent")
    wallet = {card.id: caller.filled(card) for card in caller.live(ledger)}
    match select_parent(tuple(wallet.values()), wanted):
        case NotPermitted():
            return not_permitted("no active wallet card permits the requested derivation")
        case MultipleRequired():
            return Refused(
                "wallet-multi-source-required",
                "the requested child card requires more than one wallet source;"
                " derive from an explicit parent card instead",
            )
        case TooBroad() as cause:
            return too_broad(cause)
        case chosen:
            parent = wallet[chosen.card]
    outcome = attenuate([parent], wanted)
    assert not isinstance(outcome, TooBroad)  # the selection tried this card alone
    return _made(caller, parent, wanted, outcome.witnesses, lifespan, child_id, rules, managed_by)


def _made(
    caller: Caller,
    parent: Card,
    bounds: Bounds,
    witnesses: tuple[CardId, ...],
    lifespan: str | None,
    child_id: CardId,
    rules: Rules,
    managed_by: ManagedBy | None,
) -> Accepted | Refused:
    try:
        expires = child_expiry(caller.at, lifespan, parent.expires_at, rules)
    except LifespanRefused as refusal:
        return Refused(refusal.variant, refusal.text)
    child = Card(
        child_id,
        bounds,
        parents=(parent.id,),
        created_at=caller.at,
        expires_at=expires,
        managed_by=managed_by,
    )
    return Accepted(child, witnesses, expires, (Effect(Change.STORED, child_id),))


def derive_scope(
    caller: Caller,
    ledger: Ledger,
    parents: Sequence[Card | ScopeCard],
    wanted: Wanted,
    scope_id: CardId,
    rules: Rules,
) -> Accepted | Refused:
    """What `derive-scope` answers: permission, invocation, parents in order, syntax, their number, attenuation.

    Args:
        caller: who derives.
        ledger: what the store knows.
        parents: handles of cards of the own wallet, templates included, and of scope cards of this invocation.
        wanted: the complete overlay; it has no lifespan.
        scope_id: the id of the scope card, computed by the platform (W3).
        rules: `scope_expiry`.
    """
    refusal = caller.missing_permission(ledger, "derive")
    if refusal is not None:
        return refusal
    if not caller.has_invocation:
        return not_permitted("derive-scope requires an active invocation")
    if caller.agent is None:
        return not_permitted("derive-scope is only available to an agent")
    cards: list[Card] = []
    roots: set[CardId] = set()
    for parent in parents:
        resolved = _scope_parent(caller, ledger, parent)
        if isinstance(resolved, Refused):
            return resolved
        cards.append(resolved)
        roots.update(parent.roots if isinstance(parent, ScopeCard) else (parent.id,))
    if isinstance(wanted, Refused):
        return wanted
    if not cards:
        return not_permitted("derive-scope requires at least one parent card")
    outcome = attenuate(cards, wanted)
    if isinstance(outcome, TooBroad):
        return too_broad(outcome)
    scope = ScopeCard(scope_id, wanted, tuple(sorted(roots)))
    expires = scope_expiry(scope, ledger.cards) if rules.is_next("scope_expiry") else None
    return Accepted(scope, outcome.witnesses, expires)


def _scope_parent(caller: Caller, ledger: Ledger, parent: Card | ScopeCard) -> Card | Refused:
    """X1, X2: a parent of a scope card as the attenuation check sees it."""
    if isinstance(parent, Card):
        return _held(caller, ledger, parent)
    own = (*caller.minted, *((caller.scope,) if caller.scope else ()))
    if parent not in own:
        return not_permitted("scope-card parent belongs to a different invocation")
    if any(ledger.is_dead(root, caller.at) for root in parent.roots):
        return Refused("card-revoked", f"permission card {parent.id} is unknown or revoked")
    return Card(parent.id, parent.bounds)


def _held(caller: Caller, ledger: Ledger, parent: Card) -> Card | Refused:
    """X1: the filled wallet card that a handle names."""
    if parent.id in ledger.revoked:
        return Refused("card-revoked", f"permission card {parent.id} is revoked")
    held = next((card for card in caller.live(ledger) if card.id == parent.id), None)
    if held is None:
        return not_permitted(f"parent card {parent.id} is not in the active invocation wallet")
    if not is_same_card(held, parent):
        return not_permitted(f"parent card {parent.id} does not match the active invocation wallet")
    return caller.filled(held)
