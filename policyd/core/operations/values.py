"""Arguments as people type them or as JSON has them, read as the few shapes that operations take.

Source: host 2; interface, `--arg`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policyd.core.grants.names import parse_u64
from policyd.core.operations.refusal import Unclear


def text_of(value: object, name: str) -> str | Unclear:
    """A text; a number stands for its digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return Unclear(name, f"`{name}` is a text")


def texts_of(value: object, name: str) -> tuple[str, ...] | Unclear:
    """A list of texts; a text alone is a list of one."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return Unclear(name, f"`{name}` is a list of texts")


def words_of(value: object, name: str) -> tuple[str, ...] | Unclear:
    """Words: a list of texts, or one text with commas or spaces between them."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return texts_of(value, name)


def segments_of(value: object, name: str) -> tuple[str, ...] | Unclear:
    """Segments of a key: a list of texts, or one text with dots between them."""
    if isinstance(value, str):
        return tuple(value.split("."))
    return texts_of(value, name)


def number_of(value: object, name: str) -> int | Unclear:
    """A number that is not negative and fits 64 bits."""
    found = parse_u64(str(value)) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
    return Unclear(name, f"`{name}` is a number of at most 64 bits") if found is None else found


def numbers_of(value: object, name: str) -> tuple[int, ...] | Unclear:
    """A list of such numbers, or one text with commas or spaces between them."""
    items: Any = value.replace(",", " ").split() if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        items = (value,)
    found = [number_of(item, name) for item in items]
    known = tuple(item for item in found if not isinstance(item, Unclear))
    return known if len(known) == len(found) else Unclear(name, f"`{name}` is a list of numbers")


def members_of(value: object) -> Mapping[str, object] | None:
    """The members of an object, or None if it is none."""
    return value if isinstance(value, Mapping) else None
