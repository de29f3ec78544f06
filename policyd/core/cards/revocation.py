"""Revoking: what `revoke-card` answers, and what disappears.

Source: cards 6.7.
"""

from __future__ import annotations

from policyd.core.cards.card import Card, ScopeCard
from policyd.core.cards.lineage import ancestors, descendants, registry_refusal
from policyd.core.cards.operations import Accepted, Caller, Change, Effect, Ledger, Refused, not_permitted


def revoke(caller: Caller, ledger: Ledger, card: Card | ScopeCard) -> Accepted | Refused:
    """What `revoke-card` answers: kind of card, permission, handle, possession, then the registry's own rules.

    The number that the guest is told is that of the `revoked` effects.

    Args:
        caller: who revokes.
        ledger: what the store knows, descendants of the card included.
        card: the handle.
    """
    if isinstance(card, ScopeCard):
        return not_permitted("revoke-card does not accept scope cards")
    refusal = caller.missing_permission(ledger, "revoke")
    if refusal is not None:
        return refusal
    stored = ledger.resolve(card)
    if isinstance(stored, Refused):
        return stored
    parents_of = ledger.parents_of
    held = {c.id for c in caller.live(ledger)}
    if held.isdisjoint(ancestors(stored.id, parents_of)):
        return not_permitted("revoke requires possession of the target card or one of its live ancestors")
    text = registry_refusal(stored)
    if text is not None:
        return not_permitted(text)
    gone = descendants(stored.id, parents_of)
    effects = [Effect(Change.REVOKED, card_id) for card_id in gone if card_id not in ledger.revoked]
    effects += [Effect(Change.REMOVED, card_id) for card_id in gone if card_id in held]
    scopes = [s for s in (caller.live_scope(ledger), *caller.minted) if s is not None]
    effects += [Effect(Change.DROPPED, scope.id) for scope in scopes if not set(gone).isdisjoint(scope.roots)]
    return Accepted(None, (), None, tuple(effects))
