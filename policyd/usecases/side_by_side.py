"""The cards of somebody before and after, list by list.

Source: interface, `diff`.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.cards import Bound
from policyd.usecases.holders import Parties, Party

MAX_ROWS = 200
"""So many grants of one list are shown."""


@dataclass(frozen=True, slots=True)
class SideGrant:
    """A grant on one side.

    Attributes:
        text: as written.
        where: its place, empty where it is not known.
        is_only_here: whether the other side has it nowhere in the same list.
    """

    text: str
    where: str
    is_only_here: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """One of the four lists on both sides.

    Attributes:
        bound: which.
        old: before, what changed first.
        new: after, likewise.
        more: how many further grants there are on both sides.
    """

    bound: Bound
    old: tuple[SideGrant, ...]
    new: tuple[SideGrant, ...]
    more: int


def side_by_side(old: Parties, new: Parties, name: str) -> tuple[Listed, ...]:
    """The lists of the party of this name that have anything on one of the sides."""
    before, after = old.by_name.get(name), new.by_name.get(name)
    found = []
    for bound in Bound:
        left, right = _side(before, after, bound), _side(after, before, bound)
        more = max(0, len(left) - MAX_ROWS) + max(0, len(right) - MAX_ROWS)
        if left or right:
            found.append(Listed(bound, left[:MAX_ROWS], right[:MAX_ROWS], more))
    return tuple(found)


def _side(party: Party | None, other: Party | None, bound: Bound) -> tuple[SideGrant, ...]:
    if party is None:
        return ()
    known = {ref.grant for ref in other.refs if ref.bound is bound} if other is not None else set()
    rows = []
    for ref in party.refs:
        if ref.bound is bound:
            span = party.place(ref)
            rows.append(SideGrant(party.written(ref), span.where if span else "", ref.grant not in known))
    return tuple(sorted(rows, key=lambda row: not row.is_only_here))
