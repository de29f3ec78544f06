"""Actors of a deployment as chains tell them apart.

A node is one instance that stands for all instances that are treated alike; entrances from outside are one node.

Source: questions 2 (reach); host 1.1; cards O6.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from policyd.core.callsets import Universe, admitted_by
from policyd.core.callsets.admitted import Admitted
from policyd.core.cards import GrantRef, Surface
from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext, Level, Owner, OwnerKind, PermissionClass, Target, class_named
from policyd.usecases.holders import Party

EXTERNAL = "external"
"""The name of whoever comes in without cards: HTTP API, MCP, webhooks."""


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One actor.

    Attributes:
        name: the party, with the instance where there are several.
        party: None for the outside.
        context: the agent; None for accounts and the outside.
        surface: what decides for it; None for the outside.
        universe: the calls that it can ask for.
        is_plain: whether it is the unnamed instance that stands for most.
        receiver: for the authority that a card gives in another hand, or without the ceilings around it: the node
            that holds the card.
        is_assumed: whether it is there only if an open name is filled in a certain way.
        way: for a node with a receiver, the way by which the receiver comes by it.
        handed: the calls by which it does, each with the node that makes it.
        passed_by: the nodes through whose hands the card went, the first one derived it.
        is_backdrop: whether it is looked at only on the way of others, and in no list of actors.
    """

    name: str
    party: Party | None = None
    context: AgentContext | None = None
    surface: Surface | None = None
    universe: Universe = field(default_factory=Universe)
    is_plain: bool = True
    receiver: Node | None = None
    is_assumed: bool = False
    way: str = ""
    handed: tuple[tuple[Node, Target], ...] = ()
    passed_by: tuple[Node, ...] = ()
    is_backdrop: bool = False

    @property
    def admitted(self) -> Admitted:
        """Its calls as a set."""
        assert self.surface is not None  # the outside is never asked
        return admitted_by(self.surface)

    @property
    def owner(self) -> Owner | None:
        """The owner that targets about this agent name; None for accounts, cards passed on and the outside."""
        context = self.context
        if self.receiver is not None or context is None or context.agent_id is None:
            return None
        return Owner(OwnerKind.AGENT, (*context.segments, context.agent_id))

    @property
    def agent_type(self) -> str:
        """The agent type, empty for accounts and the outside."""
        return self.context.agent_type if self.context is not None else ""

    @property
    def is_account(self) -> bool:
        """Whether it asks over REST rather than from within an agent."""
        return self.party is not None and self.context is None and self.party.recipient.level is Level.ACCOUNT

    def lending(self, classes: Iterable[str]) -> Iterator[GrantRef]:
        """The positives of its lower bounds in some classes."""
        wanted = frozenset(classes)
        if self.surface is not None:
            for part in self.surface.lower:
                for ref in part.positive:
                    if ref.grant.target.cls.name in wanted:
                        yield ref

    def allows(self, target: Target) -> bool:
        """Whether the exact evaluator admits a call of it."""
        return self.surface is not None and self.surface.allows(target)


def platform_class(name: str) -> PermissionClass:
    """A class of the platform by a name that it has in the newest edition."""
    found = class_named(name, NEXT)
    assert found is not None  # one of the platform's classes
    return found
