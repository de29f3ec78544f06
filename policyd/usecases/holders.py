"""The holders of a deployment as surfaces: every agent type, in every way in which its instances can differ.

Source: questions 1, 2; cards O6; interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from policyd.core.application import AgentType, Deployment, InitialCard
from policyd.core.callsets import Universe, instances_of
from policyd.core.cards import Card, GrantRef, Surface, surface_of
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, OwnerKind, Target, agent_holder
from policyd.core.grants.names import ascii_lower
from policyd.findings import InputError, Span
from policyd.syntax.mistakes import shown
from policyd.usecases.deployments import Described, Selection, agent_name, no_such_agent

UNNAMED_ACCOUNT = "any-account@unknown.example"
UNNAMED_COMPONENT = "any:component"


@dataclass(frozen=True, slots=True)
class Holder:
    """One agent type of one deployment.

    Attributes:
        name: the type.
        context: account, application, environment, component; open ones are stand-ins that nothing mentions.
        card: its initial card with the places of its grants.
        template: the card as the platform would store it.
    """

    name: str
    context: AgentContext
    card: InitialCard
    template: Card

    def surface(self, context: AgentContext) -> Surface:
        """The surface of one instance: a fresh agent, whose wallet is its initial card."""
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


@dataclass(frozen=True, slots=True)
class Holders:
    """The holders of one deployment.

    Attributes:
        source: how the deployment is called.
        by_name: by agent type.
        notes: what was assumed.
        unreadable: agent types whose card has texts that are no grants; their deploy is refused.
    """

    source: str
    by_name: Mapping[str, Holder] = field(hash=False)
    notes: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def holders_in(described: Described, selection: Selection, agent: str = "", source: str = "") -> Holders:
    """The holders of a deployment, or the one that is asked about.

    Args:
        described: the deployment.
        selection: gives account and component where the manifest does not.
        agent: a type; empty for all.
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
    notes: list[str] = []
    account = ascii_lower(selection.account) or deployment.account
    if not account:
        notes.append(f"the account is not given: {UNNAMED_ACCOUNT} stands for one that no grant mentions")
    by_name: dict[str, Holder] = {}
    for item in types:
        by_name[item.name] = _holder(item, deployment, account, selection.component, notes)
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
    return Holder(item.name, context, item.initial_card, item.initial_card.card(context))


def readable(holders: Holders) -> Holders:
    """The same, if every card can be read.

    Raises:
        InputError: if one has texts that are no grants: what it would admit is not known.
    """
    if holders.unreadable:
        findings = [bad.finding for name in holders.unreadable for bad in holders.by_name[name].card.bad]
        raise InputError(*findings)
    return holders


def variants(holders: Iterable[Holder], rules: Rules) -> tuple[tuple[AgentContext, Universe], ...]:
    """The instances of an agent type such that every instance is treated like one of them, with their universes.

    Args:
        holders: the same type on all sides of a comparison.
        rules: the edition.
    """
    sides = tuple(holders)
    context = sides[0].context
    found = []
    for instance in instances_of(context, [side.template.bounds for side in sides]):
        universe = Universe.of(agent_holder(instance), rules, instance.agent_id)
        found.append((instance, universe))
    return tuple(found)


def written_target(target: Target, context: AgentContext) -> str:
    """A call in the form that `check` takes, with the slots of its holder where they fit.

    >>> from policyd.syntax import parse_target
    >>> context = AgentContext("a@x.io", "shop", "prod", "shop:cart", "Cart", "Cart(1)")
    >>> written_target(parse_target("kv(a@x.io/shop/prod) : read : a.b"), context)
    'kv(?env) : read : a.b'
    """
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
