"""Grants that other grants of the same list make superfluous.

Source: cards 4.3.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from policyd.analysis.grant_index import GrantIndex
from policyd.analysis.subject import AuditedCard, Entry, Subject
from policyd.core.cards import Bound

MAX_CANDIDATES = 4
"""So many grants of one pattern are compared by recipient; further ones of it are taken to be no help."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A grant and the one of its list that covers it.

    Attributes:
        entry: adds nothing.
        by: covers it, recipient included.
        is_equal: the two are the same grant.
    """

    entry: Entry
    by: Entry
    is_equal: bool


def repeats_of(subject: Subject, card: AuditedCard) -> tuple[Repeat, ...]:
    """Every superfluous grant of a card, computed once; a grant of the old alias is left alone."""
    return subject.once(f"repeats {card.agent.name}", lambda: _repeats(card))


def _repeats(card: AuditedCard) -> tuple[Repeat, ...]:
    found: list[Repeat] = []
    for bound in Bound:
        entries = [e for e in card.of_bound(bound) if e.is_written]
        texts = Counter(e.placed.span for e in entries)
        index = GrantIndex(entries)
        for entry in entries:
            if texts[entry.placed.span] > 1:
                continue
            repeat = _repeat(entry, index)
            if repeat is not None:
                found.append(repeat)
    return tuple(found)


def _repeat(entry: Entry, index: GrantIndex) -> Repeat | None:
    for other in index.covering(entry.grant.target, MAX_CANDIDATES):
        if other.index == entry.index or not other.grant.recipient.covers(entry.grant.recipient):
            continue
        if other.grant == entry.grant:
            if other.index < entry.index:
                return Repeat(entry, other, True)
        elif other.index < entry.index or not entry.grant.covers(other.grant):
            return Repeat(entry, other, False)
    return None
