"""HOST030: the oplog shows what the card keeps back. Page: oplog_exposes.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import own_call, written, written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.exposed import exposed_by, sees_all_of_its_own
from policyd.analysis.hidden import hidden_names
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.grants.resources import OplogRange
from policyd.core.operations.agents import GUEST_PAGE
from policyd.findings import Confidence, Finding, Related, Severity, Span
from policyd.syntax.mistakes import shown

_FIRST = OplogRange(1, GUEST_PAGE)
"""The page with the entry of creation, which holds the environment and the configuration."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report one grant per card that opens an oplog in which hidden names of the agent or of others are recorded."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "oplog"):
            target = entry.grant.target
            if not target.resource.covers(_FIRST):
                continue
            found = _shown_by(subject, card, index, target)
            if found is None:
                continue
            call, words, span = found
            yield rule.finding(
                f"the oplog shows agents of {shown(card.agent.name)} what is kept from them: {words}",
                entry.placed.span,
                help="start the range behind the entry of creation if the rest is needed, and mind that calls and their"
                " answers are recorded too; or drop the grant",
                related=[Related("given or denied here", span)],
                witness=written_call(card, call),
            )
            break


def _shown_by(
    subject: Subject, card: AuditedCard, index: CardIndex, granted: Target
) -> tuple[Target, str, Span] | None:
    """An admitted read of a first page that shows hidden names: of the own oplog, else of that of others."""
    own = own_call(card, "oplog", "read", _FIRST)
    hidden = hidden_names(subject, card)
    if hidden and granted.owner.covers(own.owner) and index.admits(own):
        return own, hidden[0].words, hidden[0].span
    others = Target(granted.cls, granted.owner, "read", _FIRST)
    if sees_all_of_its_own(subject, card) or not index.admits(others):
        return None
    exposed = exposed_by(subject, card, granted.owner)
    return None if exposed is None else (others, exposed.words, exposed.span)


RULE = Rule("HOST030", "oplog_exposes", Severity.WARNING, Confidence.LIKELY, check)
