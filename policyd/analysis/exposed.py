"""What reading other agents would show: the variables and config values that the manifest gives them.

Source: host 3.2, 3.6 SM-2, SM-3.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.analysis.card_index import index_of, own_target
from policyd.analysis.effect import THIS_AGENT
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.grants import Owner
from policyd.findings import Span
from policyd.syntax.mistakes import shown


@dataclass(frozen=True, slots=True)
class Exposed:
    """One agent type whose stored names are shown.

    Attributes:
        card: its card.
        words: one of the names, as a sentence part.
        span: where the manifest gives it.
    """

    card: AuditedCard
    words: str
    span: Span


def exposed_by(subject: Subject, reader: AuditedCard, owner: Owner) -> Exposed | None:
    """The first other agent type all of whose ordinary agents `owner` covers and that is given names to keep."""
    for card in subject.cards:
        if card.agent.name == reader.agent.name or not _covers_all(owner, card):
            continue
        for noun, places in (("variable", card.agent.env), ("config value", card.agent.config)):
            for place in places:
                if place.span is not None:
                    return Exposed(card, f"the {noun} {shown(place.name)} of {shown(card.agent.name)}", place.span)
    return None


def _covers_all(owner: Owner, card: AuditedCard) -> bool:
    path = (*card.context.segments, THIS_AGENT)
    if len(owner.known) < owner.kind.depth:
        return path[: len(owner.known)] == owner.known
    return owner.is_type_wildcard and owner.known == (*path[:4], card.agent.name)


def sees_all_of_its_own(subject: Subject, card: AuditedCard) -> bool:
    """Whether the card hides nothing of the own environment and configuration."""
    index = index_of(subject, card)
    return all(
        (target := own_target(card, name, "read", "*")) is not None and index.admits(target)
        for name in ("env", "config")
    )
