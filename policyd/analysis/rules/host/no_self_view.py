"""HOST013: a card without self-view that has nothing to hide. Page: no_self_view.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, self_view
from policyd.analysis.hidden import hidden_names
from policyd.analysis.obstacles import obstacles_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every explicit card, not empty, that does not lend self-view although that would expose nothing."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact or not any(e.is_written for e in card.of_bound(Bound.LOWER_POSITIVE)):
            continue
        target = self_view(card)
        if index.lends(target) is not None or hidden_names(subject, card):
            continue
        obstacles = obstacles_of(index, target)
        yield rule.finding(
            f"agents of {shown(card.agent.name)} cannot read their own metadata, which some SDK code needs",
            card.span,
            help=obstacles.help(
                "agent(?agent) @ ?agent : view :",
                "if the code runs infallible sagas (golem-rust 3), is a Scala base agent, or reads its own metadata",
            ),
            related=obstacles.related,
            witness=call_text(target),
        )


RULE = Rule("HOST013", "no_self_view", Severity.INFO, Confidence.POSSIBLE, check)
