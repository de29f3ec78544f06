"""Owners: whose thing a grant is about.

Source: cards 3.1, 4.1, 7.1, 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.grants.slots import AgentContext, Slot


class OwnerKind(Enum):
    """How deep the owners of a class are; tools and agents share the depth and differ in the leaf."""

    EMPTY = "empty"
    ACCOUNT = "account"
    APPLICATION = "application"
    ENVIRONMENT = "environment"
    COMPONENT = "component"
    AGENT = "agent"
    TOOL = "tool"

    @property
    def depth(self) -> int:
        """The exact number of segments (O1)."""
        return _DEPTH[self]


_DEPTH = {kind: min(depth, 5) for depth, kind in enumerate(OwnerKind)}


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a grant or a target: known leading segments, stars behind them.

    Attributes:
        kind: fixed by the class.
        known: the concrete segments, behind the slot if there is one; a trailing star is not a segment.
        slot: stands before `known` in polymorphic owners, None in concrete ones.
        is_type_wildcard: the last known segment `T` was written `T(*)` (agent owners of full depth only).
    """

    kind: OwnerKind
    known: tuple[str, ...] = ()
    slot: Slot | None = None
    is_type_wildcard: bool = False

    @property
    def known_depth(self) -> int:
        """How many leading segments are fixed, those of the slot included."""
        return (self.slot.depth if self.slot else 0) + len(self.known)

    @property
    def is_exact(self) -> bool:
        """Whether this names one thing: full depth, no wildcard."""
        return self.known_depth == self.kind.depth and not self.is_type_wildcard

    def covers(self, narrow: Owner) -> bool:
        """Whether everything owned by `narrow` is owned by this (O5, O6); both must be concrete.

        A shorter known prefix covers every longer pattern under it, never the reverse. A type
        wildcard covers ids of the form `T(…)`, so no phantom, whose id ends in a bracket.

        >>> phantom = Owner(OwnerKind.AGENT, ("a", "p", "e", "c", 'T("1")[7d0f0f0f-0000-4000-8000-00000000000b]'))
        >>> Owner(OwnerKind.AGENT, ("a", "p", "e", "c", "T"), None, True).covers(phantom)
        False
        """
        count = len(self.known)
        if not self.is_type_wildcard:
            if narrow.known[:count] != self.known:
                return False
            return not (narrow.is_type_wildcard and count == self.kind.depth)
        if narrow.known[:4] != self.known[:4] or len(narrow.known) != count:
            return False
        name, leaf = self.known[4], narrow.known[4]
        return leaf == name if narrow.is_type_wildcard else is_instance_text(leaf, name)

    def filled(self, context: AgentContext) -> Owner:
        """This owner with its slot filled for an agent; concrete owners pass through (M1)."""
        if self.slot is None:
            return self
        # written out, because whole cards are filled for every question
        return Owner(self.kind, (*context.owner_prefix(self.slot), *self.known), None, self.is_type_wildcard)

    @property
    def text(self) -> str:
        """The canonical text."""
        head = [self.slot.value] if self.slot else []
        known = list(self.known)
        if self.is_type_wildcard:
            known[-1] += "(*)"
        return "/".join([*head, *known, *("*" for _ in range(self.kind.depth - self.known_depth))])


def is_instance_text(leaf: str, agent_type: str) -> bool:
    """Whether the id text `leaf` is `agent_type` followed by a bracketed argument list (O6)."""
    rest = leaf[len(agent_type) :]
    return leaf.startswith(agent_type) and len(rest) >= 2 and rest[0] == "(" and rest[-1] == ")"
