"""Reading the parts of policy tests that several expectations share.

Source: interface, Words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from policyd.core.schema.reading import at, elements, fail, members, optional, text
from policyd.policytests.expectations import Facets

T = TypeVar("T")

FACETS = ("admitted", "bounded", "replay-stable")
WORDS = ("yes", "no", "unknown")
MAX_LISTED = 1000
"""So many entries are read from a list of names."""


def keyed(json: object, known: tuple[str, ...]) -> Mapping[str, object]:
    """The members of an object that has no others than the known ones.

    Raises:
        UnreadableError: for any other key, and for one without a value.
    """
    found: Mapping[str, object] = members(json)
    for name, value in found.items():
        if name not in known:
            at(name, lambda: fail("unknown here; known are " + ", ".join(f"`{word}`" for word in known)))
        if value is None:
            at(name, lambda: fail("a value is wanted"))
    return found


def texts(found: Mapping[str, object], name: str) -> tuple[str, ...]:
    """A list of texts that may be missing."""
    return tuple(optional(found, name, lambda part: limited(elements(part, text))) or ())


def limited(listed: tuple[T, ...]) -> tuple[T, ...]:
    """The same list, if it is not too long."""
    return listed if len(listed) <= MAX_LISTED else fail(f"at most {MAX_LISTED} entries are read")


def one_or_more(found: Mapping[str, object], one: str, more: str) -> tuple[str, ...]:
    """One text, or a list of them under another key."""
    single = optional(found, one, text)
    if single is not None and more in found:
        at(more, lambda: fail(f"`{one}` and `{more}` exclude each other"))
    if more in found and not found[more]:
        at(more, lambda: fail("at least one is wanted"))
    return (single,) if single is not None else texts(found, more)


def text_or_texts(json: object) -> tuple[str, ...]:
    """One text, or a list of them."""
    return (json,) if isinstance(json, str) else limited(elements(json, text))


def facets(json: object) -> Facets:
    """Facets with the words expected of them."""
    found = keyed(json, FACETS)
    return tuple((name, at(name, lambda v=value: word(v))) for name, value in found.items())  # type: ignore[misc]


def word(json: object) -> str:
    """`yes`, `no` or `unknown`; YAML reads the first two as booleans."""
    found = {True: "yes", False: "no"}[json] if isinstance(json, bool) else text(json)
    return found if found in WORDS else fail("one of `yes`, `no`, `unknown` is wanted")


def one_of(*words: str) -> Callable[[object], str]:
    """A reader for one of some words."""

    def read(json: object) -> str:
        found = text(json)
        return found if found in words else fail("one of " + ", ".join(f"`{w}`" for w in words) + " is wanted")

    return read


def scalar(json: object) -> str:
    """A plain value as an option of the command line writes it."""
    match json:
        case bool():
            return "true" if json else "false"
        case str():
            return text(json)
        case int() | float():
            return str(json)
        case _:
            return fail("a plain value is wanted")
