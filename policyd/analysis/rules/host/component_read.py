"""HOST003: an agent type that cannot read `GOLEM_COMPONENT_ID`. Page: component_read.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import call_text, index_of, own_target
from policyd.analysis.obstacles import obstacles_of
from policyd.analysis.rule import Rule
from policyd.analysis.rules.host.start_up_read import NAME as AGENT_ID
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

NAME = "GOLEM_COMPONENT_ID"


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every explicit card that lets the agent id be read, but not the component id beside it."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        first, second = (own_target(card, "env", "read", name) for name in (AGENT_ID, NAME))
        if first is None or second is None or not index.is_exact:
            continue
        if not index.admits(first) or index.admits(second):
            continue
        obstacles = obstacles_of(index, second)
        yield rule.finding(
            f"agents of {shown(card.agent.name)} cannot read `{NAME}`, which `get_agent_id()` of the Rust SDK needs",
            card.span,
            help=obstacles.help(f"env(?agent) @ ?agent : read : {NAME}", "if the code asks for its own id"),
            related=obstacles.related,
            witness=call_text(second),
        )


RULE = Rule("HOST003", "component_read", Severity.INFO, Confidence.POSSIBLE, check)
