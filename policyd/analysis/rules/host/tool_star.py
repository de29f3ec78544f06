"""HOST008: a star argument in a tool grant, which no call carries. Page: tool_star.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import Invocation
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every tool grant with a star in an argument: as a symbol of its own, or inside a literal."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not entry.is_written or not isinstance(resource, Invocation):
                continue
            stars = [argument for argument in resource.arguments if argument.symbol or "*" in argument.text]
            if not stars:
                continue
            effect = "admits" if entry.bound.is_positive else "denies"
            is_never = any(argument.symbol for argument in stars)
            what = "no call at all" if is_never else "only the call with that literal text"
            yield rule.finding(
                f"the star in the argument {shown(stars[0].text)} is no wildcard: the grant {effect} {what}",
                entry.placed.span,
                help="only a bare `*` in place of command and arguments is one: write the exact call, or `*` for all",
                confidence=Confidence.CERTAIN if is_never else Confidence.LIKELY,
            )


RULE = Rule("HOST008", "tool_star", Severity.WARNING, Confidence.CERTAIN, check)
