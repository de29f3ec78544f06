"""What would start and stop if one grant of a card were added, removed or replaced.

Source: questions 2; interface, `what-if`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policyd.core.application import GrantOrigin, InitialCard, PlacedGrant
from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.findings import InputError, Span
from policyd.syntax import Form, parse_grants
from policyd.syntax.mistakes import shown
from policyd.usecases.changes import MAX_SHOWN, Changes, changes_between
from policyd.usecases.holders import Holder, Holders

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


def what_if(holders: Holders, edit: Edit, rules: Rules, limit: int = MAX_SHOWN) -> Changes:
    """The difference that an edit makes, for every agent type it touches, with at most `limit` witnesses each way.

    Raises:
        InputError: if a grant cannot be read, or no grant stands at a place.
    """
    changed: dict[str, Holder] = {}
    used: set[str] = set()
    for name, holder in holders.by_name.items():
        card = _without(holder.card, edit.remove, used)
        for bound, text in edit.add:
            card = _with(card, bound, text, rules)
        changed[name] = replace(holder, card=card, template=card.card(holder.context))
    for place in edit.remove:
        if place not in used:
            help = "name a line such as `golem.yaml:14`"
            raise InputError.of("CARD062", f"no grant of these agents stands at {shown(place)}", None, help)
    return changes_between(holders, Holders("after the edit", changed, holders.notes), rules, limit)


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
