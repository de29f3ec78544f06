"""The holders of a deployment as surfaces: every agent type, in every way in which its instances can differ.

Source: questions 1, 2; cards O6; interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from policyd.core.application import AgentType, Deployment, InitialCard
from policyd.core.callsets import Universe, instances_of
from policyd.core.cards import Bound, Bounds, Card, GrantRef, Surface, surface_of
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, OwnerKind, Recipient, Target, agent_holder
from policyd.core.grants.names import ascii_lower
from policyd.findings import Finding, InputError, Span
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import Described, Selection, agent_name, no_such_agent

UNNAMED_ACCOUNT = "any-account@unknown.example"
UNNAMED_COMPONENT = "any:component"


class Party(Protocol):
    """One side of a question about all calls: somebody who holds cards."""

    @property
    def name(self) -> str:
        """How it is called in answers."""

    @property
    def recipient(self) -> Recipient:
        """Who it is to the recipients of grants."""

    @property
    def context(self) -> AgentContext | None:
        """The agent for which slots are filled; None for an account."""

    @property
    def is_one(self) -> bool:
        """Whether one agent or account is meant, rather than all instances of a type."""

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """The bounds of all its cards, slots open."""

    @property
    def refs(self) -> tuple[GrantRef, ...]:
        """All grants of the cards that decide, slots open."""

    def surface(self, agent_id: str | None) -> Surface:
        """The surface of one instance; None for the one that it is."""

    def place(self, ref: GrantRef) -> Span | None:
        """Where a grant of its cards stands."""

    def written(self, ref: GrantRef) -> str:
        """The grant as it is written."""

    def original(self, ref: GrantRef) -> Grant:
        """The grant with its slots open."""

    def says(self, bound: Bound, grant: Grant) -> bool:
        """Whether one of its cards has this grant in this list."""


class Parties(Protocol):
    """All parties of one version."""

    @property
    def source(self) -> str:
        """How the version is called."""

    @property
    def by_name(self) -> Mapping[str, Party]:
        """By the names of answers."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was assumed."""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Texts in their cards that are no grants, if the question is to be refused for them."""

    @property
    def unreadable(self) -> tuple[str, ...]:
        """Names about which nothing can be said, because a part of their cards cannot be read."""


@dataclass(frozen=True, slots=True)
class Holder:
    """One agent type of one deployment.

    Attributes:
        name: the type.
        context: account, application, environment, component; open ones are stand-ins that nothing mentions. The id is
            None for all instances of the type.
        card: its initial card with the places of its grants.
        template: the card as the platform would store it.
        components: of its deployment, of which one implements it.
    """

    name: str
    context: AgentContext
    card: InitialCard
    template: Card
    components: tuple[str, ...] = ()

    @property
    def recipient(self) -> Recipient:
        """Its agents, whichever instance."""
        return agent_holder(self.context)

    @property
    def is_one(self) -> bool:
        """Whether its id was asked about."""
        return self.context.agent_id is not None

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        """Those of its initial card."""
        return (self.template.bounds,)

    @property
    def refs(self) -> tuple[GrantRef, ...]:
        """All grants of its initial card, slots open."""
        return tuple(GrantRef(self.template.id, bound, i, placed.grant) for bound, i, placed in self.card.each())

    def surface(self, agent_id: str | None) -> Surface:
        """The surface of one instance: a fresh agent, whose wallet is its initial card."""
        context = replace(self.context, agent_id=agent_id or self.context.agent_id)
        return surface_of([self.template.for_agent(context)], agent_holder(context))

    def place(self, ref: GrantRef) -> Span | None:
        """Where a grant of its card stands."""
        if ref.card != self.template.id:
            return None
        placed = self.card.place(ref)
        return placed.span if placed else None

    def written(self, ref: GrantRef) -> str:
        """The grant as it is written."""
        placed = self.card.place(ref) if ref.card == self.template.id else None
        return placed.text if placed else ref.grant.text

    def original(self, ref: GrantRef) -> Grant:
        """The grant with its slots open."""
        placed = self.card.place(ref) if ref.card == self.template.id else None
        return placed.grant if placed else ref.grant

    def says(self, bound: Bound, grant: Grant) -> bool:
        """Whether its card has this grant in this list."""
        return any(placed.grant == grant for placed in self.card.of(bound))


@dataclass(frozen=True, slots=True)
class Holders:
    """The holders of one deployment.

    Attributes:
        source: how the deployment is called.
        by_name: by agent type.
        notes: what was assumed.
        unreadable: agent types whose card has texts that are no grants; their deploy is refused.
        others: ids of agents that hold other cards than the initial one and are not asked about.
    """

    source: str
    by_name: Mapping[str, Holder] = field(hash=False)
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """Texts in the cards that are no grants."""
        return tuple(bad.finding for name in self.unreadable for bad in self.by_name[name].card.bad)


def holders_in(described: Described, selection: Selection, agent: str = "", source: str = "") -> Holders:
    """The holders of a deployment, or the one that is asked about.

    Args:
        described: the deployment.
        selection: gives account and component where the manifest does not.
        agent: a type, or an id for one agent; empty for all.
        source: how the deployment is called; empty for the name of its first document.

    Raises:
        InputError: if the manifest names no such agent type.
    """
    deployment = described.deployment
    types = deployment.agents
    if agent:
        found = deployment.agent(agent_name(agent)[0])
        if found is None:
            raise no_such_agent(agent_name(agent)[0], deployment)
        types = (found,)
    agent_id = agent_name(agent)[1] if agent else None
    notes: list[str] = []
    account = ascii_lower(selection.account) or deployment.account
    if not account:
        notes.append(f"the account is not given: {UNNAMED_ACCOUNT} stands for one that no grant mentions")
    by_name: dict[str, Holder] = {}
    for item in types:
        holder = _holder(item, deployment, account, selection.component, notes)
        by_name[item.name] = replace(holder, context=replace(holder.context, agent_id=agent_id))
    unreadable = tuple(item.name for item in types if item.initial_card.bad)
    documents = described.loaded.documents
    name = f"{source or (documents[0].name if documents else '')} ({deployment.environment})"
    return Holders(name, by_name, tuple(dict.fromkeys(notes)), unreadable)


def _holder(item: AgentType, deployment: Deployment, account: str, component: str, notes: list[str]) -> Holder:
    where = component or item.component
    if not where:
        notes.append(f"the component of {shown(item.name)} is not given: {UNNAMED_COMPONENT} stands for one")
    context = AgentContext(
        account or UNNAMED_ACCOUNT,
        deployment.application,
        deployment.environment,
        where or UNNAMED_COMPONENT,
        item.name,
    )
    components = tuple(place.name for place in deployment.components)
    return Holder(item.name, context, item.initial_card, item.initial_card.card(context), components)


def demand_readable(parties: Parties) -> None:
    """Refuse parties of whose cards a part cannot be read: what they would admit is not known.

    Raises:
        InputError: with all texts that are no grants.
    """
    if parties.refusals:
        raise InputError(*parties.refusals)


Variant = tuple[AgentContext | None, Universe]
"""An instance, None where each side is the one that it is, and the calls that it can make."""


def variants(
    parties: Iterable[Party], rules: Rules, asked: Iterable[str] = (), taken: Iterable[str] = ()
) -> tuple[Variant, ...]:
    """Instances such that every instance is treated like one of them, with their universes.

    Args:
        parties: the same on all sides of a comparison, or single agents and accounts that may differ.
        rules: the edition.
        asked: agent ids that the question itself names: what an instance may do to itself is told apart by its name.
        taken: agent ids of other parties, which are asked about with cards of their own.
    """
    sides = tuple(parties)
    first = sides[0]
    context = first.context
    if context is None or any(side.is_one for side in sides):
        same = context is not None and all(side.context == context for side in sides)
        agent_id = context.agent_id if same and context is not None else None
        return ((context if same else None, Universe.of(first.recipient, rules, agent_id)),)
    instances = instances_of(context, [bounds for side in sides for bounds in side.bounds], asked, taken)
    if not is_alike(sides):  # each side has files and variables of its own
        return tuple((i, Universe(rules, (*i.segments, i.agent_id or ""))) for i in instances)
    return tuple((i, Universe.of(agent_holder(i), rules, i.agent_id)) for i in instances)


def is_alike(parties: Iterable[Party]) -> bool:
    """Whether a slot stands for the same on all sides, so that one text of a call means the same call on each."""
    return len({party.context.segments if party.context is not None else None for party in parties}) <= 1


def surface_for(party: Party, instance: AgentContext | None) -> Surface:
    """The surface of a party as one of the instances of `variants`."""
    return party.surface(instance.agent_id if instance is not None else None)


def written_target(target: Target, context: AgentContext | None) -> str:
    """A call in the form that `check` takes, with the slots of its holder where they fit; None for no slots.

    >>> from policyd.syntax import parse_target
    >>> context = AgentContext("a@x.io", "shop", "prod", "shop:cart", "Cart", "Cart(1)")
    >>> written_target(parse_target("kv(a@x.io/shop/prod) : read : a.b"), context)
    'kv(?env) : read : a.b'
    """
    if context is None:
        return target.text
    owner = target.owner
    known = owner.known
    segments = context.segments
    text = ""
    if owner.kind is OwnerKind.AGENT and context.agent_id is not None and known == (*segments, context.agent_id):
        text = "?agent"
    else:
        depth = min(owner.kind.depth, 4, len(known))
        while depth > 0 and known[:depth] != segments[:depth]:
            depth -= 1
        if depth:
            slot = ("?account", "?app", "?env", "?component")[depth - 1]
            rest = owner.text.split("/")[depth:] if depth == len(known) else _rest(owner.text, known, depth)
            text = "/".join([slot, *rest])
    if not text or any("?" in name for name in known[len(segments) :]):
        return target.text
    return f"{target.cls.name}({text}) : {target.verb} : {target.resource.text}"


def _rest(text: str, known: Sequence[str], depth: int) -> list[str]:
    """What stands behind the first `depth` segments of an owner text, whose leaf may hold slashes."""
    head = "/".join(known[:depth])
    return [text[len(head) + 1 :]]
