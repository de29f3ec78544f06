"""Reading JSON values strictly: right members, right kinds, bounded nesting.

Source: middleware 1.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, TypeVar

from policyd.findings import InputError, Span

T = TypeVar("T")

MAX_NESTING = 100
"""How deep types and values may be nested in one text; the platform's JSON reader stops earlier."""


class UnreadableError(Exception):
    """Why a JSON value is not of the form asked for, and where; turned into an `InputError` at the surface."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.steps: list[str | int] = []

    @property
    def path(self) -> str:
        """The place in the document, as `$.a.b[0]`."""
        return "$" + "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in reversed(self.steps))


def fail(reason: str) -> NoReturn:
    """Refuse what is being read.

    Raises:
        UnreadableError: always.
    """
    raise UnreadableError(reason)


def at(step: str | int, read: Callable[[], T]) -> T:
    """What `read` gives; a refusal learns that it happened below `step`."""
    try:
        return read()
    except UnreadableError as error:
        error.steps.append(step)
        raise


def surfaced(code: str, what: str, read: Callable[[], T]) -> T:
    """What `read` gives, a refusal turned into an input error that names the place.

    Raises:
        InputError: `code`, when the JSON does not have the form.
    """
    try:
        return read()
    except UnreadableError as error:
        finding = f"unreadable {what} at `{error.path}`: {error.reason}"
        raise InputError.of(code, finding, Span("", path=error.path)) from None


def below(depth: int) -> int:
    """The nesting one level further down, refused beyond `MAX_NESTING`."""
    return depth + 1 if depth < MAX_NESTING else fail(f"nested deeper than {MAX_NESTING} levels")


def members(json: object) -> Mapping[str, object]:
    """The members of a JSON object."""
    return json if isinstance(json, Mapping) else fail("an object is needed")


def member(json: Mapping[str, object], name: str, read: Callable[[object], T]) -> T:
    """A member that must be there."""
    if name not in json:
        fail(f"the member `{name}` is missing")
    return at(name, lambda: read(json[name]))


def optional(json: Mapping[str, object], name: str, read: Callable[[object], T]) -> T | None:
    """A member that may be missing or `null`."""
    value = json.get(name)
    return None if value is None else at(name, lambda: read(value))


def defaulted(json: Mapping[str, object], name: str, read: Callable[[object], T], default: T) -> T:
    """A member that may be missing, but not `null`."""
    return at(name, lambda: read(json[name])) if name in json else default


def elements(json: object, read: Callable[[object], T]) -> tuple[T, ...]:
    """The elements of a JSON array."""
    if not isinstance(json, (list, tuple)):
        fail("a list is needed")
    return tuple(_each(json, read))


def _each(json: Sequence[object], read: Callable[[object], T]) -> Iterator[T]:
    for index, element in enumerate(json):
        try:
            yield read(element)
        except UnreadableError as error:
            error.steps.append(index)
            raise


def list_of(read: Callable[[object], T]) -> Callable[[object], tuple[T, ...]]:
    """A reader for arrays of what `read` reads."""
    return lambda json: elements(json, read)


def text(json: object) -> str:
    """A string of Unicode scalar values."""
    if not isinstance(json, str):
        fail("text is needed")
    if not json.isascii() and any("\ud800" <= c <= "\udfff" for c in json):
        fail("half of a surrogate pair is no character")
    return json


def truth(json: object) -> bool:
    """A boolean."""
    return json if isinstance(json, bool) else fail("`true` or `false` is needed")


def integer(low: int, high: int) -> Callable[[object], int]:
    """A reader for integers within a range, written without fraction."""

    def read(json: object) -> int:
        if not isinstance(json, int) or isinstance(json, bool):
            fail("an integer is needed")
        return json if low <= json <= high else fail(f"an integer from {low} to {high} is needed")

    return read


def tagged(json: object, tag: str = "kind") -> tuple[str, object]:
    """Tag and content of an object `{"kind": …, "value": …}`."""
    found = members(json)
    kind = member(found, tag, text)
    return kind, found["value"] if "value" in found else fail("the member `value` is missing")
