"""What asking a component gives, when it lacks what is asked for: all components export all interfaces.

Source: middleware 1.7; sdk-facts 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Capability(Enum):
    """What a component may implement."""

    TOOL = "tool"
    MIDDLEWARE = "middleware"
    AGENT = "agent"
    SNAPSHOT = "snapshot"


class Ask(Enum):
    """What is asked of it."""

    LIST = "list"
    LOOK_UP = "lookup"
    INVOKE = "invoke"
    INITIALIZE = "initialize"
    DEFINITION = "definition"
    LOAD = "load"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class Answer:
    """What comes back.

    Attributes:
        outcome: the case, or `empty list`, `trap`, `unsupported`.
        words: how to read it.
    """

    outcome: str
    words: str


_EMPTY = Answer("empty list", "the component has none; this is no denial")
_NO_TOOL = Answer("InvalidToolName", "the component has nothing of that name, or none at all")
_NO_AGENT = Answer("InvalidInput", "the component has no agent")
ABSENT: dict[tuple[Capability, Ask], Answer] = {
    (Capability.TOOL, Ask.LIST): _EMPTY,
    (Capability.TOOL, Ask.LOOK_UP): _NO_TOOL,
    (Capability.TOOL, Ask.INVOKE): _NO_TOOL,
    (Capability.MIDDLEWARE, Ask.LIST): _EMPTY,
    (Capability.MIDDLEWARE, Ask.LOOK_UP): _NO_TOOL,
    (Capability.MIDDLEWARE, Ask.INVOKE): _NO_TOOL,
    (Capability.AGENT, Ask.LIST): _EMPTY,
    (Capability.AGENT, Ask.INITIALIZE): _NO_AGENT,
    (Capability.AGENT, Ask.INVOKE): _NO_AGENT,
    (Capability.AGENT, Ask.DEFINITION): Answer("trap", "its signature has no error result: it traps with a message"),
    (Capability.SNAPSHOT, Ask.LOAD): Answer("unsupported", "an error, not a trap"),
    (Capability.SNAPSHOT, Ask.SAVE): Answer("trap", "its signature has no error result: it traps with a message"),
}
"""The answers of a component that lacks the capability."""


def absent_answer(capability: Capability, ask: Ask) -> Answer | None:
    """What comes back from a component without the capability; None for what cannot be asked.

    >>> absent_answer(Capability.TOOL, Ask.LIST).outcome
    'empty list'
    """
    return ABSENT.get((capability, ask))
