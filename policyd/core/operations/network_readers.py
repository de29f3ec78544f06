"""Readers of hosts, URLs and addresses.

Source: host 2.2, 4.4.
"""

from __future__ import annotations

import re

from policyd.core.grants.resources import NetworkResource
from policyd.core.grants.resources.network import PORT_MAX
from policyd.core.operations.network import (
    SOCKETS,
    WEB,
    Address,
    OutboundUrl,
    address_resource,
    lookup_resource,
    request_text,
    url_resource,
)
from policyd.core.operations.parameters import GENERATION, Parameter, Ports
from policyd.core.operations.question import Question, Read, read_each
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.operations.values import members_of, number_of, text_of


def read_host(value: object, parameter: Parameter, question: Question) -> Read:
    """A host to be resolved: any port."""
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else lookup_resource(text)


def read_url(value: object, parameter: Parameter, question: Question) -> Read:
    """A URL, or the parts of an outgoing request.

    The two generations differ in schemes other than `http` and `https`: P2 refuses them, P3 takes them for https.
    Where the generation is not given and decides, nothing is told.
    """
    generation = question.arguments.get(GENERATION)
    if generation is not None:
        return _requested(value, parameter, question, is_p2=generation == "p2")
    old, new = (_requested(value, parameter, question, is_p2=is_p2) for is_p2 in (True, False))
    if isinstance(old, Refusal) and not isinstance(new, Refusal):
        asked = f"asks for `{new.text}`" if isinstance(new, NetworkResource) else "reads it"
        return Unclear(GENERATION, f"`wasi` decides: P2 refuses the scheme, P3 takes it for https and {asked}")
    return new


def _requested(value: object, parameter: Parameter, question: Question, *, is_p2: bool) -> Read:
    parts = members_of(value)
    if parts is None:
        text = text_of(value, parameter.argument)
        return text if isinstance(text, Unclear) else _written(text, question.ports, is_p2=is_p2)
    given = {name: None if parts.get(name) is None else str(parts[name]) for name in _REQUEST}
    made = request_text(is_p2=is_p2, scheme=given["scheme"], authority=given["authority"], path=given["path"])
    found = made if isinstance(made, Refusal) else _sent_to(made, WEB, question.ports)
    if isinstance(found, Refusal) and is_p2:
        return Refusal(RefusalKind.URL, "HTTP-request-denied")  # P2 maps every failure on the way to this one
    return found


_OTHER_SCHEME = re.compile(r"[\x00-\x20]{0,64}([A-Za-z][A-Za-z0-9+.-]{0,63})://")


def _written(text: str, readers: Ports, *, is_p2: bool) -> Read:
    """A URL as people write it: a client makes the parts of a request of it."""
    found = _sent_to(text, WEB, readers)
    other = _OTHER_SCHEME.match(text)
    if not isinstance(found, Refusal) or is_p2 or other is None or other[1].lower() in WEB:
        return found
    return _sent_to(f"https://{text[other.end() :]}", WEB, readers)


_REQUEST = ("scheme", "authority", "path")


def read_websocket_url(value: object, parameter: Parameter, question: Question) -> Read:
    """The URL of a WebSocket."""
    text = text_of(value, parameter.argument)
    return text if isinstance(text, Unclear) else _sent_to(text, SOCKETS, question.ports)


def _sent_to(text: str, ports: dict[str, int], readers: Ports) -> Read:
    if readers.urls is None:
        return Unclear("url", "URLs are not read here")
    url = readers.urls.outbound(text, ports)
    return url_resource(url) if isinstance(url, OutboundUrl) else url


def read_address(value: object, parameter: Parameter, question: Question) -> Read:
    """The address of one socket."""
    address = _address_of(value, parameter.argument)
    return address if isinstance(address, Unclear) else address_resource(address)


def _address_of(value: object, name: str) -> Address | Unclear:
    if isinstance(value, str):
        host, colon, digits = value.rpartition(":")
        octets = None if ":" in host else host.split(".")
        port = number_of(digits if colon else None, name)
    else:
        parts = members_of(value) or {}
        raw = parts.get("v4")
        octets = [str(octet) for octet in raw] if isinstance(raw, (list, tuple)) else None
        if octets is None and "v6" not in parts:
            return Unclear(name, f"`{name}` is an address with a port")
        port = number_of(parts.get("port"), name)
    if isinstance(port, Unclear) or port > PORT_MAX:
        return Unclear(name, f"`{name}` needs a port up to {PORT_MAX}")
    if octets is None:
        return Address(None, port)
    if len(octets) != 4 or not all(map(_is_octet, octets)):
        return Unclear(name, f"`{name}` is an address, not a name: the name is resolved first")
    return Address(".".join(str(int(octet)) for octet in octets), port)


def read_addresses(value: object, parameter: Parameter, question: Question) -> Read:
    """The addresses of several datagrams; those without one ask for nothing."""
    items = value if isinstance(value, (list, tuple)) else (value,)
    addressed = tuple(item for item in items if item is not None)
    return read_each(addressed, lambda item: read_address(item, parameter, question))


def _is_octet(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and int(text) < 256
