"""HOST002: an agent type that cannot read `GOLEM_AGENT_ID`. Page: start_up_read.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, own_target
from policyd.analysis.obstacles import obstacles_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

NAME = "GOLEM_AGENT_ID"


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every explicit card, not empty, that keeps the SDK from reading the id of its agent."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact or not any(e.is_written for e in card.of_bound(Bound.LOWER_POSITIVE)):
            continue
        target = own_target(card, "env", "read", NAME)
        if target is None or index.admits(target):
            continue
        obstacles = obstacles_of(index, target)
        yield rule.finding(
            f"agents of {shown(card.agent.name)} cannot read `{NAME}`, so the SDK cannot start an invocation",
            card.span,
            help=obstacles.help(f"env(?agent) @ ?agent : read : {NAME}", "unless the code does without an SDK"),
            related=obstacles.related,
            witness=call_text(target),
        )


RULE = Rule("HOST002", "start_up_read", Severity.WARNING, Confidence.LIKELY, check)
