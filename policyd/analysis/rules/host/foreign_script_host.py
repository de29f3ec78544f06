"""HOST018: a host name outside ASCII, which no URL asks for. Page: foreign_script_host.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import NetworkResource
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.domains import ascii_domain
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every network grant whose host name has letters outside ASCII."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not isinstance(resource, NetworkResource) or not entry.is_written or resource.host.isascii():
                continue
            spelled = ascii_domain(resource.host)
            instead = (
                f"write {shown(spelled + resource.ports.text)}" if isinstance(spelled, str) else "write the ASCII form"
            )
            effect = "covers" if entry.bound.is_positive else "denies"
            yield rule.finding(
                f"{shown(resource.host)} {effect} no HTTP request and no WebSocket: URLs ask for the name in ASCII",
                entry.placed.span,
                help=f"{instead}; a look-up asks for the spelling that the program uses",
            )


RULE = Rule("HOST018", "foreign_script_host", Severity.WARNING, Confidence.CERTAIN, check)
