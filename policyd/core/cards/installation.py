"""Installing a card on an agent: whether it applies there, what the operation answers, and how it arrives.

Source: cards 6.6.
"""

from __future__ import annotations

from dataclasses import replace

from policyd.core.cards.applicability import applies_to
from policyd.core.cards.card import Card, CardId, ScopeCard
from policyd.core.cards.operations import (
    Accepted,
    Caller,
    Change,
    Effect,
    Ledger,
    Refused,
    is_same_card,
    not_permitted,
)
from policyd.core.cards.timestamp import Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Recipient, agent_holder
from policyd.core.grants.resources import CardTarget

MISMATCH = "install-recipient-mismatch"


def install(
    caller: Caller,
    ledger: Ledger,
    card: Card | ScopeCard,
    target: AgentContext | Refused | None,
    child_id: CardId,
    rules: Rules,
) -> Accepted | Refused:
    """What `install-card` answers: kind of target, handle, kind of card, target, permission, recipients, transfer.

    Args:
        caller: who installs.
        ledger: what the store knows.
        card: the handle; it need not be in the own wallet.
        target: the agent, its id included; a refusal where its id or its component cannot be read; None for an
            account or an application.
        child_id: the id of the concrete child that a template mints (W3).
        rules: `install_mismatch`.
    """
    if target is None:
        return not_permitted("install-card currently supports only agent targets")
    if isinstance(card, ScopeCard):
        return not_permitted("install-card does not accept scope cards")
    stored = ledger.resolve(card)
    if isinstance(stored, Refused):
        return stored
    if isinstance(target, Refused):
        return target
    holder = agent_holder(target)
    refusal = caller.missing_permission(ledger, "install", CardTarget(holder), without=stored.id)
    if refusal is not None:
        return refusal
    if not applies_to(stored.bounds, holder):
        return Refused(MISMATCH if rules.is_next("install_mismatch") else "not-permitted", MISMATCH)
    return _transferred(caller, ledger, stored, target, child_id)


def _transferred(caller: Caller, ledger: Ledger, stored: Card, target: AgentContext, child_id: CardId) -> Accepted:
    """T4: a concrete card moves, a template stays and mints a concrete child."""
    arrives = Change.NOT_ADMITTED if stored.is_expired(caller.at) else Change.INSTALLED
    if stored.is_polymorphic:
        child = replace(
            stored.for_agent(target), id=child_id, parents=(stored.id,), created_at=caller.at, managed_by=None
        )
        effects = (Effect(Change.STORED, child_id), Effect(arrives, child_id))
        return Accepted(child, (stored.id,), child.expires_at, effects)
    is_held = any(card.id == stored.id for card in caller.live(ledger))
    if is_held and target == caller.agent:
        return Accepted(None)  # admitting a card that is already there changes nothing
    removed = (Effect(Change.REMOVED, stored.id),) if is_held else ()
    return Accepted(None, (), None, (*removed, Effect(arrives, stored.id)))


def arrival_refusal(delivered: Card, holder: Recipient, ledger: Ledger, at: Timestamp) -> str | None:
    """Why the target's wallet does not admit a delivered card, by the platform's name, or None (T5).

    A recipient mismatch makes the sender try again; the others are only written to the target's log.
    """
    if not applies_to(delivered.bounds, holder):
        return MISMATCH
    if ledger.is_dead(delivered.id, at):
        return "CardRevoked"
    stored = ledger.cards.get(delivered.id)
    if stored is None:
        return "NotFound"
    return None if is_same_card(stored, delivered) else "NotPermitted"
