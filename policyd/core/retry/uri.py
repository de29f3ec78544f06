"""Decomposition of URIs as the platform does it for property bags.

The WHATWG algorithm without a base, with the two habits of the platform's library.

Source: retry 2.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from policyd.core.retry.uri_host import host_of, percent_decode, percent_encode

MAX_URI = 65_536
"""Longer texts are not taken apart."""

SPECIAL_PORTS: dict[str, int | None] = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_PATH_SET = frozenset(' "#<>?`{}')
_USER_SET = _PATH_SET | frozenset("/:;=@[\\]^|")
_ONE_DOT = frozenset((".", "%2e"))
_TWO_DOTS = frozenset(("..", ".%2e", "%2e.", "%2e%2e"))
_DRIVE = re.compile(r"[A-Za-z][:|]")


@dataclass(frozen=True, slots=True)
class Uri:
    """The parts of a URI that property bags are made of.

    Attributes:
        scheme: in lower case.
        host: None where there is none.
        port: None where none is written or it is the scheme's own.
        path: percent-encoded, without query and fragment.
        query: as written, None where there is none.
        user: percent-encoded, may be empty.
        has_password: whether a password, not empty, is written.
    """

    scheme: str
    host: str | None
    port: int | None
    path: str
    query: str | None = None
    user: str = ""
    has_password: bool = False


def parse_uri(text: str) -> Uri | None:
    """Take a URI apart; None when the text is none.

    >>> uri = parse_uri("https://API.acme.test:443/v1?x")
    >>> (uri.scheme, uri.host, uri.port, uri.path)
    ('https', 'api.acme.test', None, '/v1')
    """
    text = text.strip("".join(map(chr, range(0x21))))
    text = text.replace("\t", "").replace("\n", "").replace("\r", "")
    found = _SCHEME.match(text) if len(text) <= MAX_URI else None
    if found is None:
        return None
    scheme, rest = found[1].lower(), text[found.end() :]
    rest, hidden, _ = rest.partition("#")
    special = scheme in SPECIAL_PORTS
    # Only a backslash before the query separates; what follows `?` is never looked at.
    rest, mark, query = rest.partition("?")
    asked = query if mark else None
    if scheme == "file":
        return _file(rest, asked)
    if special:
        return _with_authority(scheme, rest.lstrip("/\\"), asked, ends_here=not hidden)
    if rest.startswith("//"):
        return _with_authority(scheme, rest[2:], asked, ends_here=not hidden)
    if rest.startswith("/"):
        return Uri(scheme, None, None, _path(rest, special=False), asked)
    return Uri(scheme, None, None, percent_encode(rest, frozenset()), asked)


def _with_authority(scheme: str, rest: str, query: str | None, *, ends_here: bool) -> Uri | None:
    special = scheme in SPECIAL_PORTS
    end = min((i for i in (rest.find("/"), rest.find("\\") if special else -1) if i >= 0), default=len(rest))
    authority, path = rest[:end], rest[end:]
    credentials, at, host_port = authority.rpartition("@")
    user, _, password = credentials.partition(":")
    cut = _port_mark(host_port)
    host_text, port_text = host_port[:cut], host_port[cut + 1 :]
    if "\\" in port_text:
        port_text, slash, behind = port_text.partition("\\")
        path = slash + behind + path
    host = host_of(host_text, special=special) if host_text else ("" if not special else None)
    # An empty host follows no credentials and no port; `scheme://@` with nothing behind it is let through.
    bare = not credentials and not path and query is None and ends_here
    if host is None or (host == "" and ((at and not bare) or cut < len(host_port))):
        return None
    port = _port(port_text)
    if port is None:
        return None
    shown = None if port < 0 or port == SPECIAL_PORTS.get(scheme) else port
    written = _path(path, special=special) if path or special else ""
    user = percent_encode(user, _USER_SET)
    return Uri(scheme, host or None, shown, written, query, user, has_password=bool(password))


def _port_mark(text: str) -> int:
    """Where the colon before the port stands; the length of the text where there is none."""
    inside = False
    for place, char in enumerate(text):
        if char == ":" and not inside:
            return place
        inside = char == "[" or (inside and char != "]")
    return len(text)


def _port(text: str) -> int | None:
    """The port; -1 for none written, None for one that is not allowed."""
    if not text:
        return -1
    if not (text.isascii() and text.isdigit()):
        return None
    significant = text.lstrip("0") or "0"
    return int(significant) if len(significant) <= 5 and int(significant) <= 65_535 else None


def _file(rest: str, query: str | None) -> Uri | None:
    host = ""
    # The library writes a drive letter anew everywhere but behind three slashes.
    renewed = not rest.replace("\\", "/").startswith("///")
    if rest[:1] in ("/", "\\") and rest[1:2] in ("/", "\\") and len(rest) > 1:
        rest = rest[2:]
        end = min((i for i in (rest.find("/"), rest.find("\\")) if i >= 0), default=len(rest))
        authority = rest[:end]
        if not (len(authority) == 2 and _DRIVE.match(authority)):
            rest = rest[end:]
            if authority:
                found = host_of(authority, special=True)
                if found is None:
                    return None
                host = "" if found == "localhost" else found
    path = "/" + _path(rest, special=True, file=True).lstrip("/")
    drive, slash, behind = path[1:].partition("/")
    if renewed and _is_drive(drive):
        host = host if path[1:2] != rest.lstrip("/\\")[:1] or rest[1:2] in ("/", "\\") else ""
        path = f"/{drive[0]}:{slash}{behind}"
    return Uri("file", host or None, None, path, query)


def _path(text: str, *, special: bool, file: bool = False) -> str:
    """The path with its dot segments resolved and its characters encoded."""
    if special:
        text = text.replace("\\", "/")
    if text.startswith("/"):
        text = text[1:]
    segments: list[str] = []
    parts = text.split("/")
    for place, part in enumerate(parts):
        last = place == len(parts) - 1
        lowered = part.lower()
        if lowered in _TWO_DOTS:
            if segments and not (file and len(segments) == 1 and _is_drive(segments[0])):
                segments.pop()
            if last:
                segments.append("")
        elif lowered in _ONE_DOT:
            if last:
                segments.append("")
        else:
            segments.append(percent_encode(part, _PATH_SET))
    return "/" + "/".join(segments)


def _is_drive(segment: str) -> bool:
    return len(segment) == 2 and _DRIVE.match(segment) is not None


def masked_address(address: str) -> str | None:
    """The noun of a database: the address composed anew with its password and secrets masked.

    None when the address is no URI.

    >>> masked_address("postgres://u:p@h/db?secret=1")
    'postgres://u:*****@h/db?secret=*****'

    Source: retry 2.1.
    """
    uri = parse_uri(address)
    if uri is None:
        return None
    user = uri.user + (":*****" if uri.has_password else "")
    noun = f"{uri.scheme}://{user}{'@' if user else ''}{uri.host or ''}"
    if uri.port is not None:
        noun += f":{uri.port}"
    pairs = [_pair(item) for item in (uri.query or "").split("&") if item]
    return noun + uri.path + ("?" + "&".join(pairs) if pairs else "")


def _pair(item: str) -> str:
    name, _, value = item.partition("=")
    name, value = (percent_decode(part.replace("+", " ")) for part in (name, value))
    return f"{name}={'*****' if name in ('password', 'secret') else value}"
