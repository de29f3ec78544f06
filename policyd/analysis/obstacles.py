"""What keeps one call of an agent from its card: lists that lack it, negatives that deny it, and what to write.

Source: cards 5.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.analysis.card_index import CardIndex
from policyd.analysis.subject import Entry
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.findings import Related

_NAMES = {
    Bound.LOWER_POSITIVE: "`lowerBound.positive`",
    Bound.LOWER_NEGATIVE: "`lowerBound.negative`",
    Bound.UPPER_POSITIVE: "`upperBound.positive`",
    Bound.UPPER_NEGATIVE: "`upperBound.negative`",
}


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Why a card does not admit a call.

    Attributes:
        lacking: the positive lists that would have to cover it and do not.
        denying: of each negative list the first grant that denies it.
    """

    lacking: tuple[Bound, ...]
    denying: tuple[Entry, ...]

    def help(self, grant: str, condition: str) -> str:
        """What to write so that the call is admitted: all of it, for one step alone would not do.

        Args:
            grant: the grant to add where one is missing.
            condition: when to do so at all (`if …`, `unless …`).
        """
        steps = []
        if self.lacking:
            steps.append(f"add `{grant}` to {' and to '.join(_NAMES[bound] for bound in self.lacking)}")
        if self.denying:
            named = " and that of ".join(_NAMES[entry.bound] for entry in self.denying)
            steps.append(f"narrow the grant of {named} that denies it")
        return f"{', and '.join(steps)}, {condition}"

    @property
    def related(self) -> tuple[Related, ...]:
        """The negatives that deny it, where they stand in the manifest."""
        return tuple(
            Related(f"this grant of {_NAMES[entry.bound]} denies it", entry.placed.span)
            for entry in self.denying
            if entry.placed.span is not None
        )


def obstacles_of(index: CardIndex, target: Target) -> Obstacles:
    """What stands between the card of `index` and `target`; nothing where it admits it."""
    lacking = []
    if not index.covering(Bound.LOWER_POSITIVE, target):
        lacking.append(Bound.LOWER_POSITIVE)
    if index.has_ceiling and not index.covering(Bound.UPPER_POSITIVE, target):
        lacking.append(Bound.UPPER_POSITIVE)
    negatives = (index.covering(bound, target)[:1] for bound in (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE))
    return Obstacles(tuple(lacking), tuple(entry for found in negatives for entry in found))
