"""HOST029: the metadata of other agents, which shows their variables and config values. Page: sibling_view.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import written, written_call
from policyd.analysis.card_index import index_of
from policyd.analysis.exposed import exposed_by, sees_all_of_its_own
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import ANY_VERB, Target
from policyd.core.grants.resources.exact import ANY, EMPTY
from policyd.findings import Confidence, Finding, Related, Severity


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report one grant per card that shows what others are given to agents that see only some of their own."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact or sees_all_of_its_own(subject, card):
            continue
        for entry in written(subject, card, Bound.LOWER_POSITIVE, "agent"):
            target = entry.grant.target
            if target.verb not in ("view", ANY_VERB) or target.resource not in (ANY, EMPTY):
                continue
            exposed = exposed_by(subject, card, target.owner)
            call = Target(target.cls, target.owner, "view", EMPTY)
            if exposed is None or not index.admits(call):
                continue
            yield rule.finding(
                f"the metadata of other agents is open: it shows all that they are given, as {exposed.words}",
                entry.placed.span,
                help="name the agents that must be viewed, or drop it: calling an agent needs `invoke` only",
                related=[Related("given here", exposed.span)],
                witness=written_call(card, call),
            )
            break


RULE = Rule("HOST029", "sibling_view", Severity.WARNING, Confidence.LIKELY, check)
