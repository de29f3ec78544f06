"""Domain names to ASCII, as URLs need them (UTS 46, without transitional mapping).

Long-established letters are mapped with the Unicode tables of Python; a name that would need others gets no answer.

Source: middleware 8.2.
"""

from __future__ import annotations

import unicodedata

from policyd.core.schema.engines import UrlVerdict
from policyd.syntax.domain_labels import are_labels_valid

_IGNORED = frozenset("\xad\u034f\u180b\u180c\u180d\u200b\u2060\u2064\ufeff") | {chr(c) for c in range(0xFE00, 0xFE10)}
_DOTS = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_SHARP_S = "ß"
_FINAL_SIGMA = "ς"


def ascii_domain(domain: str) -> str | UrlVerdict:
    """The name in lower case with its labels in ASCII; nothing is checked beyond that for ASCII labels."""
    if domain.isascii():
        lowered = domain.lower()
        return _checked(lowered.split(".")) if "xn--" in lowered else lowered
    return _checked(_mapped(domain).split("."))


def _mapped(domain: str) -> str:
    """Compatibility and case mapping; sharp s and final sigma stay."""
    kept = "".join(c for c in domain.translate(_DOTS) if c not in _IGNORED)
    folded = "".join(c if c in (_SHARP_S, _FINAL_SIGMA) else unicodedata.normalize("NFKC", c).casefold() for c in kept)
    return unicodedata.normalize("NFKC", folded).translate(_DOTS)


def _encoded(label: str) -> str:
    return label if label.isascii() else "xn--" + label.encode("punycode").decode("ascii")


def _checked(labels: list[str]) -> str | UrlVerdict:
    """The name in ASCII, when its labels are valid and those that claim to be encoded encode back to themselves."""
    decoded = [_decoded(label) for label in labels]
    known = [label for label in decoded if label is not None]
    if len(known) < len(decoded):
        return UrlVerdict.INVALID
    match are_labels_valid(known):
        case None:
            return UrlVerdict.UNKNOWN
        case True:
            return ".".join(map(_encoded, known))
        case _:
            return UrlVerdict.INVALID


def _decoded(label: str) -> str | None:
    if not label.startswith("xn--"):
        return label
    try:
        decoded = label[4:].encode("ascii").decode("punycode")
    except UnicodeError:
        return None
    return None if decoded.isascii() or _encoded(_mapped(decoded)) != label else decoded
