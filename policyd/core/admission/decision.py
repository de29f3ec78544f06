"""Decisions: the reasons first, the yes or no derived from them.

Source: cards 5.2; questions 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.cards import CardId, GrantRef

FEW = 3
"""How many of the cards that stand in the way are named; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Forbidden:
    """A card grants the target and denies it, too (E2).

    Attributes:
        granting: the lower positive that covers it.
        denying: the lower negative of the same card that covers it.
    """

    granting: GrantRef
    denying: GrantRef


@dataclass(frozen=True, slots=True)
class Withheld:
    """A card's ceiling does not let the target through (E3).

    Attributes:
        card: whose ceiling.
        denying: the upper negative that covers the target; None when no upper positive does.
    """

    card: CardId
    denying: GrantRef | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a set of cards says to one target.

    Attributes:
        granted_by: the first lower positive of the first card that lends the target; None if no card does.
        forbidden: the first few cards that grant and deny it; looked at only if no card lends it.
        forbidden_count: how many there are.
        withheld: the first few ceilings that withhold it.
        withheld_count: how many there are.
    """

    granted_by: GrantRef | None
    forbidden: tuple[Forbidden, ...] = ()
    forbidden_count: int = 0
    withheld: tuple[Withheld, ...] = ()
    withheld_count: int = 0

    @property
    def is_admitted(self) -> bool:
        """Whether some card lends the target and no ceiling withholds it."""
        return self.granted_by is not None and self.withheld_count == 0
