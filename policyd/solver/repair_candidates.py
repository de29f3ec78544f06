"""Grants that let one call through, the exact one first, with a star in as few fields as the writing of grants allows.

The order of *narrower* is inclusion: of two grants that both work, the one that the other covers is narrower.

Source: host 4.3, 4.8, 6.4; cards 1.5, 2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from policyd.core.grants import AgentContext, Target
from policyd.core.grants.resources import (
    FilePath,
    HttpRoute,
    NetworkResource,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.solver.candidates import Candidate, candidates_of, slotted

MAX_STARRED = 6
"""In longer paths only the ladder of prefixes is tried."""


def narrowest(
    target: Target,
    context: AgentContext | None,
    works: Callable[[Target], bool],
    is_writable: Callable[[Target], bool],
) -> tuple[Candidate, ...]:
    """The grants that cover `target`, can be written and work, and of which none covers another; exact one alone.

    Args:
        target: the call.
        context: the agent whose own names are written as slots, None to write all names out.
        works: whether a grant that covers the call may be given.
        is_writable: whether the target can be written as a grant.
    """
    exact = Candidate(slotted(target, context), target, 0)
    if is_writable(exact.target) and works(exact.filled):
        return (exact,)
    usable = [c for c in _all(target, context) if c.filled.covers(target) and is_writable(c.target) and works(c.filled)]
    return tuple(
        c
        for c in usable
        if not any(o.filled != c.filled and c.filled.covers(o.filled) and not o.filled.covers(c.filled) for o in usable)
    )


def _all(target: Target, context: AgentContext | None) -> Sequence[Candidate]:
    found = {c.filled: c for c in candidates_of((target,), context)}
    for base in list(found.values()):
        if base.filled.resource != target.resource:
            continue
        for resource, steps in _starred(target.resource):
            filled = Target(target.cls, base.filled.owner, base.filled.verb, resource)
            if filled not in found:
                found[filled] = Candidate(slotted(filled, context), filled, base.steps + steps)
    return sorted(found.values(), key=lambda c: (c.steps, c.target.text))


def _starred(resource: Resource) -> Iterator[tuple[Resource, int]]:
    """The resource with stars in some of its fields, each with how many."""
    match resource:
        case FilePath(segments) if len(segments) <= MAX_STARRED:
            for parts, count in _combinations(segments):
                yield FilePath(parts), count
        case SegmentPath(segments, separator) if len(segments) <= MAX_STARRED:
            for parts, count in _combinations(segments):
                yield SegmentPath(parts, separator), count
        case StoreKey(store, key):
            yield StoreKey("*", key), 1
            yield StoreKey(store, "**"), 1
        case TableName(database, schema, table):
            for parts, count in _combinations((database, schema, table)):
                yield TableName(*parts), count
        case NetworkResource(host, ports) if host.count(".") < MAX_STARRED:
            for parts, count in _combinations(tuple(host.split("."))):
                if set(parts) != {"*"}:
                    yield NetworkResource(".".join(parts), ports), count
        case HttpRoute(domain, path) if domain != "*":
            yield HttpRoute("*", path), 1
        case _:
            return


def _combinations(parts: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    for choice in product((False, True), repeat=len(parts)):
        if any(choice):
            starred = tuple("*" if star else part for part, star in zip(parts, choice, strict=True))
            yield starred, sum(choice)
