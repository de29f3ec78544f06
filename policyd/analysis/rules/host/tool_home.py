"""HOST032: a tool grant that names the home of the tool instead of the caller's place. Page: tool_home.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.effect import is_unknown
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every tool grant for callers of this environment whose owner names another application or environment."""
    for card in subject.explicit_cards:
        own = card.context.segments
        for entry in card.entries:
            target, recipient = entry.grant.target, entry.grant.recipient
            if target.cls.name != "tool" or not entry.is_written or not entry.may_be_for_holder:
                continue
            named = target.owner.known
            if recipient.known[:3] != own[:3] or len(recipient.known) < 3 or len(named) < 2:
                continue
            pairs = tuple(zip(named[1:3], own[1:3], strict=False))
            if all(a == b for a, b in pairs) or any(is_unknown(name) for pair in pairs for name in pair):
                continue
            effect = "admits" if entry.bound.is_positive else "denies"
            place = "/".join(named[1:3])
            yield rule.finding(
                f"this {effect} no call: a tool is asked for in the application and environment of its caller, not in"
                f" {shown(place)}",
                entry.placed.span,
                help=f"write {shown('/'.join((named[0], *own[1:3], *(named[3:] or ('*', '*')))))} as the owner, or"
                " `?env/…` for a tool of the own account",
            )


RULE = Rule("HOST032", "tool_home", Severity.WARNING, Confidence.CERTAIN, check)
