"""Hosts, addresses and URLs as the network targets name them.

Source: host 2.2, 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from policyd.core.grants.names import WHITE_SPACE, ascii_lower, trim
from policyd.core.grants.resources import NetworkResource, Ports
from policyd.core.grants.resources.network import ANY_PORT, is_ipv4, looks_numeric
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear

WEB = {"http": 80, "https": 443}
SOCKETS = {"ws": 80, "wss": 443}
"""The schemes of the two interfaces, with their default ports."""


@dataclass(frozen=True, slots=True)
class OutboundUrl:
    """The parts of a URL that is sent to.

    Attributes:
        scheme: in lower case.
        host: as the URL parser leaves it, not yet normalised for a target.
        port: the effective port.
        path: as the URL parser leaves it; not part of the target.
    """

    scheme: str
    host: str
    port: int
    path: str


class UrlReader(Protocol):
    """Reads URLs as browsers do."""

    def outbound(self, text: str, ports: dict[str, int]) -> OutboundUrl | Refusal | Unclear:
        """The URL, refused unless its scheme is one of `ports` and it has a host and no credentials."""

    def path_of(self, text: str) -> str | Refusal:
        """The path of any absolute URL."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address of a socket.

    Attributes:
        ip: four octets as dotted text; None for any other family.
        port: 0 to 65535.
    """

    ip: str | None
    port: int


def host_name(text: str) -> str | Refusal:
    """The host as a target spells it.

    >>> host_name(" API.Example.com.. ")
    'api.example.com'
    """
    host = trim(text).rstrip(".")
    if not host or any(c in WHITE_SPACE or c in ":*" for c in host):
        return Refusal(RefusalKind.ADDRESS, f"invalid network address: {host}")
    if is_ipv4(host):
        return host
    if looks_numeric(host):
        return Refusal(RefusalKind.ADDRESS, f"invalid network address: {host}")
    if any(not label for label in host.split(".")):
        return Refusal(RefusalKind.RESOURCE, f"invalid network resource: {host}")
    return ascii_lower(host)


def lookup_resource(text: str) -> NetworkResource | Refusal:
    """What resolving a name asks for: the host with any port."""
    host = host_name(text)
    return host if isinstance(host, Refusal) else NetworkResource(host, ANY_PORT)


def url_resource(url: OutboundUrl) -> NetworkResource | Refusal:
    """What sending to a URL asks for: its host and effective port."""
    host = host_name(url.host)
    return host if isinstance(host, Refusal) else NetworkResource(host, _single(url.port))


def address_resource(address: Address) -> NetworkResource | Refusal:
    """What connecting a socket asks for: the address, never a name."""
    if address.ip is None:
        return Refusal(RefusalKind.ADDRESS, "not an IPv4 address")
    return NetworkResource(address.ip, _single(address.port))


def _single(port: int) -> Ports:
    return Ports(port, port, "single")


def request_text(*, is_p2: bool, scheme: str | None, authority: str | None, path: str | None) -> str | Refusal:
    """The URL text that the host puts together from the parts of an outgoing request.

    A request without a scheme is https; P2 refuses other schemes than `http` and `https`, so spelled, and P3 takes
    them for https. Nothing stands between the parts, so that a path may become the host where there is no authority.
    """
    used = "https" if scheme is None else scheme
    if used not in WEB:
        if is_p2:
            return Refusal(RefusalKind.URL, "HTTP-request-denied")
        used = "https"
    return f"{used}://{authority or ''}{path or ''}"
