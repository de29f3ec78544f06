"""Why a grant that comes or goes changes nothing: held by another, withheld, for others, or never asked for.

Source: questions 2; cards 5.1, 5.2; interface, `what-if`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.callsets import (
    MAX_STEPS,
    Effect,
    Standing,
    Steps,
    Universe,
    admitted_by,
    calls_of,
    effect_of,
)
from policyd.core.callsets.search import calls_in
from policyd.core.callsets.witness import Obstacle, Withheld, obstacles_of
from policyd.core.cards import Bound, GrantRef, Surface
from policyd.core.edition import Rules
from policyd.core.grants import Target
from policyd.syntax.mistakes import shown
from policyd.usecases.changes import obstacle_text
from policyd.usecases.holders import Holder, surface_for, variants

MAX_NAMED = 3
"""So many grants are named in one reason."""


def idle_additions(
    holder: Holder, added: Sequence[tuple[Bound, str]], rules: Rules, steps: Steps = MAX_STEPS
) -> Iterator[str]:
    """One sentence for every added text of which it is proved that it changes nothing for this holder.

    Args:
        holder: with the grants added at the end of their lists.
        added: lists and texts.
        rules: the edition.
        steps: the budget of one search, or the effort of all of them.
    """
    for bound, text in added:
        reasons = [why for ref in _refs(holder, bound, text) if (why := _idle(holder, ref, rules, steps)) is not None]
        if reasons and len(reasons) == len(_refs(holder, bound, text)):
            yield f"{shown(text)} changes nothing for {holder.name}: {reasons[0]}"


def idle_removals(holder: Holder, removed: Sequence[GrantRef], rules: Rules, steps: Steps = MAX_STEPS) -> Iterator[str]:
    """One sentence for every removed grant of which it is proved that it did nothing for this holder.

    Args:
        holder: with the grants that are taken away.
        removed: these grants, slots open.
        rules: the edition.
        steps: the budget of one search, or the effort of all of them.
    """
    for ref in removed:
        why = _idle(holder, ref, rules, steps)
        if why is not None:
            later = "" if ref.bound.is_lower else "; it limits cards that come later"
            yield f"without {_named(ref, holder)} nothing changes for {holder.name}: {why}{later}"


def _refs(holder: Holder, bound: Bound, text: str) -> list[GrantRef]:
    """The grants of an added text, slots open."""
    return [r for r in holder.refs if r.bound is bound and holder.written(r) == text and _is_added(holder, r)]


def _is_added(holder: Holder, ref: GrantRef) -> bool:
    span = holder.place(ref)
    return span is not None and not span.line


def _idle(holder: Holder, open_ref: GrantRef, rules: Rules, steps: Steps) -> str | None:
    """Why the grant does nothing for any instance, None where it does something or that is undecided."""
    first: str | None = None
    for instance, universe in variants([holder], rules):
        surface = surface_for(holder, instance)
        ref = _held(surface, open_ref)
        if ref is None:
            whom = open_ref.grant.recipient.text
            why: str | None = f"its recipient {shown(whom)} does not cover agents of {shown(holder.name)}"
        else:
            effect = effect_of(admitted_by(surface), ref, universe, steps=steps)
            why = None if effect is None else _reason(effect, surface, holder, universe)
        if why is None:
            return None
        first = first or why
    return first


def _held(surface: Surface, open_ref: GrantRef) -> GrantRef | None:
    parts = surface.lower if open_ref.bound.is_lower else surface.upper
    for part in parts:
        for ref in part.positive if open_ref.bound.is_positive else part.negative:
            if (ref.card, ref.bound, ref.index) == (open_ref.card, open_ref.bound, open_ref.index):
                return ref
    return None


def _reason(effect: Effect, surface: Surface, holder: Holder, universe: Universe) -> str | None:
    named = ", ".join(_named(ref, holder) for ref in effect.related[:MAX_NAMED])
    match effect.standing:
        case Standing.NEEDED | Standing.UNDECIDED:
            return None
        case Standing.SHADOWED if effect.ref.bound.is_positive:
            return f"already {'held' if effect.ref.bound.is_lower else 'let through'} by {named}"
        case Standing.SHADOWED:
            return f"already denied by {named}"
        case Standing.NEVER_USABLE if effect.ref.bound is Bound.LOWER_POSITIVE:
            return _withheld(effect, surface, holder, universe)
        case _:
            return effect.reason


def _withheld(effect: Effect, surface: Surface, holder: Holder, universe: Universe) -> str:
    """What keeps a lower positive back, shown on one of its calls."""
    call = next((c for c in calls_in(calls_of([effect.ref.grant.target]), universe) if isinstance(c, Target)), None)
    if call is None:
        return effect.reason
    own = admitted_by(surface).of_class(call.cls.name)
    found = [o for o in obstacles_of(own, call) if o.obstacle is not Obstacle.NOT_GRANTED]
    words = "; ".join(_obstacle(o, holder) for o in found)
    return f"withheld: {words}" if words else effect.reason


def _obstacle(item: Withheld, holder: Holder) -> str:
    if item.obstacle is Obstacle.CEILING and not any(True for _ in item.grants):
        return "the ceiling lists nothing of its class"
    return obstacle_text(item, holder)


def _named(ref: GrantRef, holder: Holder) -> str:
    span = holder.place(ref)
    return shown(holder.written(ref)) + (f" ({span.where})" if span is not None and span.line else "")
