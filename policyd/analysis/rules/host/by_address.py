"""HOST017: a negative on a host name that connecting by address goes past. Page: by_address.md."""

from __future__ import annotations

from collections.abc import Iterator

from policyd.analysis.card_calls import denials, own_call, written_call
from policyd.analysis.card_index import CardIndex, index_of
from policyd.analysis.rule import Rule
from policyd.analysis.subject import AuditedCard, Subject
from policyd.core.grants import Target
from policyd.core.grants.resources import NetworkResource
from policyd.core.grants.resources.network import Ports, is_ipv4
from policyd.findings import Confidence, Finding, Severity
from policyd.syntax.mistakes import shown

ADDRESSES = ("203.0.113.7", "198.51.100.7", "192.0.2.7")
"""Addresses that belong to nobody, for the call that is shown."""

USUAL_PORT = 443


def check(rule: Rule, subject: Subject) -> Iterator[Finding]:
    """Report every negative on a host name while the card lets its agents connect to any address on that port."""
    for card in subject.explicit_cards:
        index = index_of(subject, card)
        if not index.is_exact:
            continue
        open_calls: dict[int, Target | None] = {}
        for entry in denials(subject, card, "network"):
            resource = entry.grant.target.resource
            if not isinstance(resource, NetworkResource) or not _is_name(resource.host):
                continue
            port = USUAL_PORT if resource.ports.form == "any" else resource.ports.low
            if port not in open_calls:
                open_calls[port] = _open(card, index, port)
            call = open_calls[port]
            if call is None:
                continue
            yield rule.finding(
                f"the negative on {shown(resource.text)} holds for the name only: a socket connects to an address, and"
                " addresses are open",
                entry.placed.span,
                help="grant the hosts that may be reached instead of denying others by name; or deny the addresses too",
                witness=written_call(card, call),
            )


def _is_name(host: str) -> bool:
    """Whether a host pattern is about names, and covers no address."""
    return not is_ipv4(host) and not all(label == "*" or label.isdigit() for label in host.split("."))


def _open(card: AuditedCard, index: CardIndex, port: int) -> Target | None:
    """A connection to some address on that port which the card admits."""
    for address in ADDRESSES:
        call = own_call(card, "network", "connect", NetworkResource(address, Ports(port, port, "single")))
        if index.admits(call):
            return call
    return None


RULE = Rule("HOST017", "by_address", Severity.WARNING, Confidence.LIKELY, check)
