"""CARD023: a card whose holder may revoke cards. Page: card_revoke.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.effect import may_own
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB
from policyd.core.grants.resources import AnyResource
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant that lets agents revoke the cards they hold, their initial card among them."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        has_ceiling = any(e.may_be_for_holder for b in _UPPER for e in card.of_bound(b))
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            target = entry.grant.target
            if target.cls.name != "card" or target.verb not in (ANY_VERB, "revoke") or not entry.is_for_holder:
                continue
            if not entry.is_written or not isinstance(target.resource, AnyResource):
                continue
            if not may_own(target.owner, card.context.segments[:1]):
                continue
            named = type(target)(target.cls, target.owner, "revoke", target.resource)
            if not index.admits(named):
                continue
            sheds = ", and so shed the ceiling that this card sets" if has_ceiling else ""
            yield rule.finding(
                f"agents of {shown(card.agent.name)} may revoke cards: also their own initial card, which all agents"
                " of the"
                f" type share{sheds}",
                entry.placed.span,
                help="name the verbs that are needed, for example `derive`, `inspect` and `install`",
                severity=Severity.WARNING if has_ceiling else None,
            )


_UPPER = (Bound.UPPER_POSITIVE, Bound.UPPER_NEGATIVE)

RULE = Rule("CARD023", "card_revoke", Severity.INFO, Confidence.CERTAIN, check)
