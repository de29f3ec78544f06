"""Names that a question leaves open: which values could matter, and which stand for all others.

Cards compare names for equality only (an agent id besides with `Type(…)`), so the names that occur
and one that does not are all there is to try.

Source: questions 1; interface, Files and queries; cards O5, O6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policyd.core.cards import Card
from policyd.core.grants import Owner, OwnerKind, Recipient, Target
from policyd.core.grants.owner import is_instance_text
from policyd.core.grants.resources import CardTarget

PHANTOM = "[00000000-0000-4000-8000-000000000000]"
"""The suffix of the phantom that stands for all phantoms that are not mentioned."""


def owners_of(cards: Iterable[Card], target: Target | None = None) -> Iterator[Owner]:
    """Every owner in the cards, and that of the target."""
    if target is not None:
        yield target.owner
    for card in cards:
        for _, _, grant in card.bounds.each():
            yield grant.target.owner


def recipients_of(cards: Iterable[Card], target: Target | None = None) -> Iterator[Recipient]:
    """Every recipient in the cards, also as the resource of a `card` grant."""
    if target is not None and isinstance(target.resource, CardTarget):
        yield target.resource.recipient
    for card in cards:
        for _, _, grant in card.bounds.each():
            yield grant.recipient
            if isinstance(grant.target.resource, CardTarget):
                yield grant.target.resource.recipient


def names_at(cards: Iterable[Card], target: Target | None, level: int) -> tuple[str, ...]:
    """The literal names at path level `level` (1 account, 4 component) in owners and recipients, sorted."""
    cards = tuple(cards)
    found: set[str] = set()
    for owner in owners_of(cards, target):
        position = level - 1 - (owner.slot.depth if owner.slot else 0)
        if 0 <= position < len(owner.known):
            found.add(owner.known[position])
    for recipient in recipients_of(cards, target):
        position = level - 1 - (recipient.slot.depth if recipient.slot else 0)
        if 0 <= position < len(recipient.known):
            found.add(recipient.known[position])
    return tuple(sorted(found))


def fresh_name(base: str, taken: Iterable[str]) -> str:
    """A name that is not taken: `base`, else `base` with a number before its first dot or at its end."""
    known = set(taken)
    name, number = base, 1
    while name in known:
        number += 1
        name = f"{base}{number}"
    return name


def instances(agent_type: str, cards: Iterable[Card], target: Target | None) -> tuple[list[str], list[str]]:
    """Ids of agents of a type to try: ordinary ones and phantoms; the first of each stands for all not mentioned."""
    ordinary: list[str] = []
    phantoms: list[str] = []
    for owner in owners_of(cards, target):
        if owner.kind is not OwnerKind.AGENT or not owner.known or owner.known_depth != 5 or owner.is_type_wildcard:
            continue
        leaf = owner.known[-1]
        if is_instance_text(leaf, agent_type):
            ordinary.append(leaf)
        elif leaf.startswith(f"{agent_type}(") and leaf.endswith("]"):
            phantoms.append(leaf)
    ordinary = sorted(set(ordinary))
    phantoms = sorted(set(phantoms))
    number = 1
    while f'{agent_type}("{number}")' in ordinary or f'{agent_type}("{number}"){PHANTOM}' in phantoms:
        number += 1
    fresh = f'{agent_type}("{number}")'
    return [fresh, *ordinary], [f"{fresh}{PHANTOM}", *phantoms]
