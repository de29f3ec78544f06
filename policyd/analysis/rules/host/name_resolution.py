"""HOST005: a port of a named host without the right to resolve the name. Page: name_resolution.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_index import index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import Subject
from policyd.core.cards import Bound
from policyd.core.grants import Target
from policyd.core.grants.resources import NetworkResource
from policyd.core.grants.resources.network import ANY_PORT, is_ipv4
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every lower grant for ports of a host name while no grant covers looking the name up."""
    for card in subject.explicit_cards:
        if not card.is_readable:
            continue
        index = index_of(subject, card)
        for entry in card.of_bound(Bound.LOWER_POSITIVE):
            target = entry.grant.target
            resource = target.resource
            if not isinstance(resource, NetworkResource) or not entry.is_written or not entry.is_for_holder:
                continue
            if resource.ports == ANY_PORT or is_ipv4(resource.host) or "/" in resource.host:
                continue
            lookup = Target(target.cls, target.owner, "connect", NetworkResource(resource.host))
            if index.covering(Bound.LOWER_POSITIVE, lookup):
                continue
            yield rule.finding(
                f"{shown(resource.text)} does not cover resolving the name: a client that looks names up itself is"
                " refused",
                entry.placed.span,
                help=f"grant {shown(resource.host)} without a port if a socket or database client connects, and the"
                " addresses it connects to; the former opens all ports of the name. Outgoing HTTP needs neither",
            )


RULE = Rule("HOST005", "name_resolution", Severity.INFO, Confidence.POSSIBLE, check)
