"""Hosts of URIs: domain names, IPv4 and IPv6 addresses, opaque hosts.

Source: retry 2.1 (the WHATWG algorithm).
"""

from __future__ import annotations

import unicodedata

FORBIDDEN = frozenset("\0\t\n\r #/:<>?@[\\]^|")
_FORBIDDEN_DOMAIN = FORBIDDEN | frozenset("%\x7f") | frozenset(map(chr, range(0x20)))
_HEX = frozenset("0123456789abcdefABCDEF")
_KEPT = frozenset("\u00df\u03c2")
_DROPPED = frozenset("\u00ad\u200b\u2060\ufeff\u034f") | frozenset(map(chr, range(0xFE00, 0xFE10)))
_BAD_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"))
MAX_LABEL = 1000
"""Longer labels outside ASCII are refused: their encoding is quadratic."""


def percent_encode(text: str, also: frozenset[str]) -> str:
    """Encode controls, everything outside ASCII, and the characters of `also`."""
    if text.isascii() and text.isprintable() and not any(c in also for c in text):
        return text
    return "".join(
        c if " " <= c <= "~" and c not in also else "".join(f"%{b:02X}" for b in c.encode("utf-8", "surrogatepass"))
        for c in text
    )


def percent_decode(text: str) -> str:
    """Decode `%xx` to text; bytes that are no UTF-8 become the replacement character."""
    if "%" not in text:
        return text
    raw = text.encode("utf-8", "surrogatepass")
    out, at = bytearray(), 0
    while at < len(raw):
        pair = raw[at + 1 : at + 3].decode("latin-1")
        if raw[at] == 0x25 and len(pair) == 2 and set(pair) <= _HEX:
            out.append(int(pair, 16))
            at += 3
        else:
            out.append(raw[at])
            at += 1
    return out.decode("utf-8", "replace")


def host_of(text: str, *, special: bool) -> str | None:
    """The host as URLs print it; None when the text is no host. An opaque host may be empty.

    >>> host_of("API.Acme.test", special=True), host_of("0x7f.1", special=True), host_of("A b", special=False)
    ('api.acme.test', '127.0.0.1', None)
    """
    if text.startswith("["):
        address = parse_ipv6(text[1:-1]) if text.endswith("]") else None
        return None if address is None else f"[{write_ipv6(address)}]"
    if not special:
        return None if FORBIDDEN & set(text) else percent_encode(text, frozenset())
    domain = _to_ascii(percent_decode(text))
    if not domain or _FORBIDDEN_DOMAIN & set(domain):
        return None
    return _ipv4(domain) if _ends_in_number(domain) else domain


def _to_ascii(domain: str) -> str | None:
    """The domain in lower-case ASCII, labels outside it in punycode; None when a label is not allowed."""
    if domain.isascii() and "xn--" not in domain.lower():
        return domain.lower()
    mapped = "".join(c if c in _KEPT else c.casefold() for c in domain if c not in _DROPPED)
    mapped = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", mapped).lower()).replace("\u3002", ".")
    labels = [_label(label) for label in mapped.split(".")]
    return None if None in labels else ".".join(label for label in labels if label is not None)


def _label(label: str) -> str | None:
    if label.startswith("xn--"):
        try:
            inner = label[4:].encode("ascii").decode("punycode") if len(label) <= MAX_LABEL else ""
            again = inner.encode("punycode").decode("ascii")
        except UnicodeError:
            return None
        known = inner and not inner.isascii() and again == label[4:] and _allowed(inner)
        return label if known else None
    if label.isascii():
        return label
    if len(label) > MAX_LABEL or not _allowed(label):
        return None
    return "xn--" + label.encode("punycode").decode("ascii")


def _allowed(label: str) -> bool:
    if unicodedata.category(label[0]).startswith("M") or unicodedata.normalize("NFC", label) != label:
        return False
    return not any(unicodedata.category(c) in _BAD_CATEGORIES for c in label)


def _ends_in_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    last = parts[-1]
    return (last.isascii() and last.isdigit()) or _ipv4_number(last) is not None


def _ipv4_number(text: str) -> int | None:
    if not text:
        return None
    base = 10
    if text[:2] in ("0x", "0X"):
        text, base = text[2:], 16
    elif len(text) > 1 and text[0] == "0":
        text, base = text[1:], 8
    digits = _HEX if base == 16 else frozenset("01234567" if base == 8 else "0123456789")
    if not set(text) <= digits:
        return None
    return int(text[:64] or "0", base)


def _ipv4(domain: str) -> str | None:
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        return None
    numbers = [_ipv4_number(part) for part in parts]
    known = [n for n in numbers if n is not None]
    if len(known) < len(numbers) or any(n > 255 for n in known[:-1]) or known[-1] >= 256 ** (5 - len(known)):
        return None
    address = known[-1] + sum(n << (8 * (3 - i)) for i, n in enumerate(known[:-1]))
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def parse_ipv6(text: str) -> tuple[int, ...] | None:
    """The eight pieces of an IPv6 address; None when it is none."""
    if text.count("::") > 1 or ":::" in text:
        return None
    head, gap, tail = text.partition("::")
    left = _pieces(head, last=not gap)
    right = _pieces(tail, last=True) if gap else []
    if left is None or right is None:
        return None
    missing = 8 - len(left) - len(right)
    if (gap and missing < 1) or (not gap and missing):
        return None
    return (*left, *([0] * missing), *right)


def _pieces(text: str, *, last: bool) -> list[int] | None:
    """The pieces of one side of `::`; the last side may end in an IPv4 address."""
    if not text:
        return []
    words = text.split(":")
    pieces: list[int] = []
    for place, word in enumerate(words):
        if "." in word and last and place == len(words) - 1:
            quad = word.split(".")
            if len(quad) != 4 or not all(_is_octet(q) for q in quad):
                return None
            a, b, c, d = map(int, quad)
            pieces += (a << 8 | b, c << 8 | d)
        elif 1 <= len(word) <= 4 and set(word) <= _HEX:
            pieces.append(int(word, 16))
        else:
            return None
    return pieces


def _is_octet(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 3 and str(int(text)) == text and int(text) <= 255


def write_ipv6(pieces: tuple[int, ...]) -> str:
    """An IPv6 address, its first longest run of two or more zero pieces as `::`."""
    best_start, best_length = 0, 1
    start = 0
    while start < 8:
        length = 0
        while start + length < 8 and pieces[start + length] == 0:
            length += 1
        if length > best_length:
            best_start, best_length = start, length
        start += length + 1
    if best_length < 2:
        return ":".join(f"{piece:x}" for piece in pieces)
    left = ":".join(f"{piece:x}" for piece in pieces[:best_start])
    right = ":".join(f"{piece:x}" for piece in pieces[best_start + best_length :])
    return f"{left}::{right}"
