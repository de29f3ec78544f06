"""URL parsing as the WHATWG describes it, as far as scheme and host.

Only what decides whether a text is a URL, and what its scheme and host are, is worked out; path, query and fragment
never make a URL invalid.

Source: middleware 8.2.
"""

from __future__ import annotations

import ipaddress
import re

from policyd.core.schema.engines import ParsedUrl, UrlVerdict
from policyd.syntax.domains import ascii_domain

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=:)")
_SPECIAL = frozenset({"http", "https", "ws", "wss", "ftp", "file"})
_DRIVE = re.compile(r"[A-Za-z][:|](?=[/\\?#]|$)")
_FORBIDDEN_HOST = frozenset("\x00\t\n\r #/:<>?@[\\]^|")
_FORBIDDEN_DOMAIN = _FORBIDDEN_HOST | frozenset(map(chr, range(0x20))) | {"%", "\x7f"}
MAX_URL = 65_536
"""Longer texts get no answer."""


class WhatwgUrls:
    """The port `policyd.core.schema.engines.UrlEngine`."""

    def parse(self, text: str) -> ParsedUrl | UrlVerdict:
        """Scheme and host of an absolute URL, or why there is none."""
        if len(text) > MAX_URL:
            return UrlVerdict.UNKNOWN
        trimmed = text.strip("".join(map(chr, range(0x21)))).translate({9: None, 10: None, 13: None})
        found = _SCHEME.match(trimmed)
        if found is None:
            return UrlVerdict.INVALID
        scheme = found[0].lower()
        rest = trimmed[found.end() + 1 :]
        if scheme == "file":
            return _file(rest)
        if scheme in _SPECIAL:
            return _with_authority(scheme, rest.lstrip("/\\"), "/\\?#", required=True)
        if rest.startswith("//"):
            return _with_authority(scheme, rest[2:], "/?#", required=False)
        return ParsedUrl(scheme, None)


def _file(rest: str) -> ParsedUrl | UrlVerdict:
    """A `file` URL: a host only behind two slashes, and a drive letter is none."""
    after = rest.replace("\\", "/")
    if not after.startswith("//") or _DRIVE.match(rest, 2):
        return ParsedUrl("file", None)
    host = re.split(r"[/\\?#]", rest[2:], maxsplit=1)[0]
    if not host:
        return ParsedUrl("file", None)
    parsed = _special_host(host)
    if isinstance(parsed, UrlVerdict):
        return parsed
    return ParsedUrl("file", None if parsed == "localhost" else parsed)


def _with_authority(scheme: str, rest: str, ends: str, *, required: bool) -> ParsedUrl | UrlVerdict:
    """What stands behind `//`: credentials, host and port."""
    cut = min((i for i in map(rest.find, ends) if i >= 0), default=len(rest))
    authority = rest[:cut]
    credentials, has_credentials, host_and_port = authority.rpartition("@")
    host, port = _split_port(host_and_port)
    if port is None or (port and int(port.lstrip("0") or "0") > 0xFFFF):
        return UrlVerdict.INVALID
    if not host:
        if required or has_credentials or credentials or host_and_port:
            return UrlVerdict.INVALID
        return ParsedUrl(scheme, None)
    parsed = _special_host(host) if required else _opaque_host(host)
    return parsed if isinstance(parsed, UrlVerdict) else ParsedUrl(scheme, parsed)


def _split_port(text: str) -> tuple[str, str | None]:
    """Host and port; the port is None when it is not made of ASCII digits."""
    colon = text.find(":", text.rfind("]") + 1 if text.startswith("[") else 0)
    if colon < 0:
        return text, ""
    port = text[colon + 1 :]
    if len(port.lstrip("0")) > 5 or (port and not (port.isascii() and port.isdigit())):
        return text[:colon], None
    return text[:colon], port


def _ipv6(text: str) -> str | UrlVerdict:
    if not text.endswith("]") or "%" in text or not text.isascii():
        return UrlVerdict.INVALID
    try:
        return f"[{ipaddress.IPv6Address(text[1:-1]).compressed}]"
    except ValueError:
        return UrlVerdict.INVALID


def _opaque_host(host: str) -> str | UrlVerdict:
    """The host of a scheme that is not special: kept, with control and other characters percent-encoded."""
    if host.startswith("["):
        return _ipv6(host)
    if any(c in _FORBIDDEN_HOST for c in host):
        return UrlVerdict.INVALID
    return "".join(c if " " <= c <= "~" else "".join(f"%{b:02X}" for b in c.encode()) for c in host)


def _special_host(host: str) -> str | UrlVerdict:
    """The host of a special scheme: percent-decoded, mapped to ASCII, perhaps an IPv4 number."""
    if host.startswith("["):
        return _ipv6(host)
    try:
        decoded = _percent_decoded(host)
    except UnicodeDecodeError:
        return UrlVerdict.INVALID
    domain = ascii_domain(decoded)
    if isinstance(domain, UrlVerdict):
        return domain
    if not domain or any(c in _FORBIDDEN_DOMAIN for c in domain):
        return UrlVerdict.INVALID
    return _ipv4(domain) if _ends_in_number(domain) else domain


def _percent_decoded(text: str) -> str:
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found[1], 16)]), text.encode("utf-8", "surrogatepass"))
    return raw.decode("utf-8")


def _ends_in_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    last = parts[-1]
    return bool(last) and (last.isdigit() or re.fullmatch(r"0[xX][0-9A-Fa-f]*", last) is not None)


def _ipv4_part(text: str) -> int | None:
    match text[:2].lower(), text[:1]:
        case "0x", _:
            digits, base = text[2:], 16
        case _, "0" if len(text) > 1:
            digits, base = text[1:], 8
        case _:
            digits, base = text, 10
    if not text or len(digits) > 64:
        return None
    if set(digits) & set("+-_ "):
        return None  # Python reads more than digits
    try:
        return int(digits, base) if digits else 0
    except ValueError:
        return None


def _ipv4(domain: str) -> str | UrlVerdict:
    """The dotted form of an IPv4 number in any of its spellings."""
    parts = domain.removesuffix(".").split(".")
    numbers = [_ipv4_part(part) for part in parts]
    known = [number for number in numbers if number is not None]
    if len(parts) > 4 or len(known) < len(numbers) or any(n > 255 for n in known[:-1]):
        return UrlVerdict.INVALID
    if known[-1] >= 256 ** (5 - len(known)):
        return UrlVerdict.INVALID
    value = known[-1] + sum(number << (8 * (3 - index)) for index, number in enumerate(known[:-1]))
    return str(ipaddress.IPv4Address(value))
