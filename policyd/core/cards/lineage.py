"""Lineage: what disappears with a card, and who may make it disappear.

Source: cards 6.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from policyd.core.cards.card import Card, CardId


def descendants(card: CardId, parents_of: Mapping[CardId, Iterable[CardId]]) -> tuple[CardId, ...]:
    """The card and everything derived from it through any parent, sorted by id (V3).

    A descendant goes even if another of its parents lives. Cycles, which the platform cannot make, end.
    """
    children: dict[CardId, list[CardId]] = {}
    for child, parents in parents_of.items():
        for parent in parents:
            children.setdefault(parent, []).append(child)
    gone = {card}
    waiting = [card]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in gone:
                gone.add(child)
                waiting.append(child)
    return tuple(sorted(gone))


def ancestors(card: CardId, parents_of: Mapping[CardId, Iterable[CardId]]) -> frozenset[CardId]:
    """The card and everything it was derived from, at any distance."""
    seen = {card}
    waiting = [card]
    while waiting:
        for parent in parents_of.get(waiting.pop(), ()):
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return frozenset(seen)


def registry_refusal(card: Card) -> str | None:
    """Why the registry would not revoke this card whoever asks, in its own words, or None (V4)."""
    kind = card.managed_by.kind if card.managed_by else ""
    if kind == "PermissionShare":
        return "Permission-share-managed cards must be revoked through the permission share"
    if kind == "EnvironmentDefault":
        return "Environment-default cards cannot be revoked directly"
    if card.is_system:
        return "Cannot revoke a system card"
    return None
