"""Delegation: real calls that a child card admits and its parents do not.

The platform's check of a child is about texts of grants, and accepts some children that admit more: a
ceiling for a recipient that crosses none of the parents', lower negatives that nobody inherits.

Source: cards 6.1; questions 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policyd.core.callsets.admitted import admitted_by
from policyd.core.callsets.budget import MAX_STEPS, Steps
from policyd.core.callsets.difference import MAX_WITNESSES, Difference, difference
from policyd.core.callsets.holders import holders_of
from policyd.core.callsets.universe import Universe
from policyd.core.callsets.witness import Obstacle
from policyd.core.cards import Card, GrantRef, surface_of
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Recipient


@dataclass(frozen=True, slots=True)
class Slip:
    """What one holder could do with the child alone and not with all the parents together.

    Attributes:
        holder: who; one that stands for all holders that the recipients do not tell apart from it.
        calls: the difference, with witnesses.
        restate: negatives of the parents that would stop some of it, were they restated in the child.
        is_stopped: whether it is proved that, restated, they would stop all of it.
    """

    holder: Recipient
    calls: Difference
    restate: tuple[GrantRef, ...]
    is_stopped: bool = False


def slips(
    parents: Sequence[Card],
    child: Card,
    holders: Sequence[Recipient] | None = None,
    rules: Rules = NEXT,
    *,
    limit: int = MAX_WITNESSES,
    steps: Steps = MAX_STEPS,
) -> tuple[Slip, ...]:
    """The holders for whom the child admits calls that its parents do not, or for whom that is undecided.

    No entry is a proof that the child admits nothing more to anyone (among `holders`).

    Args:
        parents: concrete cards, all of them together.
        child: a concrete card.
        holders: who to ask about; None for everyone, by one holder of each kind that the recipients tell apart.
        rules: the edition.
        limit: the most witnesses for each holder.
        steps: the budget of one search, or the effort of all of them.
    """
    if holders is None:
        holders = holders_of((g.recipient for card in (*parents, child) for _, _, g in card.bounds.each()), rules)
    found = []
    for holder in holders:
        narrow = admitted_by(surface_of([child], holder))
        wide = admitted_by(surface_of(parents, holder))
        universe = Universe.of(holder, rules)
        calls = difference(narrow, wide, universe, limit=limit, steps=steps)
        if not calls.is_proved_empty:
            restate = _to_restate(calls)
            rest = admitted_by(surface_of([_restating(child, restate)], holder)) if restate else narrow
            is_stopped = bool(restate) and difference(rest, wide, universe, limit=1, steps=steps).is_proved_empty
            found.append(Slip(holder, calls, restate, is_stopped))
    return tuple(found)


def _restating(child: Card, negatives: Sequence[GrantRef]) -> Card:
    """The child with negatives of its parents, each in the list in which they have it."""
    lower = tuple(ref.grant for ref in negatives if ref.bound.is_lower)
    upper = tuple(ref.grant for ref in negatives if not ref.bound.is_lower)
    bounds = child.bounds
    bounds = replace(bounds, lower_negative=bounds.lower_negative + lower, upper_negative=bounds.upper_negative + upper)
    return replace(child, bounds=bounds)


def _to_restate(calls: Difference) -> tuple[GrantRef, ...]:
    negatives = (Obstacle.OWN_NEGATIVE, Obstacle.UPPER_NEGATIVE)
    return tuple(
        dict.fromkeys(ref for w in calls.witnesses for o in w.obstacles if o.obstacle in negatives for ref in o.grants)
    )
