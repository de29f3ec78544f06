"""URLs that are sent to, and addresses of databases, as the WHATWG describes URLs.

Source: host 4.4, 4.7.
"""

from __future__ import annotations

import re

from policyd.core.operations.network import OutboundUrl
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear
from policyd.core.schema.engines import UrlVerdict
from policyd.syntax.urls import MAX_URL, WhatwgUrls

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ENDS = re.compile(r"[/\\?#]")
_OPAQUE_ENDS = re.compile(r"[/?#]")
_SPECIAL = frozenset({"http", "https", "ws", "wss", "ftp", "file"})
_CONTROL_OR_SPACE = "".join(map(chr, range(0x21)))
_DROPPED = {9: None, 10: None, 13: None}
_PATH_ENCODED = frozenset('"#<>?`{} ')
"""What is encoded in paths. The platform's parser leaves `^` alone, which the standard encodes since."""
_DOTS = {".": ".", "%2e": ".", "..": "..", ".%2e": "..", "%2e.": "..", "%2e%2e": ".."}


class OutboundUrls:
    """The port `policyd.core.operations.network.UrlReader`."""

    def outbound(self, text: str, ports: dict[str, int]) -> OutboundUrl | Refusal | Unclear:
        """The URL, refused unless its scheme is one of `ports` and it has a host and no credentials."""
        if len(text) > MAX_URL:
            return Unclear("url", f"a URL of more than {MAX_URL} characters is not read")
        refused = Refusal(RefusalKind.URL, f"invalid outbound URL: {text}")
        trimmed = _trimmed(text)
        found = _SCHEME.match(trimmed)
        if found is None or (scheme := found[1].lower()) not in ports:
            return refused
        rest = trimmed[found.end() :].lstrip("/\\")
        authority, behind = _cut(rest, _ENDS)
        credentials, _, host_and_port = authority.rpartition("@")
        if credentials.strip(":"):
            return refused
        parsed = WhatwgUrls().parse(f"{scheme}://{host_and_port}/")
        if parsed is UrlVerdict.UNKNOWN:
            return Unclear("url", "the host of this URL is not mapped with certainty")
        if isinstance(parsed, UrlVerdict) or not parsed.host:
            return refused
        return OutboundUrl(scheme, parsed.host, _port(host_and_port, ports[scheme]), _path(behind, is_special=True))

    def path_of(self, text: str) -> str | Refusal:
        """The path of any absolute URL."""
        refused = Refusal(RefusalKind.URL, "address is not a URL")
        trimmed = _trimmed(text)
        found = _SCHEME.match(trimmed)
        if found is None or len(text) > MAX_URL or isinstance(WhatwgUrls().parse(text), UrlVerdict):
            return refused
        rest = trimmed[found.end() :]
        if found[1].lower() in _SPECIAL:
            return _path(_cut(rest.lstrip("/\\"), _ENDS)[1], is_special=True)
        if rest.startswith("//"):
            return _path(_cut(rest[2:], _OPAQUE_ENDS)[1], is_special=False)
        if rest.startswith("/"):
            return _path(rest, is_special=False)
        return _encoded(re.split(r"[?#]", rest, maxsplit=1)[0], frozenset())


def _trimmed(text: str) -> str:
    return text.strip(_CONTROL_OR_SPACE).translate(_DROPPED)


def _cut(text: str, ends: re.Pattern[str]) -> tuple[str, str]:
    found = ends.search(text)
    return (text, "") if found is None else (text[: found.start()], text[found.start() :])


def _port(host_and_port: str, default: int) -> int:
    digits = host_and_port.rpartition(":")[2]
    if ":" not in host_and_port or not digits or "]" in digits:
        return default
    return int(digits.lstrip("0") or "0")  # Python bounds the digits of a number, leading zeros included


def _path(behind: str, *, is_special: bool) -> str:
    """The path of what stands behind an authority, dot segments resolved."""
    raw = re.split(r"[?#]", behind, maxsplit=1)[0]
    if is_special:
        raw = raw.replace("\\", "/")
    if not raw:
        return "/" if is_special else ""
    kept: list[str] = []
    segments = raw[1:].split("/") if raw.startswith("/") else raw.split("/")
    for index, segment in enumerate(segments):
        is_last = index == len(segments) - 1
        match _DOTS.get(segment.lower()):
            case "..":
                del kept[-1:]
            case ".":
                pass
            case _:
                kept.append(_encoded(segment, _PATH_ENCODED))
                continue
        if is_last:
            kept.append("")
    return "/" + "/".join(kept)


def _encoded(text: str, also: frozenset[str]) -> str:
    return "".join(
        c if "\x20" <= c <= "\x7e" and c not in also else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace"))
        for c in text
    )
