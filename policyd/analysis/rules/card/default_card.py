"""CARD007: an agent type without a card of its own. Page: default_card.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.application import AgentType
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every agent type that gets the fourteen default grants."""
    for card in subject.cards:
        if card.is_explicit:
            continue
        name = card.agent.name
        where = "" if card.agent.is_declared else ", which is named here only and not under `agents`,"
        yield rule.finding(
            f"agent type {shown(name)}{where} has no card of its own: it gets the default card, which opens every host,"
            f" file, secret, store and agent of the environment{_shell(card.agent)}",
            card.span,
            help=f"write the grants it needs under `agents.{name}.initialCard.lowerBound.positive`",
        )


def _shell(agent: AgentType) -> str:
    """The tool that `defaultTools` binds unasked, which the default card lets it call (manifest-format 8)."""
    bound = [shown(tool.name) for tool in agent.tools if tool.is_default]
    return f", and the tool {bound[0]}, bound unasked unless `defaultTools: []` is written" if bound else ""


RULE = Rule("CARD007", "default_card", Severity.INFO, Confidence.CERTAIN, check)
