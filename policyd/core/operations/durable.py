"""Custom durable operations and external durable streams: what a program declares about them, as no manifest does.

Source: sdk-facts 5, 6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum


@dataclass(frozen=True, slots=True)
class DurableEffect:
    """An effect of the body outside the platform.

    Attributes:
        name: as a person calls it.
        is_idempotent: repeating it does nothing more: it has an idempotency key, or its peer drops duplicates.
    """

    name: str
    is_idempotent: bool


@dataclass(frozen=True, slots=True)
class DurableOperation:
    """A durable operation of the program's own.

    Attributes:
        id: its name.
        effects: of its own body.
        nested: ids of operations that run inside its body.
        has_detached_work: it starts tasks that outlive its scope.
    """

    id: str
    effects: tuple[DurableEffect, ...] = ()
    nested: tuple[str, ...] = ()
    has_detached_work: bool = False


class Direction(Enum):
    """Which end of a stream."""

    READER = "reader"
    WRITER = "writer"


@dataclass(frozen=True, slots=True)
class DurableStream:
    """A reader or writer of an external stream.

    Attributes:
        id: its name.
        direction: which end.
        url: of the stream.
        secret: segments of the path of its token, empty if it has none.
        has_forks: agents that hold it are forked; None if not said.
        has_own_producers: every branch gets a producer identity of its own.
        is_active: it is in use at the moment asked about.
    """

    id: str
    direction: Direction
    url: str
    secret: tuple[str, ...] = ()
    has_forks: bool | None = None
    has_own_producers: bool = False
    is_active: bool = False


@dataclass(frozen=True, slots=True)
class Declarations:
    """Everything that a program declares, by id."""

    operations: Mapping[str, DurableOperation] = field(default_factory=dict)
    streams: Mapping[str, DurableStream] = field(default_factory=dict)


NOTHING_DECLARED = Declarations()


def repeated_parts(operation: DurableOperation, declarations: Declarations) -> tuple[str, ...]:
    """What a recovery may do twice, or fails to await: 0..n parts, nested operations included.

    An operation that did not end is run again as a whole, so the effects of nested ones that did not end repeat, too.
    """
    found: dict[str, None] = {}
    for nested in _all_nested(operation, declarations):
        if nested.has_detached_work:
            found[f"detached work of `{nested.id}`"] = None
        for effect in nested.effects:
            if not effect.is_idempotent:
                found[f"`{effect.name}` of `{nested.id}`"] = None
    return tuple(found)


def _all_nested(operation: DurableOperation, declarations: Declarations) -> Iterator[DurableOperation]:
    seen: set[str] = set()
    waiting = [operation]
    while waiting:
        current = waiting.pop(0)
        if current.id in seen:
            continue
        seen.add(current.id)
        yield current
        waiting += [known for id in current.nested if (known := declarations.operations.get(id)) is not None]


def undeclared_parts(operation: DurableOperation, declarations: Declarations) -> tuple[str, ...]:
    """The nested operations of which nothing is declared."""
    named = {id for nested in _all_nested(operation, declarations) for id in nested.nested}
    return tuple(sorted(named - set(declarations.operations)))


def may_snapshot(stream: DurableStream) -> bool:
    """Whether an agent that holds the stream can be snapshotted now: active streams prevent it."""
    return not stream.is_active
