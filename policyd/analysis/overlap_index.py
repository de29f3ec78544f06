"""Whether any grant of a list can cover a call that another grant covers, within a bounded effort.

Source: cards 4.
"""

from __future__ import annotations

from collections.abc import Iterable

from policyd.analysis.effect import targets_may_overlap
from policyd.core.grants import Target
from policyd.core.grants.resources import (
    Exact,
    FilePath,
    Invocation,
    NetworkResource,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)

MAX_COMPARISONS = 200_000
"""So many pairs of one list are compared, long paths counting more; past that every pair is taken to overlap."""


class OverlapIndex:
    """Targets, sorted by class and by the first literal part of their resource."""

    __slots__ = ("_agent_type", "_all", "_heads", "_left")

    def __init__(self, targets: Iterable[Target], agent_type: str) -> None:
        """Take up `targets`, filled for an agent of `agent_type`."""
        self._agent_type = agent_type
        self._all: dict[str, list[Target]] = {}
        self._heads: dict[tuple[str, str | None], list[Target]] = {}
        self._left = MAX_COMPARISONS
        for target in targets:
            self._all.setdefault(target.cls.name, []).append(target)
            self._heads.setdefault((target.cls.name, _head(target.resource)), []).append(target)

    def may_overlap(self, target: Target) -> bool:
        """Whether one of the targets and `target` may cover one call; no is a proof."""
        name = target.cls.name
        head = _head(target.resource)
        if head is None:
            return self._any(target, self._all.get(name, ()))
        return self._any(target, self._heads.get((name, None), ())) or self._any(
            target, self._heads.get((name, head), ())
        )

    def _any(self, target: Target, others: Iterable[Target]) -> bool:
        for other in others:
            self._left -= _cost(other.resource, target.resource)
            if self._left < 0 or targets_may_overlap(other, target, self._agent_type):
                return True
        return False


def _cost(left: Resource, right: Resource) -> int:
    if isinstance(left, FilePath) and isinstance(right, FilePath):
        return 1 + len(left.segments) * len(right.segments) // 4
    return 1


def _head(resource: Resource) -> str | None:
    """A literal that everything covered shares and that differs from that of all other literals; else None."""
    match resource:
        case FilePath(segments):
            first = segments[0] if segments else ""
        case SegmentPath(segments):
            first = segments[0] if segments else ""
        case NetworkResource():
            first = resource.host
        case StoreKey():
            first = resource.store if resource.store != "**" else "*"
        case TableName():
            first = resource.database if resource.database != "**" else "*"
        case Exact() | Invocation():
            return resource.text
        case _:
            return None
    return None if "*" in first else first
