"""Finding all patterns of one class that cover a target, without looking at the others.

Each kind of resource has few ways of being covered: an equal value, a wildcard part, a pattern that
a walk over its segments reaches, or a range around it. There is one index for each; at its leaves
stand the owners.

Source: cards 2.2.
"""

from __future__ import annotations

from typing import Protocol

from policyd.core.admission.owner_index import OwnerIndex
from policyd.core.admission.postings import Postings
from policyd.core.admission.range_index import RangeIndex
from policyd.core.admission.segment_index import PathIndex, PositionIndex
from policyd.core.grants import Level, Recipient, ResourceKind, Target
from policyd.core.grants.resources import (
    AnyResource,
    CardTarget,
    HttpRoute,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.segments import STAR


class ResourceIndex(Protocol):
    """The patterns of one class."""

    def at(self, resource: Resource) -> OwnerIndex:
        """The owners under exactly this pattern, or one that covers exactly the same; made if they are new."""

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """Add the postings of every pattern that covers `target`."""

    def freeze(self) -> None:
        """Finish the structure; to be called once, when all patterns are in."""


class EqualIndex:
    """Values that are covered by their equal and by `*`."""

    __slots__ = ("_any", "_equal")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._equal: dict[Resource, OwnerIndex] = {}

    def at(self, resource: Resource) -> OwnerIndex:
        """See `ResourceIndex`."""
        if isinstance(resource, AnyResource):
            self._any = self._any or OwnerIndex()
            return self._any
        found = self._equal.get(resource)
        if found is None:
            found = self._equal[resource] = OwnerIndex()
        return found

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """See `ResourceIndex`."""
        if self._any is not None:
            self._any.covering(target, hits)
        found = self._equal.get(target.resource)
        if found is not None:
            found.covering(target, hits)

    def freeze(self) -> None:
        """See `ResourceIndex`."""


class PartsIndex:
    """Values of a fixed number of parts, each of which may be `*`: keys of stores, tables, routes."""

    __slots__ = ("_any", "_root")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._root: dict[tuple[str, ...], OwnerIndex] = {}

    def at(self, resource: Resource) -> OwnerIndex:
        """See `ResourceIndex`."""
        if isinstance(resource, AnyResource):
            self._any = self._any or OwnerIndex()
            return self._any
        key = _parts(resource)
        found = self._root.get(key)
        if found is None:
            found = self._root[key] = OwnerIndex()
        return found

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """See `ResourceIndex`."""
        if self._any is not None:
            self._any.covering(target, hits)
        if isinstance(target.resource, AnyResource):
            return
        for key in _wider(_parts(target.resource), path_is_literal=isinstance(target.resource, HttpRoute)):
            found = self._root.get(key)
            if found is not None:
                found.covering(target, hits)

    def freeze(self) -> None:
        """See `ResourceIndex`."""


def _parts(resource: Resource) -> tuple[str, ...]:
    match resource:
        case StoreKey(store, key):
            return (store, STAR if key == "**" else key)
        case TableName(database, schema, table):
            return (database, schema, table)
        case HttpRoute(domain, path):
            return (domain, path)
        case _:
            raise TypeError(f"{resource!r} has no parts")


def _wider(parts: tuple[str, ...], *, path_is_literal: bool) -> list[tuple[str, ...]]:
    """Every pattern of the same number of parts that covers these."""
    if len(parts) == 2:
        first, second = parts
        if path_is_literal:
            return [parts] if first == STAR else [parts, (STAR, second)]
        keys: list[tuple[str, ...]] = [parts]
        if first != STAR:
            keys.append((STAR, second))
        if second != STAR:
            keys.append((first, STAR))
            if first != STAR:
                keys.append((STAR, STAR))
        return keys
    wider: list[tuple[str, ...]] = [()]
    for part in parts:
        wider = [(*head, word) for head in wider for word in ((part,) if part == STAR else (part, STAR))]
    return wider


class OplogIndex:
    """Ranges, and `*`."""

    __slots__ = ("_any", "_ranges")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._ranges: RangeIndex[OwnerIndex] = RangeIndex(OwnerIndex)

    def at(self, resource: Resource) -> OwnerIndex:
        """See `ResourceIndex`."""
        if isinstance(resource, OplogRange):
            return self._ranges.at(resource.first, resource.last)
        self._any = self._any or OwnerIndex()
        return self._any

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """See `ResourceIndex`."""
        if self._any is not None:
            self._any.covering(target, hits)
        resource = target.resource
        if isinstance(resource, OplogRange):
            for owners in self._ranges.around(resource.first, resource.last):
                owners.covering(target, hits)

    def freeze(self) -> None:
        """See `ResourceIndex`."""
        self._ranges.freeze()


class RecipientIndex:
    """Targets of `card` grants, which compare as recipients do, and `*`."""

    __slots__ = ("_any", "_patterns")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._patterns: dict[tuple[Level, tuple[str, ...], bool], OwnerIndex] = {}

    def at(self, resource: Resource) -> OwnerIndex:
        """See `ResourceIndex`."""
        if not isinstance(resource, CardTarget):
            self._any = self._any or OwnerIndex()
            return self._any
        recipient = resource.recipient
        key = (recipient.level, recipient.known, recipient.is_external_tool_owner)
        found = self._patterns.get(key)
        if found is None:
            found = self._patterns[key] = OwnerIndex()
        return found

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """See `ResourceIndex`."""
        if self._any is not None:
            self._any.covering(target, hits)
        if isinstance(target.resource, CardTarget):
            for key in _recipients_around(target.resource.recipient):
                found = self._patterns.get(key)
                if found is not None:
                    found.covering(target, hits)

    def freeze(self) -> None:
        """See `ResourceIndex`."""


def _recipients_around(narrow: Recipient) -> list[tuple[Level, tuple[str, ...], bool]]:
    """The keys of every recipient pattern that covers `narrow` (R4)."""
    around: list[tuple[Level, tuple[str, ...], bool]] = [(Level.ANY, (), False)]
    for level, most in ((Level.ACCOUNT, 1), (Level.ENVIRONMENT, 3), (Level.AGENT, 5)):
        if narrow.level >= level:
            for count in range(1, min(most, len(narrow.known)) + 1):
                external = narrow.is_external_tool_owner and count == Level.AGENT
                around.append((level, narrow.known[:count], external))
    return around


class PortIndex:
    """The port forms under one host pattern."""

    __slots__ = ("_any", "_ranges", "_single")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._single: dict[int, OwnerIndex] = {}
        self._ranges: RangeIndex[OwnerIndex] | None = None

    def at(self, ports: Ports) -> OwnerIndex:
        """The owners under exactly these ports."""
        if ports.form == "any":
            self._any = self._any or OwnerIndex()
            return self._any
        if ports.form == "range":
            self._ranges = self._ranges or RangeIndex(OwnerIndex)
            return self._ranges.at(ports.low, ports.high)
        found = self._single.get(ports.low)
        if found is None:
            found = self._single[ports.low] = OwnerIndex()
        return found

    def covering(self, ports: Ports, target: Target, hits: list[Postings]) -> None:
        """Add the postings of the port forms that cover `ports`."""
        if self._any is not None:
            self._any.covering(target, hits)
        if ports.form == "any":
            return
        if ports.form == "single":
            found = self._single.get(ports.low)
            if found is not None:
                found.covering(target, hits)
        if self._ranges is not None:
            for owners in self._ranges.around(ports.low, ports.high):
                owners.covering(target, hits)

    def freeze(self) -> None:
        """Finish the ranges."""
        if self._ranges is not None:
            self._ranges.freeze()


class HostNode:
    """A node of the tree of host labels."""

    __slots__ = ("children", "ports", "star")

    def __init__(self) -> None:
        self.children: dict[str, HostNode] = {}
        self.star: HostNode | None = None
        self.ports: PortIndex | None = None


class HostIndex:
    """Hosts by their labels, then ports; `*` as a whole host stands apart."""

    __slots__ = ("_any", "_every", "_root")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._every: PortIndex | None = None
        self._root = HostNode()

    def at(self, resource: Resource) -> OwnerIndex:
        """See `ResourceIndex`."""
        if not isinstance(resource, NetworkResource):
            self._any = self._any or OwnerIndex()
            return self._any
        if resource.host == STAR:
            self._every = self._every or PortIndex()
            return self._every.at(resource.ports)
        node = self._root
        for label in resource.host.split("."):
            if label == STAR:
                node.star = node.star or HostNode()
                node = node.star
            else:
                node = node.children.setdefault(label, HostNode())
        node.ports = node.ports or PortIndex()
        return node.ports.at(resource.ports)

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """See `ResourceIndex`."""
        if self._any is not None:
            self._any.covering(target, hits)
        resource = target.resource
        if not isinstance(resource, NetworkResource):
            return
        if self._every is not None:
            self._every.covering(resource.ports, target, hits)
        if resource.host == STAR:
            return  # as a whole host it is covered by whole-host patterns only, of which `*` is the one form
        states = [self._root]
        for label in resource.host.split("."):
            after = []
            for node in states:
                if label != STAR:
                    found = node.children.get(label)
                    if found is not None:
                        after.append(found)
                if node.star is not None:
                    after.append(node.star)
            if not after:
                return
            states = after
        for node in states:
            if node.ports is not None:
                node.ports.covering(resource.ports, target, hits)

    def freeze(self) -> None:
        """See `ResourceIndex`."""
        if self._every is not None:
            self._every.freeze()
        waiting = [self._root]
        while waiting:
            node = waiting.pop()
            if node.ports is not None:
                node.ports.freeze()
            waiting += node.children.values()
            if node.star is not None:
                waiting.append(node.star)


def index_for(kind: ResourceKind) -> ResourceIndex:
    """An empty index for resources of that kind."""
    match kind:
        case ResourceKind.FILES:
            return PathIndex()
        case ResourceKind.KEY | ResourceKind.INITIAL_FILES:
            return PositionIndex()
        case ResourceKind.NETWORK:
            return HostIndex()
        case ResourceKind.OPLOG:
            return OplogIndex()
        case ResourceKind.STORE_KEY | ResourceKind.TABLE | ResourceKind.ROUTE:
            return PartsIndex()
        case ResourceKind.CARD:
            return RecipientIndex()
        case _:
            return EqualIndex()
