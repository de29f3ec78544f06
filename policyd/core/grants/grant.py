"""Grants and targets: what a card says, and what a call asks for.

Source: cards 1.1, 1.10, 1.11, 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policyd.core.grants.classes import PermissionClass
from policyd.core.grants.owner import Owner
from policyd.core.grants.recipient import Recipient
from policyd.core.grants.resources import Resource
from policyd.core.grants.slots import AgentContext, Slot

ANY_VERB = "*"


@dataclass(frozen=True, slots=True)
class Target:
    """What a call asks for: class, owner, verb and resource, without a recipient.

    Attributes:
        cls: the permission class.
        owner: concrete in a question; may carry a slot inside a polymorphic grant.
        verb: one of the verbs of the class, or `*`.
        resource: a value of the resource kind of the class.
    """

    cls: PermissionClass
    owner: Owner
    verb: str
    resource: Resource

    def covers(self, narrow: Target) -> bool:
        """Whether everything that `narrow` asks for is inside this (S1, S2, S4)."""
        return (
            self.cls == narrow.cls
            and self.verb in (ANY_VERB, narrow.verb)
            and self.owner.covers(narrow.owner)
            and self.resource.covers(narrow.resource)
        )

    def filled(self, context: AgentContext) -> Target:
        """This target with the slot of its owner filled.

        While the agent id is not known, an owner `?agent` stays a slot.
        """
        if not self.is_open(context):
            return self
        return Target(self.cls, self.owner.filled(context), self.verb, self.resource)

    def is_open(self, context: AgentContext) -> bool:
        """Whether the owner has a slot that `context` fills."""
        slot = self.owner.slot
        return slot is not None and (slot is not Slot.AGENT or context.agent_id is not None)

    @property
    def text(self) -> str:
        """The target text `class(owner) : verb : resource`; an empty resource leaves a trailing space."""
        return f"{self.cls.name}({self.owner.text}) : {self.verb} : {self.resource.text}"


@dataclass(frozen=True, slots=True)
class Grant:
    """One line of a card: a target, and for whom it is.

    Concrete grants have no slots; in polymorphic ones the owner may begin with a slot, in
    manifest ones the recipient, too.
    """

    target: Target
    recipient: Recipient
    _text: str = field(default="", init=False, repr=False, compare=False)

    def covers(self, narrow: Grant) -> bool:
        """Whether `narrow` is inside this in all five parts (S3); both must be concrete."""
        return self.target.covers(narrow.target) and self.recipient.covers(narrow.recipient)

    def filled(self, context: AgentContext) -> Grant:
        """This grant with the slot of its owner filled for an agent (M1); the recipient stays."""
        return self if self.target.owner.slot is None else Grant(self.target.filled(context), self.recipient)

    def addressed(self, context: AgentContext) -> Grant:
        """This grant with the slot of its recipient filled (M4); the owner stays."""
        return self if self.recipient.slot is None else Grant(self.target, self.recipient.filled(context))

    @property
    def text(self) -> str:
        """The canonical text (P10); written once, for answers name the same grants again and again."""
        if not self._text:
            t = self.target
            text = f"{t.cls.name}({t.owner.text}) @ {self.recipient.text} : {t.verb} : {t.resource.text}"
            object.__setattr__(self, "_text", text)
        return self._text
