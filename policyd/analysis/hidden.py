"""Which variables and config values the card of an agent type keeps from its agents.

Source: host 3.6 SM-1.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.analysis.card_index import CardIndex, index_of, own_target
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import Bound
from policyd.findings import Span
from policyd.syntax.mistakes import shown


@dataclass(frozen=True, slots=True)
class Hidden:
    """Something the card keeps back.

    Attributes:
        words: what, as a sentence part.
        span: where the manifest gives it, or the negative that hides it.
    """

    words: str
    span: Span


def hidden_names(subject: Subject, card: AuditedCard) -> tuple[Hidden, ...]:
    """The variables and config values of the manifest that are not admitted, and what negatives name besides."""
    return subject.once(f"hidden {card.agent.name}", lambda: _hidden(index_of(subject, card)))


def _hidden(index: CardIndex) -> tuple[Hidden, ...]:
    card = index.card
    found: list[Hidden] = []
    for cls, noun, places in (("env", "variable", card.agent.env), ("config", "config value", card.agent.config)):
        for place in places:
            target = own_target(card, cls, "read", place.name)
            if target is not None and place.span is not None and not index.admits(target):
                found.append(Hidden(f"the {noun} {shown(place.name)}", place.span))
    for bound in (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE):
        for entry in card.of_bound(bound):
            target = entry.grant.target
            if target.cls.name in ("env", "config") and entry.is_for_holder and entry.placed.span is not None:
                found.append(Hidden(f"`{target.cls.name}` {shown(target.resource.text)}", entry.placed.span))
    return tuple(found)
