"""What the index keeps of one distinct target pattern: in which lists of which cards it stands.

Sets of cards are integers, one bit per card in wallet order, so that the ceilings of thousands of
cards are judged by a handful of operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from policyd.core.cards import Bound


@dataclass(slots=True)
class Postings:
    """The cards that carry one pattern, per list.

    Attributes:
        lower_positive: bits of the cards with the pattern in L+; likewise the other three.
        places: card position and list to the first index in it.
    """

    lower_positive: int = 0
    lower_negative: int = 0
    upper_positive: int = 0
    upper_negative: int = 0
    places: dict[tuple[int, Bound], int] = field(default_factory=dict)

    def add(self, card: int, bound: Bound, index: int) -> None:
        """Note that the card at position `card` has the pattern at `index` of `bound`; indexes ascend."""
        bit = 1 << card
        match bound:
            case Bound.LOWER_POSITIVE:
                self.lower_positive |= bit
            case Bound.LOWER_NEGATIVE:
                self.lower_negative |= bit
            case Bound.UPPER_POSITIVE:
                self.upper_positive |= bit
            case Bound.UPPER_NEGATIVE:
                self.upper_negative |= bit
        self.places.setdefault((card, bound), index)


def first_place(hits: Iterable[Postings], card: int, bound: Bound) -> int:
    """The smallest index in `bound` of `card` among the patterns that were hit; there must be one."""
    key = (card, bound)
    return min(hit.places[key] for hit in hits if key in hit.places)


def positions(mask: int) -> Iterator[int]:
    """The positions of the bits of `mask`, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
