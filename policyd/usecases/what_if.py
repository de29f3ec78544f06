"""What would start and stop if one grant of a card were added, removed or replaced.

Source: questions 2; interface, `what-if`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.application import GrantOrigin, InitialCard, PlacedGrant
from policyd.core.callsets import MAX_STEPS, Steps
from policyd.core.cards import Bound, GrantRef
from policyd.core.edition import Rules
from policyd.findings import InputError, Span
from policyd.syntax import Form, parse_grants
from policyd.syntax.mistakes import shown
from policyd.usecases.changes import MAX_SHOWN, Changes, changes_between
from policyd.usecases.cross_check import MAX_SECONDS
from policyd.usecases.holders import Holder, Holders
from policyd.usecases.idle_changes import idle_additions, idle_removals
from policyd.usecases.open_names import party_of

MAX_RANGES = 20
"""So many runs of lines with grants are listed."""

LISTS = {
    "lower-positive": Bound.LOWER_POSITIVE,
    "lower-negative": Bound.LOWER_NEGATIVE,
    "upper-positive": Bound.UPPER_POSITIVE,
    "upper-negative": Bound.UPPER_NEGATIVE,
}
"""The words by which users name the four lists."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to the cards of a manifest.

    Attributes:
        add: grant texts to add, with their lists.
        remove: places (`golem.yaml:14`, or a line) whose grants are taken away.
    """

    add: tuple[tuple[Bound, str], ...] = ()
    remove: tuple[str, ...] = ()


def what_if(
    holders: Holders,
    edit: Edit,
    rules: Rules,
    limit: int = MAX_SHOWN,
    *,
    is_cross_checked: bool = False,
    cross_check_s: float = MAX_SECONDS,
    steps: Steps = MAX_STEPS,
) -> Changes:
    """The difference that an edit makes, for every agent type it touches; for grants that change nothing, why.

    Args:
        holders: the agent types.
        edit: what comes and goes.
        rules: the edition.
        limit: the most witnesses for each agent type and direction.
        is_cross_checked: whether a solver has to come to the same result by another way.
        cross_check_s: the most seconds for that; what it does not reach is told.
        steps: the budget of one search, or the effort of all of them.

    Raises:
        InputError: if a grant cannot be read, or no grant stands at a place.
        InternalDefect: if the solver contradicts the result.
    """
    changed: dict[str, Holder] = {}
    idle: list[str] = []
    used: set[str] = set()
    for name, holder in holders.by_name.items():
        card = _without(holder.card, edit.remove, used)
        for bound, text in edit.add:
            card = _with(card, bound, text, rules)
            so_far = replace(holder, card=card, template=card.card(holder.context))
            if name not in holders.unreadable:
                idle += idle_additions(so_far, ((bound, text),), rules, steps)
        changed[name] = replace(holder, card=card, template=card.card(holder.context))
    for place in edit.remove:
        if place not in used:
            help = _lines(holders)
            raise InputError.of("CARD062", f"no grant of these agents stands at {shown(place)}", None, help)
    after = Holders("after the edit", changed, holders.notes)
    changes = changes_between(
        holders,
        after,
        rules,
        limit,
        is_cross_checked=is_cross_checked,
        cross_check_s=cross_check_s,
        steps=steps,
        is_silence_told=bool(edit.remove),  # of grants that only come, the reasons below tell
        others=holders.others,
    )
    if edit.remove and not edit.add:
        same = {party_of(change.name) for change in changes.holders if change.is_none}
        different = {party_of(change.name) for change in changes.holders if not change.is_none}
        for name in sorted(same - different - set(holders.unreadable)):
            holder = holders.by_name[name]
            idle += idle_removals(holder, _at(holder, edit.remove), rules, steps)
    return replace(changes, notes=(*changes.notes, *idle))


def _at(holder: Holder, places: tuple[str, ...]) -> list[GrantRef]:
    """The grants that stand at these places."""
    return [ref for ref in holder.refs if any(_is_at(holder.place(ref), place) for place in places)]


def _lines(holders: Holders) -> str:
    """Which lines hold grants, file by file."""
    lines: dict[str, set[int]] = {}
    for holder in holders.by_name.values():
        for _, _, placed in holder.card.each():
            if placed.span is not None and placed.span.line:
                lines.setdefault(placed.span.source, set()).add(placed.span.line)
    if not lines:
        return "no grant of their cards is written in a file"
    return "grants stand at " + "; ".join(f"{source}:{_ranges(sorted(found))}" for source, found in lines.items())


def _ranges(lines: list[int]) -> str:
    """`14-20, 25`, the first few of them."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and ranges[-1][-1] == line - 1:
            ranges[-1][1:] = [line]
        else:
            ranges.append([line])
    words = ["-".join(map(str, r)) for r in ranges[:MAX_RANGES]]
    return ", ".join(words) + (f" and {len(ranges) - MAX_RANGES} more places" if len(ranges) > MAX_RANGES else "")


def _with(card: InitialCard, bound: Bound, text: str, rules: Rules) -> InitialCard:
    added = tuple(
        PlacedGrant(grant, GrantOrigin.WRITTEN, text, Span("added"))
        for grant in parse_grants(text, Form.MANIFEST, rules)
    )
    return _changed(card, bound, (*card.of(bound), *added))


def _without(card: InitialCard, places: tuple[str, ...], used: set[str]) -> InitialCard:
    for bound in Bound:
        kept = []
        for placed in card.of(bound):
            hit = next((p for p in places if _is_at(placed.span, p)), None)
            if hit is None:
                kept.append(placed)
            else:
                used.add(hit)
        card = _changed(card, bound, tuple(kept))
    return card


def _is_at(span: Span | None, place: str) -> bool:
    """Whether a place names the line (and the file, and the column, where it does) of `span`."""
    if span is None:
        return False
    words = place.split(":")
    if len(words) == 1:
        return words[0] == str(span.line)
    numbers = [word for word in words[-2:] if word.isdigit()]
    source = ":".join(words[: len(words) - len(numbers)])
    line = numbers[0] if numbers else ""
    column = numbers[1] if len(numbers) == 2 else ""
    same_file = span.source == source or span.source.endswith(f"/{source}")
    return same_file and line == str(span.line) and (not column or column == str(span.column))


def _changed(card: InitialCard, bound: Bound, grants: tuple[PlacedGrant, ...]) -> InitialCard:
    match bound:
        case Bound.LOWER_POSITIVE:
            return replace(card, lower_positive=grants)
        case Bound.LOWER_NEGATIVE:
            return replace(card, lower_negative=grants)
        case Bound.UPPER_POSITIVE:
            return replace(card, upper_positive=grants)
        case Bound.UPPER_NEGATIVE:
            return replace(card, upper_negative=grants)
