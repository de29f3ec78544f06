"""HOST004: self-view that is granted below and withheld above. Page: self_view_withheld.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, self_view
from policyd.analysis.obstacles import obstacles_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant of self-view that the upper bound of the same card does not let through."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        target = self_view(card)
        granting = index.lends(target)
        if not index.is_exact or granting is None or not granting.is_written or index.lets_through(target):
            continue
        obstacles = obstacles_of(index, target)
        yield rule.finding(
            f"self-view is granted to agents of {shown(card.agent.name)}, but their upper bound withholds it",
            granting.placed.span,
            help=obstacles.help("agent(?agent) @ ?agent : view :", "or drop the grant"),
            related=obstacles.related,
            witness=call_text(target),
        )


RULE = Rule("HOST004", "self_view_withheld", Severity.WARNING, Confidence.CERTAIN, check)
