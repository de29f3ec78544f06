"""Recipients: for which holders a grant is.

Source: cards 3.2, 3.3, 4.2, 10.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from policyd.core.grants.slots import AgentContext, Slot

EXTERNAL_TOOL_OWNER = "~external-tool-owner"
"""The last segment that names the external tool owner of a component under edition `next`."""

EXTERNAL_TOOL_OWNER_ID = "~golem-external-tool-owner-"
"""How the run-time id of an external tool owner begins; a UUID follows (cards 10.1)."""


class Level(IntEnum):
    """What kind of holder a recipient can name; the number is the depth of its path."""

    ANY = 0
    ACCOUNT = 1
    ENVIRONMENT = 3
    AGENT = 5


@dataclass(frozen=True, slots=True)
class Recipient:
    """The pattern of holders that a grant is for.

    Attributes:
        level: any, account, environment or agent.
        known: the concrete leading segments, behind the slot if there is one.
        slot: stands before `known` in manifest recipients, None elsewhere.
        is_external_tool_owner: the shape of its own of cards 10.1 (edition `next` only).
    """

    level: Level
    known: tuple[str, ...] = ()
    slot: Slot | None = None
    is_external_tool_owner: bool = False

    def covers(self, narrow: Recipient) -> bool:
        """Whether every holder that `narrow` names is named by this (R4); both must be concrete.

        >>> Recipient(Level.ACCOUNT, ("a",)).covers(Recipient(Level.AGENT, ("a", "p", "e", "c", "T")))
        True
        >>> Recipient(Level.AGENT, ("a",)).covers(Recipient(Level.ENVIRONMENT, ("a", "p", "e")))
        False
        """
        if self.level is Level.ANY:
            return True
        if narrow.level < self.level:
            return False
        count = len(self.known)
        if narrow.known[:count] != self.known:
            return False
        return count < Level.AGENT or narrow.is_external_tool_owner == self.is_external_tool_owner

    def filled(self, context: AgentContext) -> Recipient:
        """This recipient with its slot filled, as the command line does before a deploy (M4)."""
        if self.slot is None:
            return self
        known = (*context.recipient_prefix(self.slot), *self.known)
        return Recipient(self.level, known, None, self.is_external_tool_owner)

    @property
    def text(self) -> str:
        """The canonical text."""
        if self.level is Level.ANY:
            return "*"
        head = [self.slot.value] if self.slot else []
        stars = self.level - len(self.known) - (self.slot.depth if self.slot else 0)
        return "/".join([*head, *self.known, *("*" for _ in range(stars))])


ANYONE = Recipient(Level.ANY)


def agent_holder(context: AgentContext) -> Recipient:
    """The recipient path that describes the holder: its type, never its instance (R6)."""
    return Recipient(Level.AGENT, (*context.segments, context.agent_type))


def account_holder(email: str) -> Recipient:
    """The recipient path of a user."""
    return Recipient(Level.ACCOUNT, (email,))
