"""Slots, and the agent from which they are filled.

Source: cards 7.1, 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Slot(Enum):
    """A placeholder for the leading segments of an owner or a recipient."""

    ACCOUNT = "?account"
    APP = "?app"
    ENV = "?env"
    COMPONENT = "?component"
    AGENT = "?agent"

    @property
    def depth(self) -> int:
        """How many leading segments the slot stands for, 1 to 5."""
        return _DEPTHS[self]


_DEPTHS = {slot: depth for depth, slot in enumerate(Slot, 1)}
SLOTS_BY_TEXT = {slot.value: slot for slot in Slot}


@dataclass(frozen=True, slots=True)
class AgentContext:
    """The agent for which slots are filled.

    Attributes:
        account: e-mail of the owner of the environment, in lower case.
        application: name.
        environment: name.
        component: full name, with its colon.
        agent_type: the bare type name, the last segment of the holder.
        agent_id: the raw id, `Type(args)` with a phantom suffix if there is one; None while only the type is known.
    """

    account: str
    application: str
    environment: str
    component: str
    agent_type: str
    agent_id: str | None = None

    @property
    def segments(self) -> tuple[str, ...]:
        """Account, application, environment and component."""
        return (self.account, self.application, self.environment, self.component)

    def owner_prefix(self, slot: Slot) -> tuple[str, ...]:
        """What `slot` stands for in an owner; `?agent` becomes the literal agent id (M1).

        Raises:
            ValueError: for `?agent` while the id is not known.
        """
        if slot is not Slot.AGENT:
            return self.segments[: slot.depth]
        if self.agent_id is None:
            raise ValueError("the agent id is not known")
        return (*self.segments, self.agent_id)

    def recipient_prefix(self, slot: Slot) -> tuple[str, ...]:
        """What `slot` stands for in a recipient; `?agent` becomes the agent type (M4)."""
        return (*self.segments, self.agent_type)[: slot.depth]
