"""Owners of targets: the running agent and what it stands in, or what a request names.

Source: host 0.2, 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from policyd.core.grants import AgentContext, Owner, OwnerKind, Slot
from policyd.core.grants.names import ascii_lower
from policyd.core.operations.refusal import Unclear


class OwnerHole(Enum):
    """Whose thing a target is about, as templates write it."""

    NOBODY = ""
    SELF = "{S}"
    ENVIRONMENT = "{E}"
    OTHER = "{T}"
    COMPONENT_AGENTS = "{T*}"
    TYPE = "{Ty}"
    FINAL = "{final}"
    SOURCE = "{source}"
    COMPONENT = "{C}"
    ACCOUNT = "{A}"
    APPLICATION = "{A}/{app}"
    CREATOR = "{creator}"
    TOOL = "{Tool}"


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and from where.

    Attributes:
        account: e-mail of the account of the caller.
        agent: the running agent; None for a token.
        creator: the account recorded when the agent was created; empty where it is the account of its component.
        executing: account, application, environment and component of the code that runs, where it is not the agent's.
    """

    account: str
    agent: AgentContext | None = None
    creator: str = ""
    executing: tuple[str, ...] = ()

    @classmethod
    def of_agent(cls, agent: AgentContext, creator: str = "") -> Asker:
        """An agent that runs its own code."""
        return cls(agent.account, agent, creator)

    @property
    def place(self) -> tuple[str, ...]:
        """Account, application, environment and component of the running code, as far as they are known."""
        if self.executing:
            return (ascii_lower(self.executing[0]), *self.executing[1:])
        own = (self.account,) if self.agent is None else self.agent.segments
        return (ascii_lower(own[0]), *own[1:])


NAMES = ("account", "application", "environment", "component")
"""The arguments that name a place other than the asker's own."""

ARGUMENTS: Mapping[OwnerHole, tuple[str, ...]] = {
    OwnerHole.OTHER: (*NAMES, "agent"),
    OwnerHole.COMPONENT_AGENTS: NAMES,
    OwnerHole.TYPE: (*NAMES, "type", "agent"),
    OwnerHole.FINAL: (*NAMES, "agent", "final-agent"),
    OwnerHole.SOURCE: (*NAMES, "agent"),
    OwnerHole.COMPONENT: NAMES,
    OwnerHole.ENVIRONMENT: NAMES[:3],
    OwnerHole.APPLICATION: NAMES[:2],
    OwnerHole.ACCOUNT: NAMES[:1],
    OwnerHole.TOOL: ("tool-account", "tool-component", "tool"),
}
"""Which arguments an owner is made of; holes that are not here take none."""


def owner_of(
    hole: OwnerHole,
    arguments: Mapping[str, object],
    asker: Asker,
    *,
    is_service: bool = False,
    is_executing: bool = False,
) -> Owner | Unclear:
    """The owner that fills a hole.

    Args:
        hole: of the template.
        arguments: what the question says; names that are missing are the asker's own.
        asker: who asks.
        is_service: services take the environment from the request, hosts from the running code.
        is_executing: `{S}` is named with the component of the running code, not with that of the agent.
    """
    match hole:
        case OwnerHole.NOBODY:
            return Owner(OwnerKind.EMPTY)
        case OwnerHole.SELF:
            return _self(asker, is_executing)
        case OwnerHole.CREATOR:
            return Owner(OwnerKind.ACCOUNT, (ascii_lower(asker.creator or asker.place[0]),))
        case OwnerHole.TOOL:
            return _tool(arguments, asker)
        case OwnerHole.ENVIRONMENT:
            return _placed(OwnerKind.ENVIRONMENT, 3, arguments if is_service else {}, asker)
        case OwnerHole.ACCOUNT:
            return _placed(OwnerKind.ACCOUNT, 1, arguments, asker)
        case OwnerHole.APPLICATION:
            return _placed(OwnerKind.APPLICATION, 2, arguments, asker)
        case OwnerHole.COMPONENT:
            return _placed(OwnerKind.COMPONENT, 4, arguments, asker)
        case OwnerHole.COMPONENT_AGENTS:
            return _placed(OwnerKind.AGENT, 4, arguments, asker)
        case OwnerHole.TYPE:
            return _type(arguments, asker)
        case OwnerHole.OTHER:
            return _agent(arguments, asker, ("agent",))
        case OwnerHole.FINAL:
            return _agent(arguments, asker, ("final-agent", "agent"))
        case OwnerHole.SOURCE:
            return _agent(arguments, asker, ("agent",)) if "agent" in arguments else _self(asker, True)


def _self(asker: Asker, is_executing: bool) -> Owner | Unclear:
    agent = asker.agent
    if agent is None:
        return Unclear("agent", "only an agent has itself for an owner")
    own = (ascii_lower(agent.account), *agent.segments[1:])
    place = asker.place if is_executing else own
    if agent.agent_id is None:
        if place != own:
            return Unclear("agent", "the agent on whose behalf the tool runs is not given")
        return Owner(OwnerKind.AGENT, (), Slot.AGENT)
    return Owner(OwnerKind.AGENT, (*place, agent.agent_id))


def place_of(depth: int, arguments: Mapping[str, object], asker: Asker) -> tuple[str, ...] | Unclear:
    """The first `depth` names of a place: those that the question gives, the others the asker's own."""
    own = asker.place
    found = []
    for index, name in enumerate(NAMES[:depth]):
        given = arguments.get(name)
        if given is None and index >= len(own):
            return Unclear(name, f"`{name}` is not given")
        text = own[index] if given is None else str(given)
        found.append(ascii_lower(text) if index == 0 else text)
    return tuple(found)


def _placed(kind: OwnerKind, depth: int, arguments: Mapping[str, object], asker: Asker) -> Owner | Unclear:
    place = place_of(depth, arguments, asker)
    return place if isinstance(place, Unclear) else Owner(kind, place)


def _agent(arguments: Mapping[str, object], asker: Asker, names: tuple[str, ...]) -> Owner | Unclear:
    given = next((arguments[name] for name in names if name in arguments), None)
    if given is None:
        return Unclear("agent", "the agent is not given")
    place = place_of(4, arguments, asker)
    return place if isinstance(place, Unclear) else Owner(OwnerKind.AGENT, (*place, str(given)))


def _type(arguments: Mapping[str, object], asker: Asker) -> Owner | Unclear:
    given = arguments.get("type")
    if given is None and "agent" in arguments:
        given = str(arguments["agent"]).partition("(")[0]
    if given is None:
        return Unclear("type", "the agent type is not given")
    place = place_of(4, arguments, asker)
    return place if isinstance(place, Unclear) else Owner(OwnerKind.AGENT, (*place, str(given)), is_type_wildcard=True)


def _tool(arguments: Mapping[str, object], asker: Asker) -> Owner | Unclear:
    own = asker.place
    if len(own) < 4:
        return Unclear("environment", "the environment of the caller is not given")
    if "tool" not in arguments:
        return Unclear("tool", "the tool is not given")
    account = ascii_lower(str(arguments.get("tool-account", own[0])))
    component = str(arguments.get("tool-component", own[3]))
    return Owner(OwnerKind.TOOL, (account, own[1], own[2], component, str(arguments["tool"])))
