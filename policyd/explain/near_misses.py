"""The grants that come closest to covering a call, nearest first.

Source: host 6.4.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from policyd.core.cards import Bound, Card, GrantRef
from policyd.core.grants import Recipient, Target
from policyd.explain.fields import Dimension, FieldDifference, differences, missed
from policyd.findings import Span

MAX_NEAR = 3
"""So many near misses are shown."""

MAX_ALIKE = 50
"""Of so many with equal marks the texts are compared."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A grant that does not cover a call.

    Attributes:
        ref: the grant.
        missed: the dimensions that do not match, weightiest first.
        differing: field by field.
        written: the grant as it is written where it comes from; empty where that is not known.
        span: its place, None where that is not known.
    """

    ref: GrantRef
    missed: tuple[Dimension, ...]
    differing: tuple[FieldDifference, ...]
    written: str = ""
    span: Span | None = None

    @property
    def text(self) -> str:
        """How it misses, in one line."""
        return "; ".join(difference.text for difference in self.differing)

    @property
    def grant(self) -> str:
        """The grant as it is written, or as it was compared."""
        return self.written or self.ref.grant.text.rstrip()


def near_misses(
    cards: Iterable[Card], target: Target, holder: Recipient, bound: Bound = Bound.LOWER_POSITIVE, limit: int = MAX_NEAR
) -> tuple[NearMiss, ...]:
    """The nearest grants of one kind of list, of the same class as the call.

    More matching dimensions are nearer; of equally many, a match in a weightier one; then the narrower resource;
    then the text that is more alike.

    Args:
        cards: live and filled.
        target: the call.
        holder: who makes it.
        bound: in which lists to look.
        limit: at most so many.
    """
    marked: list[tuple[_Marks, int, GrantRef, tuple[Dimension, ...]]] = []
    for card in cards:
        for index, grant in enumerate(card.bounds.of(bound)):
            if grant.target.cls != target.cls:
                continue
            found = missed(grant, target, holder)
            if found:
                marked.append((_marks(found, grant.target), len(marked), GrantRef(card.id, bound, index, grant), found))
    nearest = heapq.nsmallest(max(limit, MAX_ALIKE), marked, key=lambda item: item[:2])
    text = target.resource.text
    nearest.sort(key=lambda item: (item[0], -_alike(item[2].grant.target.resource.text, text), item[1]))
    return tuple(NearMiss(ref, found, differences(ref.grant, target, holder)) for _, _, ref, found in nearest[:limit])


_Marks = tuple[int, tuple[bool, ...], int]


def _marks(found: tuple[Dimension, ...], target: Target) -> _Marks:
    text = target.resource.text
    breadth = 2 if text == "*" else 1 if "*" in text else 0
    return len(found), tuple(dimension in found for dimension in Dimension), breadth


def _alike(left: str, right: str) -> float:
    return SequenceMatcher(None, left[:200], right[:200], autojunk=False).ratio()


__all__ = ["MAX_NEAR", "NearMiss", "near_misses"]
