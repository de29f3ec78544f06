"""CARD005: a card at a place where it does nothing for agents. Page: misplaced.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Related, Severity
from policyd.syntax.mistakes import shown

MAX_RELATED = 5
"""So many agent types are shown beside the card that does not reach them."""


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every card on a component, a component template or one of their presets."""
    bare = [agent for agent in subject.deployment.agents if agent.initial_card.is_default]
    for misplaced in subject.deployment.misplaced:
        remark = (
            "; under edition `next` the card of a component may serve tool calls that no agent makes, no agent's own"
            if subject.rules.is_next("external_tool_owner")
            else ""
        )
        related = [
            Related(f"agent type {shown(agent.name)} gets the default card instead, which grants widely", agent.span)
            for agent in bare[:MAX_RELATED]
        ]
        yield rule.finding(
            f"the card on {shown(misplaced.layer)} has no effect on agents: only `agents.<Type>` and its presets count",
            misplaced.span,
            help=f"move `initialCard` to `agents.<Type>` of every agent type it is meant for{remark}",
            related=related,
        )


RULE = Rule("CARD005", "misplaced", Severity.WARNING, Confidence.CERTAIN, check)
