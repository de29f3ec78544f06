"""Cards that go from hand to hand: what a receiver may do by a card that somebody derives and installs on it.

The child of one card admits, at most, what the grants of that card for the receiver admit; the receiver's own
ceilings hold for it, too. Each card is a parent by itself.

Source: cards 5.2, 6.1 to 6.3, 6.6; host 2.11.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from policyd.core.cards import Bound, Card, Surface, surface_of
from policyd.core.edition import NEXT
from policyd.core.grants import Level, Owner, OwnerKind, Recipient, Target, agent_holder, class_named
from policyd.core.grants.resources import CardTarget
from policyd.core.grants.resources.exact import ANY
from policyd.usecases.holders import Holder, Party
from policyd.usecases.reach_nodes import Node
from policyd.usecases.wallet_holders import WalletHolder

MAX_PASSED = 20_000
"""So many cards in other hands are looked at; past that a proof is not given."""


def passed_on(nodes: Sequence[Node]) -> tuple[list[Node], tuple[str, ...]]:
    """What the cards of some nodes give to others on whom they can be installed, through several hands, too.

    Returns:
        A node for every card in another hand; and sentences on what was left out.
    """
    plain = [node for node in nodes if (node.is_plain or node.is_assumed) and node.party is not None]
    found: list[Node] = []
    seen: set[tuple[str, str, str]] = set()
    waiting: deque[tuple[Node, Node, Card, tuple[Node, ...]]] = deque(
        (node, node, card, (node,)) for node in plain if node.surface for card in _cards(node)
    )
    while waiting:
        root, hand, card, hands = waiting.popleft()
        recipients = {g.recipient for g in card.bounds.of(Bound.LOWER_POSITIVE)}
        if hand.surface is None or not recipients or not _may(hand, "derive", ANY):
            continue
        for other in plain:
            receiver = recipient_of(other)
            key = (root.name, str(card.id), other.name)
            if (
                other.party is hand.party
                or other.party is root.party
                or key in seen
                or receiver.level is not Level.AGENT
            ):
                continue
            if not any(recipient.covers(receiver) for recipient in recipients):
                continue
            if not _may(hand, "install", CardTarget(receiver)):
                continue
            seen.add(key)
            if len(found) >= MAX_PASSED:
                return found, (f"more than {MAX_PASSED} cards can be passed on: those beyond",)
            node = _held(root, other, card, hands)
            found.append(node)
            waiting.append((root, other, card, (*hands, other)))
    return found, ()


def recipient_of(node: Node) -> Recipient:
    """Who a node is to the recipients of grants."""
    assert node.party is not None
    return agent_holder(node.context) if node.context is not None else node.party.recipient


def _cards(node: Node) -> tuple[Card, ...]:
    """The live cards of a node, templates filled."""
    party: Party | None = node.party
    match party:
        case Holder() if node.context is not None:
            return (party.template.for_agent(node.context),)
        case WalletHolder():
            wallet = party.wallet if node.context is None else party.wallet.for_agent(node.context)
            return tuple(held.card for held in wallet.live(party.at))
        case _:
            return ()


def _may(node: Node, verb: str, resource: object) -> bool:
    cls = class_named("card", NEXT)
    assert cls is not None
    assert node.surface is not None
    owner = Owner(OwnerKind.ACCOUNT, recipient_of(node).known[:1])
    return node.surface.allows(Target(cls, owner, verb, resource))  # type: ignore[arg-type]  # one of its resources


def _held(root: Node, receiver: Node, card: Card, hands: tuple[Node, ...]) -> Node:
    assert receiver.surface is not None
    given = surface_of([card], recipient_of(receiver))
    own = receiver.surface
    surface = Surface(own.holder, given.lower, (*own.upper, *given.upper), (*own.sources, *given.sources))
    name = f"{receiver.name} with a card of {root.name}"
    return replace(
        root,
        name=name,
        context=receiver.context,
        surface=surface,
        universe=receiver.universe,
        is_plain=True,
        receiver=receiver,
        passed_by=hands,
    )
