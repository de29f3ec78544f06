"""Hosts and ports: labels from the right, then the port.

Source: cards 2.2 RS-net; host-operations 4.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.callsets.axes import ALL, ANY_PORT_ASKED, Axis, PortAxis, TextAxis
from policyd.core.callsets.below import Below
from policyd.core.callsets.frame import Frame, Parts, lengths_of, padded, product_frame, starred, texts_of
from policyd.core.grants.names import ascii_lower
from policyd.core.grants.resources import NetworkResource, Ports, Resource
from policyd.core.grants.resources.network import ANY_PORT, is_ipv4, looks_numeric
from policyd.core.grants.resources.segments import STAR

_TOP = ("com", "org", "net", "dev")
_SECOND = ("example", "acme", "other")
_LABELS = ("a", "b", "c", "www")


def host_frames(resources: Sequence[Resource]) -> Iterator[Frame]:
    """Hosts by their number of labels, from the right, then the port (RS-net)."""
    named = {len(r.host.split(".")) for r in resources if isinstance(r, NetworkResource) and r.host != STAR}
    # Names of two labels read best in examples, single ones worst.
    for count in sorted({2, *lengths_of(named, resources, 1)}, key=lambda n: (n == 1, n)):
        yield _host(count)


def _host(count: int) -> Frame:
    axes: list[Axis] = [TextAxis(_TOP if i == 0 else _SECOND if i == 1 else _LABELS) for i in range(count)]
    if count == 1:
        axes = [TextAxis(("localhost", "server", "other"))]

    def of(resource: Resource) -> Parts | None:
        match resource:
            case NetworkResource(host, ports):
                port = ALL if ports.form == "any" else ports
                if host == STAR:
                    return (*(ALL,) * count, port)
                named = [starred(ascii_lower(label)) for label in reversed(host.split("."))]
                return (*named, port) if len(named) == count else None
            case Below(words, _, ports):
                port = ALL if ports.form == "any" else ports
                labels = padded(words, count)
                return (*labels, port) if labels is not None else None
            case _:
                return None

    def build(values: Parts) -> Resource | None:
        host = ".".join(reversed(texts_of(values[:count])))
        if looks_numeric(host) and not is_ipv4(host):
            return None
        asked = values[count]
        if asked == ANY_PORT_ASKED:
            return NetworkResource(host, ANY_PORT)
        assert isinstance(asked, int)
        return NetworkResource(host, Ports(asked, asked, "single"))

    def memory(values: Parts) -> object:
        # A host of digits alone must be an address, which the labels decide together.
        labels = texts_of(values[:count])
        return labels if all(label.isascii() and label.isdigit() for label in labels) else None

    return product_frame((*axes, PortAxis()), of, build, memory)
