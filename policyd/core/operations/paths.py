"""File paths of guests and of the file services, made absolute by the lexical rules of each.

Source: host 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from policyd.core.grants.resources import FilePath
from policyd.core.grants.resources.segments import GLOBSTAR, STAR
from policyd.core.operations.refusal import Refusal, RefusalKind

ROOT = "/"


@dataclass(frozen=True, slots=True)
class GuestName:
    """A name as a guest gives it to a descriptor.

    Attributes:
        path: relative to the last opened name; None for the descriptor itself.
        preopen: the preopened directory it starts from.
        opened: names opened one after the other, each relative to the one before.
    """

    path: str | None
    preopen: str = ROOT
    opened: tuple[str, ...] = ()


def guest_path(name: GuestName) -> FilePath | Refusal:
    """The absolute lexical path that a guest's name means.

    >>> guest_path(GuestName("b/../c", "/data", ("a",))).text
    '/data/a/c'
    """
    here = _preopened(name.preopen)
    if here is None:
        return _refused(name.preopen)
    for step in (*name.opened, *(() if name.path is None else (name.path,))):
        below = _relative(step)
        if below is None:
            return _refused(step)
        here = [*here, *below]
    return FilePath(tuple(here))


def absolute_path(text: str) -> FilePath | Refusal:
    """The path that a program names from the root, as standard libraries resolve it against the preopened root."""
    found = _preopened(text)
    return _refused(text) if found is None else FilePath(tuple(found))


def _refused(text: str) -> Refusal:
    return Refusal(RefusalKind.PATH, f"invalid guest path: {text}")


def _preopened(text: str) -> list[str] | None:
    if text == ".":
        return []
    return _walked(text.split("/")) if text.startswith("/") else None


def _relative(text: str) -> list[str] | None:
    return None if text.startswith("/") else _walked(text.split("/"))


def _walked(segments: Iterable[str]) -> list[str] | None:
    """The segments that are left; None when they climb above where they started or cannot stand in a target."""
    found: list[str] = []
    for segment in segments:
        if "*" in segment or "\0" in segment:
            return None
        if segment == "..":
            if not found:
                return None
            found.pop()
        elif segment not in ("", "."):
            found.append(segment)
    return found


def service_path(text: str, *, is_rest: bool) -> FilePath | Refusal:
    """The path that a file service asks for; whole segments `*` and `**` become wildcards of the target.

    Args:
        text: what follows `files/` in the decoded URL, or the path of the message.
        is_rest: whether it came by REST, which puts a slash before it.
    """
    whole = f"/{text}" if is_rest else text
    if not whole.startswith("/"):
        return Refusal(RefusalKind.PATH, "path must be absolute")
    segments = _climbing(whole.split("/"))
    for segment in segments:
        if "*" in segment and segment not in (STAR, GLOBSTAR):
            return Refusal(RefusalKind.RESOURCE, segment)
    return FilePath(tuple(segments))


def _climbing(segments: Sequence[str]) -> list[str]:
    found: list[str] = []
    for segment in segments:
        if segment == "..":
            del found[-1:]
        elif segment not in ("", "."):
            found.append(segment)
    return found
