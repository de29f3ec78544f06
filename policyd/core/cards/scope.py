"""Scope cards: what is checked before one counts.

Source: cards 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from policyd.core.cards.card import Card, CardId, ScopeCard
from policyd.core.cards.timestamp import Timestamp

NIL = CardId("00000000-0000-0000-0000-000000000000")


def scope_refusal(
    scope: ScopeCard,
    known: Mapping[CardId, Card],
    revoked: frozenset[CardId],
    at: Timestamp | None,
    *,
    roots_are_known: bool,
) -> str | None:
    """Why the invocation that carries `scope` is refused, in the platform's words, or None.

    Args:
        scope: the card.
        known: persistent cards by id.
        revoked: ids known to be revoked.
        at: the moment, None to leave expiry aside.
        roots_are_known: whether a root that is not in `known` is to be taken as missing; otherwise it is not judged.
    """
    if scope.id == NIL:
        return "not-permitted: scope-card ID must not be nil"
    if not scope.roots:
        return "not-permitted: scope card must reference at least one root card"
    if any(a >= b for a, b in zip(scope.roots, scope.roots[1:], strict=False)):
        return "not-permitted: scope-card root IDs must be strictly increasing"
    for root in scope.roots:
        card = known.get(root)
        if root in revoked or (card is not None and card.is_expired(at)):
            return f"card-revoked: scope-card root {root} is revoked or expired"
        if card is None and roots_are_known:
            return f"not-permitted: scope-card root {root} could not be verified"
    return None


def scope_expiry(scope: ScopeCard, known: Mapping[CardId, Card]) -> Timestamp | None:
    """The earliest expiry of the roots, which edition `next` shows as that of the scope card (Q12)."""
    return min(
        (c.expires_at for c in map(known.get, scope.roots) if c is not None and c.expires_at is not None), default=None
    )
