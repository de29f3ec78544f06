"""Chains in stored facts: what an import keeps of a manifest's lists, and the chains that a snapshot stands for.

Of installation parameters only their presence is kept, so a stored chain never says whether they fit.

Source: middleware 2.4, 6; interface, a place in the store.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from policyd.core.application import Deployment
from policyd.core.schema.reading import UnreadableError
from policyd.core.tools.middleware import middleware_at
from policyd.core.tools.middleware_lists import ListMode, folded
from policyd.core.tools.modes import Mode
from policyd.manifest import ResolvedEnvironment
from policyd.manifest.model import MergeMode, MiddlewareInstallation, ToolBinding
from policyd.store import facts
from policyd.store.facts import ChainFact, ChainLayer, Level, Origin, ToolFact
from policyd.syntax.tools import Catalogue, tool_of_json

_T = TypeVar("_T")

MERGED = ListMode.REPLACE.value
"""The mode of an agent type's list: it is kept as it is in force, after all merging."""


@dataclass(frozen=True, slots=True)
class StoredBinding:
    """A tool with the list in force for some agent types.

    Attributes:
        tool: under which name it is bound.
        agents: who shares the list.
        layers: outermost first, the environment's own list apart.
    """

    tool: str
    agents: tuple[str, ...]
    layers: tuple[ChainLayer, ...]


@dataclass(frozen=True, slots=True)
class StoredChains:
    """The chains of a snapshot.

    Attributes:
        environment: its name.
        account: who owns it.
        deployment: its agent types and their cards, under the rules asked about.
        declared: names of the middleware that the manifest declares.
        wide: the list of the environment.
        bindings: sorted by tool.
        mode: of compatibility, None where the manifest does not say it.
        components: tool to the component that implements it, empty where that is not known.
        unread: definitions that could not be read, in words.
    """

    environment: str
    account: str
    deployment: Deployment
    declared: tuple[str, ...]
    wide: tuple[ChainLayer, ...]
    bindings: tuple[StoredBinding, ...]
    mode: Mode | None
    components: Mapping[str, str]
    unread: tuple[str, ...]


def chain_facts(resolved: ResolvedEnvironment) -> Iterator[ChainFact]:
    """The lists of an environment: its own, one for each bound tool, and those in force for single agent types."""
    environment = resolved.environment
    if environment is None:
        return
    if environment.tool_middleware or environment.tool_compatibility_mode:
        mode = environment.tool_compatibility_mode or ""
        layers = tuple(_layer(item) for item in environment.tool_middleware or ())
        yield ChainFact(Level.ENVIRONMENT, "", "", mode, layers, environment.span)
    bound = {binding.name: binding for binding in environment.tools}
    default = {b.name for agent in resolved.agents for b in agent.tools if b.environment is None and not b.owners}
    for name in sorted({*bound, *default}):
        written = bound.get(name)
        listed = () if written is None else written.middleware or ()
        place = environment.span if written is None else written.span
        yield ChainFact(Level.ENVIRONMENT, "", name, "", tuple(_layer(item) for item in listed), place)
    for agent in resolved.agents:
        for binding in agent.tools:
            if binding.owners:
                own = per_tool(binding.environment, binding.owners)
                place = binding.owners[-1].span
                yield ChainFact(Level.AGENT, agent.name, binding.name, MERGED, tuple(map(_layer, own)), place)


def per_tool(environment: ToolBinding | None, owners: Sequence[ToolBinding]) -> tuple[MiddlewareInstallation, ...]:
    """The list of one tool in force, outermost first."""
    modes = {MergeMode.APPEND: ListMode.APPEND, MergeMode.REPLACE: ListMode.REPLACE}
    lists = [(owner.middleware, modes.get(owner.middleware_mode, ListMode.PREPEND)) for owner in owners]
    return folded(environment.middleware if environment is not None else None, lists)


def _layer(item: MiddlewareInstallation) -> ChainLayer:
    return ChainLayer(
        item.name,
        item.version or "",
        item.account or "",
        item.filesystem_access or "",
        item.parameters is not None,
        item.span,
    )


def stored_chains(stored: facts.Deployment, deployment: Deployment) -> tuple[StoredChains, Catalogue]:
    """The chains of a snapshot, and the definitions that it holds.

    Args:
        stored: the facts.
        deployment: what they describe, under the rules asked about.
    """
    unread: list[str] = []
    tools = dict(_definitions("tool", stored.tools, tool_of_json, unread))
    owners = {fact.name: fact.account for fact in stored.middlewares if fact.account}
    read = _definitions("middleware", stored.middlewares, middleware_at, unread)
    middleware = {name: replace(found, account=owners.get(name)) for name, found in read}
    components: dict[str, str] = {}
    for fact in sorted(stored.tools, key=lambda fact: fact.origin is Origin.PLATFORM):
        components[fact.name] = fact.component or components.get(fact.name, "")
    wide = next((c for c in stored.chains if c.level is Level.ENVIRONMENT and not c.tool), None)
    chains = StoredChains(
        stored.environment,
        stored.account,
        deployment,
        tuple(fact.name for fact in stored.middlewares if fact.origin is Origin.MANIFEST),
        () if wide is None else wide.layers,
        tuple(_bindings(stored)),
        None if wide is None else next((mode for mode in Mode if mode.value == wide.mode), None),
        components,
        tuple(unread),
    )
    return chains, Catalogue(tools=tools, middleware=middleware)


def _bindings(stored: facts.Deployment) -> Iterator[StoredBinding]:
    """Each tool with the lists that differ, the agents that have a list of their own under it."""
    general = {c.tool: c.layers for c in stored.chains if c.level is Level.ENVIRONMENT and c.tool}
    own = {(c.tool, c.subject): c.layers for c in stored.chains if c.level is Level.AGENT}
    agents = sorted({agent.name for agent in stored.agent_types} | {agent for _, agent in own})
    for tool in sorted({*general, *(tool for tool, _ in own)}):
        groups: dict[tuple[ChainLayer, ...], list[str]] = {}
        for agent in agents:
            layers = own.get((tool, agent), general.get(tool))
            if layers is not None:
                groups.setdefault(layers, []).append(agent)
        if not groups and tool in general:
            groups[general[tool]] = []
        for layers, sharing in groups.items():
            yield StoredBinding(tool, tuple(sharing), layers)


def _definitions(
    what: str, found: Sequence[ToolFact], read: Callable[[object], _T], unread: list[str]
) -> Iterator[tuple[str, _T]]:
    """What the definitions stand for; one that cannot be read is told, and the name stays unknown."""
    for fact in found:
        if not fact.definition:
            continue
        try:
            yield fact.name, read(json.loads(fact.definition))
        except UnreadableError as error:
            unread.append(f"{what} `{fact.name}`: its definition cannot be read at `{error.path}`: {error.reason}")
