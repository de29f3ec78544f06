"""Domain names to ASCII, as URLs need them (UTS 46, without transitional mapping).

Long-established letters are mapped with the Unicode tables of Python; a name that would need finer rules
(joiners, bidirectional text) gets no answer.

Source: middleware 8.2.
"""

from __future__ import annotations

import unicodedata

from policyd.core.schema.engines import UrlVerdict

_IGNORED = frozenset("\xad\u034f\u180b\u180c\u180d\u200b\u2060\u2064\ufeff") | {chr(c) for c in range(0xFE00, 0xFE10)}
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_DEVIATIONS = frozenset("\u200c\u200d")
_SHARP_S = "ß"
_FINAL_SIGMA = "ς"


def ascii_domain(domain: str) -> str | UrlVerdict:
    """The name in lower case with its labels in ASCII; nothing is checked beyond that for ASCII labels."""
    if domain.isascii():
        lowered = domain.lower()
        return _checked(lowered) if "xn--" in lowered else lowered
    if any(c in _DEVIATIONS or unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in domain):
        return UrlVerdict.UNKNOWN
    mapped = _mapped(domain)
    if any(_is_disallowed(c) for c in mapped):
        return UrlVerdict.INVALID
    labels = mapped.split(".")
    if any(label and unicodedata.category(label[0]).startswith("M") for label in labels):
        return UrlVerdict.INVALID
    return _checked(".".join(_encoded(label) for label in labels))


def _mapped(domain: str) -> str:
    """Compatibility and case mapping; sharp s and final sigma stay."""
    kept = "".join(c for c in domain.translate(_DOTS) if c not in _IGNORED)
    folded = "".join(c if c in (_SHARP_S, _FINAL_SIGMA) else unicodedata.normalize("NFKC", c).casefold() for c in kept)
    return unicodedata.normalize("NFKC", folded).translate(_DOTS)


def _is_disallowed(char: str) -> bool:
    return not char.isascii() and unicodedata.category(char) in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs")


def _encoded(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _checked(domain: str) -> str | UrlVerdict:
    """The name when every label that claims to be encoded decodes to something that encodes back to it."""
    for label in domain.split("."):
        if label.startswith("xn--"):
            try:
                decoded = label[4:].encode("ascii").decode("punycode")
            except UnicodeError:
                return UrlVerdict.INVALID
            if decoded.isascii() or _encoded(_mapped(decoded)) != label:
                return UrlVerdict.INVALID
    return domain
