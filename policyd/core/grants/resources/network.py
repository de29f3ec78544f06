"""Network resources: a host pattern and ports.

Source: cards 2.2 RS-net.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources.exact import Resource

PORT_MAX = 65535


@dataclass(frozen=True, slots=True)
class Ports:
    """Any port, one port, or an inclusive range; a range of one is not a single port.

    Attributes:
        low: first port, 0 for any.
        high: last port, 65535 for any.
        form: `any`, `single` or `range`.
    """

    low: int
    high: int
    form: str

    def covers(self, narrow: Ports) -> bool:
        """Whether every port of `narrow` is one of these.

        >>> Ports(80, 80, "single").covers(Ports(80, 80, "range"))
        False
        >>> Ports(1, 65535, "range").covers(ANY_PORT)
        False
        """
        if self.form == "any":
            return True
        if self.form == "single":
            return self == narrow
        return narrow.form != "any" and self.low <= narrow.low and narrow.high <= self.high

    @property
    def text(self) -> str:
        """The canonical text with its colon, empty for any port."""
        match self.form:
            case "any":
                return ""
            case "single":
                return f":{self.low}"
            case _:
                return f":{self.low}-{self.high}"


ANY_PORT = Ports(0, PORT_MAX, "any")


@dataclass(frozen=True, slots=True)
class NetworkResource:
    """Hosts and ports; the bare `*` is `AnyResource` and covers all of these.

    Attributes:
        host: `*`, or labels joined by dots, each a literal in lower case or `*`.
        ports: which ports.
    """

    host: str
    ports: Ports = ANY_PORT

    def covers(self, narrow: Resource) -> bool:
        """Whether host and ports of `narrow` are inside these; one `*` label stands for exactly one label."""
        return (
            isinstance(narrow, NetworkResource)
            and self.ports.covers(narrow.ports)
            and (self.host in ("*", narrow.host) or _labels_cover(self.host, narrow.host))
        )

    @property
    def text(self) -> str:
        """The canonical text."""
        return self.host + self.ports.text


def _labels_cover(broad: str, narrow: str) -> bool:
    left, right = broad.split("."), narrow.split(".")
    return len(left) == len(right) and all(
        a == "*" or ascii_lower(a) == ascii_lower(b) for a, b in zip(left, right, strict=True)
    )


def is_ipv4(host: str) -> bool:
    """Whether `host` is four decimal octets without leading zeros."""
    octets = host.split(".")
    return len(octets) == 4 and all(
        o.isascii() and o.isdigit() and len(o) <= 3 and int(o) <= 255 and (o == "0" or o[0] != "0") for o in octets
    )


def looks_numeric(host: str) -> bool:
    """Whether `host` consists of ASCII digits and dots only, and so must be an address."""
    return host.isascii() and host.replace(".", "").isdigit()
