"""Which labels may stand in an internationalised domain name: marks, joiners, bidirectional text.

Source: middleware 8.2; UTS 46, RFC 5892 appendix A, RFC 5893.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_JOINERS = frozenset("\u200c\u200d")
_VIRAMA = 9
_RIGHT = frozenset({"R", "AL", "AN"})
_IN_RIGHT = frozenset({"R", "AL", "AN", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"})
_IN_LEFT = frozenset({"L", "EN", "ES", "CS", "ET", "ON", "BN", "NSM"})
_NOT_ALLOWED = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def are_labels_valid(labels: Sequence[str]) -> bool | None:
    """Whether these labels, mapped and decoded, make a domain name; None where it takes tables that Python lacks."""
    joined = [_are_joiners_valid(label) for label in labels]
    if False in joined or any(_is_label_refused(label) for label in labels):
        return False
    if any(_direction(c) in _RIGHT for label in labels for c in label) and not all(map(_is_bidi_valid, labels)):
        return False
    return None if None in joined else True


def _is_label_refused(label: str) -> bool:
    if label and unicodedata.category(label[0]).startswith("M"):
        return True
    return any(not c.isascii() and c not in _JOINERS and unicodedata.category(c) in _NOT_ALLOWED for c in label)


def _are_joiners_valid(label: str) -> bool | None:
    """A joiner needs a virama before it; the non-joiner may also stand between letters that join."""
    sure: bool | None = True
    for index, char in enumerate(label):
        if char not in _JOINERS or (index and unicodedata.combining(label[index - 1]) == _VIRAMA):
            continue
        if char == "\u200d" or not any(_direction(c) == "AL" for c in label):
            return False
        sure = None
    return sure


def _direction(char: str) -> str:
    return unicodedata.bidirectional(char)


def _is_bidi_valid(label: str) -> bool:
    """The six conditions of RFC 5893, section 2."""
    kinds = [_direction(c) for c in label]
    if not kinds:
        return True
    ending = next((kind for kind in reversed(kinds) if kind != "NSM"), "")
    if kinds[0] in ("R", "AL"):
        numbers = {"EN", "AN"} & set(kinds)
        return _IN_RIGHT.issuperset(kinds) and ending in ("R", "AL", "EN", "AN") and len(numbers) < 2
    return kinds[0] == "L" and _IN_LEFT.issuperset(kinds) and ending in ("L", "EN")
