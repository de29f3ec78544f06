"""CARD024: a network grant that looks like an address range. Page: cidr.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.grants.resources import NetworkResource
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every network grant whose host holds a slash: a range or a URL, read as a literal host name."""
    for card in subject.explicit_cards:
        for entry in card.entries:
            resource = entry.grant.target.resource
            if not entry.is_written or not isinstance(resource, NetworkResource) or "/" not in resource.host:
                continue
            effect = "covers" if entry.bound.is_positive else "denies"
            yield rule.finding(
                f"{shown(resource.host)} is read as one literal host name: the grant {effect} no address and no real"
                " host",
                entry.placed.span,
                help="name single addresses, or host names label by label with `*` for one label; there are no ranges"
                " of addresses and no paths",
            )


RULE = Rule("CARD024", "cidr", Severity.WARNING, Confidence.LIKELY, check)
