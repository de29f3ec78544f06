"""Names that a question leaves open: which values could matter, and which stand for all others.

Cards compare names for equality only (an agent id besides with `Type(…)`), so the names that occur
and one that does not are all there is to try.

Source: questions 1; interface, Files and queries; cards O5, O6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from policyd.core.cards import Card
from policyd.core.grants import Owner, OwnerKind, Recipient, Target
from policyd.core.grants.owner import is_instance_text
from policyd.core.grants.recipient import EXTERNAL_TOOL_OWNER_ID
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


def external_owners(cards: Iterable[Card], target: Target | None) -> list[str]:
    """Run-time ids of an external tool owner to try: one that nothing mentions, then those that occur (cards 10.1).

    There is one owner per component, and its UUID is not known: where the ids decide, the answer is open.
    """
    mentioned = {
        owner.known[-1]
        for owner in owners_of(cards, target)
        if owner.known and owner.known_depth == 5 and owner.known[-1].startswith(EXTERNAL_TOOL_OWNER_ID)
    }
    number = 0
    while f"{EXTERNAL_TOOL_OWNER_ID}{number:08x}-0000-4000-8000-000000000000" in mentioned:
        number += 1
    return [f"{EXTERNAL_TOOL_OWNER_ID}{number:08x}-0000-4000-8000-000000000000", *sorted(mentioned)]


_PHANTOM_SUFFIX = re.compile(r"\[[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\]\Z")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def is_agent_id(text: str, agent_type: str) -> bool:
    """Whether `text` has the form of an id of that type: `Type(…)`, with a phantom suffix or without (cards 3.1).

    >>> is_agent_id('Cart("u1")', "Cart"), is_agent_id('Cart("u1', "Cart"), is_agent_id("Cart()x", "Cart")
    (True, False, False)
    """
    if not text.startswith(f"{agent_type}("):
        return False
    body = _QUOTED.sub("", _PHANTOM_SUFFIX.sub("", text)[len(agent_type) :])
    if '"' in body:
        return False
    depth = 0
    for position, char in enumerate(body):
        depth += (char == "(") - (char == ")")
        if depth == 0 and position < len(body) - 1:
            return False
    return depth == 0


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
