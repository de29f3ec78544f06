"""Everybody who can act in a deployment, as far as chains tell them apart, and an index of whom their grants name.

A node is one instance that stands for all instances that are treated alike; entrances from outside are one node.

Source: questions 2 (reach); host 1.1, 2.16; cards 6.7, O6.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from policyd.core.callsets.budget import Steps
from policyd.core.edition import Rules
from policyd.core.grants import ANY_VERB, Owner, OwnerKind, PermissionClass
from policyd.findings import Span
from policyd.usecases.deployments import Described
from policyd.usecases.holders import UNNAMED_ACCOUNT, Parties, Party, surface_for, variants
from policyd.usecases.open_names import IF, alternatives, party_of
from policyd.usecases.reach_accounts import operator
from policyd.usecases.reach_nodes import EXTERNAL, Node
from policyd.usecases.reach_passing import PASSING, passed_on


@dataclass(frozen=True, slots=True)
class Entrance:
    """A way into an agent type that asks no card.

    Attributes:
        kind: `HTTP API` or `MCP`.
        agent: the agent type.
        span: where the manifest says so.
    """

    kind: str
    agent: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class World:
    """All nodes of a deployment.

    Attributes:
        nodes: everybody, and what they have of others.
        entrances: by agent type.
        notes: what was assumed, and what is not followed.
        unreadable: parties about whom nothing is known.
        rules: the edition.
        left_out: what could not be decided about cards in other hands.
    """

    nodes: tuple[Node, ...]
    entrances: Mapping[str, tuple[Entrance, ...]] = field(hash=False)
    notes: tuple[str, ...]
    unreadable: tuple[str, ...]
    rules: Rules
    left_out: tuple[str, ...] = ()

    @property
    def actors(self) -> int:
        """How many parties there are."""
        return sum(node.party is not None and node.is_plain and node.receiver is None for node in self.nodes)

    def under(self, trusted: frozenset[str], without: frozenset[str], steps: Steps) -> World:
        """The same deployment where some types pass no cards on, and some ways are not taken."""
        if not trusted and not without & PASSING:
            return self
        own = [node for node in self.nodes if node.receiver is None]
        passed, left_out = passed_on(own, trusted=trusted, without=without, steps=steps)
        return replace(self, nodes=(*own, *passed), left_out=left_out)

    def named(self, name: str) -> tuple[Node, ...]:
        """The nodes of a party, of a single instance, or the outside."""
        own = (node for node in self.nodes if node.receiver is None)
        return tuple(node for node in own if name in (node.name, party_of(node.name)))


def world_of(parties: Parties, entrances: Iterable[Entrance], rules: Rules, asked: Iterable[str] = ()) -> World:
    """The nodes of all parties, each in every way in which its instances differ.

    Args:
        parties: everybody.
        entrances: from outside.
        rules: the edition.
        asked: agent ids that the question names.
    """
    names = tuple(asked)
    mentioned = _instances_mentioned(parties, names)  # an instance may be invoked by its name only
    nodes: list[Node] = []
    open_names: list[str] = []
    owners = owners_named(parties)
    for party in parties.by_name.values():
        ways = alternatives([party], owners)
        if ways.is_cut:
            open_names.append(f"{party.name}: more names may be its account or component than are tried")
        for way in ways.listed:
            (one,) = way.sides
            assert one is not None  # the party with other names
            label = f"{party.name}{IF}{way.words}" if way.words else party.name
            ids = mentioned.get(_type_of(party), ())
            for number, (context, universe) in enumerate(variants([one], rules, ids, parties.by_name)):
                name = label if number == 0 or context is None else f"{label} as {context.agent_id}"
                own = context if context is not None else one.context
                surface = surface_for(one, context)
                is_plain = number == 0 and not way.words
                nodes.append(Node(name, one, own, surface, universe, is_plain, is_assumed=bool(way.words)))
    accounts = {node.party.recipient.known[0] for node in nodes if node.is_account and node.party is not None}
    operators = {node.context.account for node in nodes if node.context is not None} - {UNNAMED_ACCOUNT}
    nodes += [operator(name, rules) for name in sorted(operators - accounts) if accounts]
    nodes.append(Node(EXTERNAL))
    passed, left_out = passed_on(nodes)
    nodes += passed
    by_type: dict[str, list[Entrance]] = defaultdict(list)
    for entrance in entrances:
        by_type[entrance.agent].append(entrance)
    return World(
        tuple(nodes),
        {name: tuple(listed) for name, listed in by_type.items()},
        tuple(parties.notes),
        (*parties.unreadable, *open_names),
        rules,
        left_out,
    )


def entrances_of(described: Described) -> tuple[Entrance, ...]:
    """The agent types that the HTTP APIs and MCP deployments of the environment name (host 2.16)."""
    here = described.deployment.environment
    kinds = {"httpApi": "HTTP API", "mcp": "MCP"}
    return tuple(
        Entrance(kinds.get(deployment.kind, deployment.kind), agent.text, agent.span)
        for deployment in described.loaded.application.deployments
        if deployment.environment == here
        for agent in deployment.agents
    )


def _instances_mentioned(parties: Parties, asked: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The agent ids that the question or any grant of anybody names, by agent type."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name in asked:
        found[name.partition("(")[0]][name] = None
    for party in parties.by_name.values():
        for ref in party.refs:
            owner = ref.grant.target.owner
            if owner.kind is OwnerKind.AGENT and owner.is_exact and owner.known:
                leaf = owner.known[-1]
                found[leaf.partition("(")[0]][leaf] = None
    return {agent_type: tuple(names) for agent_type, names in found.items()}


def owners_named(parties: Parties) -> tuple[Owner, ...]:
    """The owners that any grant names down to a component: one of them may be where an agent type lives."""
    found: dict[Owner, None] = {}
    for party in parties.by_name.values():
        for ref in party.refs:
            owner = ref.grant.target.owner
            if owner.slot is None and len(owner.known) >= 1:
                found[Owner(owner.kind, owner.known[:4])] = None
    return tuple(found)


def _type_of(party: Party) -> str:
    return party.context.agent_type if party.context is not None else ""


_TELLING = {
    "secret": ("hold", "reveal"),
    "env": ("read",),
    "config": ("read",),
    "kv": ("read", "list"),
    "blob": ("read", "list"),
    "rdbms": ("query",),
    "filesystem": ("read", "list", "stat"),
    "oplog": ("read",),
    "agent": ("view",),
    "card": ("inspect",),
}


def is_information(cls: PermissionClass, verb: str) -> bool:
    """Whether a call gives data that can be handed on, rather than only acting."""
    telling = _TELLING.get(cls.name, ())
    return verb in telling or (verb == ANY_VERB and bool(telling)) or (verb == "view" and cls.name != "system")
