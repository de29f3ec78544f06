"""Finding all patterns that cover one resource, without looking at the others.

Each kind of resource has few ways of being covered: an equal value, a wildcard part, a pattern that
a walk over its segments reaches, or a range around it. The index has a structure for each.

Source: cards 2.2.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import assert_never

from policyd.core.admission.postings import Postings
from policyd.core.grants.recipient import Level, Recipient
from policyd.core.grants.resources import (
    AnyResource,
    CardTarget,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    NoResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.segments import GLOBSTAR, STAR


class RangeIndex:
    """Ranges, of which all around a given one are found: a tree over the starts that knows the largest end."""

    __slots__ = ("_ends", "_items", "_size", "_starts", "_tree")

    def __init__(self) -> None:
        self._items: dict[tuple[int, int], Postings] = {}
        self._starts: list[int] = []
        self._ends: list[tuple[int, Postings]] = []
        self._tree: list[int] = []
        self._size = 0

    def at(self, first: int, last: int) -> Postings:
        """The postings of exactly this range, made if they are new."""
        return self._items.setdefault((first, last), Postings())

    def freeze(self) -> None:
        """Build the tree; to be called once, when all ranges are in."""
        ordered = sorted(self._items.items())
        self._starts = [first for (first, _), _ in ordered]
        self._ends = [(last, postings) for (_, last), postings in ordered]
        self._size = 1
        while self._size < len(ordered):
            self._size *= 2
        tree = [-1] * (2 * self._size)
        for i, (last, _) in enumerate(self._ends):
            tree[self._size + i] = last
        for i in range(self._size - 1, 0, -1):
            tree[i] = max(tree[2 * i], tree[2 * i + 1])
        self._tree = tree

    def around(self, first: int, last: int, hits: list[Postings]) -> None:
        """Add the postings of every range that starts at or before `first` and ends at or behind `last`."""
        count = bisect_right(self._starts, first)
        if count:
            self._visit(1, 0, self._size, count, last, hits)

    def _visit(self, node: int, low: int, high: int, count: int, last: int, hits: list[Postings]) -> None:
        # depth is the logarithm of the number of distinct ranges
        if low >= count or self._tree[node] < last:
            return
        if node >= self._size:
            hits.append(self._ends[low][1])
            return
        middle = (low + high) // 2
        self._visit(2 * node, low, middle, count, last, hits)
        self._visit(2 * node + 1, middle, high, count, last, hits)


class PortIndex:
    """The port forms under one host pattern."""

    __slots__ = ("any", "ranges", "single")

    def __init__(self) -> None:
        self.any: Postings | None = None
        self.single: dict[int, Postings] = {}
        self.ranges: RangeIndex | None = None

    def at(self, ports: Ports) -> Postings:
        """The postings of exactly these ports."""
        match ports.form:
            case "any":
                self.any = self.any or Postings()
                return self.any
            case "single":
                return self.single.setdefault(ports.low, Postings())
            case _:
                self.ranges = self.ranges or RangeIndex()
                return self.ranges.at(ports.low, ports.high)

    def covering(self, ports: Ports, hits: list[Postings]) -> None:
        """Add the postings of the port forms that cover `ports`."""
        if self.any is not None:
            hits.append(self.any)
        if ports.form == "any":
            return
        if ports.form == "single" and (found := self.single.get(ports.low)) is not None:
            hits.append(found)
        if self.ranges is not None:
            self.ranges.around(ports.low, ports.high, hits)


class SegmentNode:
    """A node of a tree of segment patterns."""

    __slots__ = ("children", "globstar", "is_globstar", "leaf", "ports", "star")

    def __init__(self, *, is_globstar: bool = False) -> None:
        self.children: dict[str, SegmentNode] = {}
        self.star: SegmentNode | None = None
        self.globstar: SegmentNode | None = None
        self.is_globstar = is_globstar
        self.leaf: Postings | None = None
        self.ports: PortIndex | None = None

    def child(self, segment: str) -> SegmentNode:
        """The node behind `segment`, made if it is new."""
        if segment == STAR:
            self.star = self.star or SegmentNode()
            return self.star
        if segment == GLOBSTAR:
            self.globstar = self.globstar or SegmentNode(is_globstar=True)
            return self.globstar
        return self.children.setdefault(segment, SegmentNode())

    def end(self) -> Postings:
        """The postings of the pattern that ends here."""
        self.leaf = self.leaf or Postings()
        return self.leaf


def _reached(node: SegmentNode, into: dict[int, SegmentNode]) -> None:
    """Add a node, and the `**` behind it that may stand for nothing."""
    following: SegmentNode | None = node
    while following is not None and id(following) not in into:
        into[id(following)] = following
        following = following.globstar


def _walk_paths(root: SegmentNode, segments: tuple[str, ...], hits: list[Postings]) -> None:
    """RS-fs: all patterns that cover the path, by walking them side by side."""
    states: dict[int, SegmentNode] = {}
    _reached(root, states)
    for symbol in segments:
        after: dict[int, SegmentNode] = {}
        for node in states.values():
            if node.is_globstar:
                after[id(node)] = node
            if symbol == GLOBSTAR:
                continue
            if symbol != STAR and (found := node.children.get(symbol)) is not None:
                _reached(found, after)
            if node.star is not None:
                _reached(node.star, after)
        # a `**` that stays must offer what may follow it again
        for node in list(after.values()):
            if node.is_globstar and node.globstar is not None:
                _reached(node.globstar, after)
        if not after:
            return
        states = after
    hits += [node.leaf for node in states.values() if node.leaf is not None]


def _walk_positions(root: SegmentNode, segments: tuple[str, ...], hits: list[Postings]) -> None:
    """RS-key, RS-ifile: a leading `**` covers everything; elsewhere one segment answers to one."""
    states = [root]
    for symbol in segments:
        after: list[SegmentNode] = []
        for node in states:
            if symbol not in (STAR, GLOBSTAR) and (found := node.children.get(symbol)) is not None:
                after.append(found)
            if node.star is not None and symbol != GLOBSTAR:
                after.append(node.star)
            if node.globstar is not None and node is not root:
                after.append(node.globstar)
        if not after:
            return
        states = after
    hits += [node.leaf for node in states if node.leaf is not None]


class ResourceIndex:
    """All resource patterns under one class, verb and owner pattern."""

    __slots__ = ("_equal", "_hosts", "_leading", "_oplog", "_segments")

    def __init__(self) -> None:
        self._equal: dict[object, Postings] = {}
        self._segments: SegmentNode | None = None
        self._leading: Postings | None = None
        self._hosts: SegmentNode | None = None
        self._oplog: RangeIndex | None = None

    def at(self, resource: Resource) -> Postings:
        """The postings of exactly this pattern, or of one that covers exactly the same."""
        match resource:
            case FilePath(segments):
                self._segments = self._segments or SegmentNode()
                return _grown(self._segments, segments).end()
            case SegmentPath(segments):
                if segments[:1] == (GLOBSTAR,):
                    self._leading = self._leading or Postings()
                    return self._leading
                self._segments = self._segments or SegmentNode()
                return _grown(self._segments, segments).end()
            case NetworkResource(host, ports):
                if host == "*":
                    return self._equal_ports("*").at(ports)
                self._hosts = self._hosts or SegmentNode()
                node = _grown(self._hosts, tuple(host.split(".")))
                node.ports = node.ports or PortIndex()
                return node.ports.at(ports)
            case OplogRange():
                self._oplog = self._oplog or RangeIndex()
                return self._oplog.at(resource.first, resource.last)
            case StoreKey(store, key):
                return self._equal.setdefault(StoreKey(store, "*" if key == "**" else key), Postings())
            case _:
                return self._equal.setdefault(resource, Postings())

    def _equal_ports(self, host: str) -> PortIndex:
        self._hosts = self._hosts or SegmentNode()
        self._hosts.ports = self._hosts.ports or PortIndex()
        return self._hosts.ports

    def freeze(self) -> None:
        """Finish the structures; to be called once, when all patterns are in."""
        if self._oplog is not None:
            self._oplog.freeze()
        if self._hosts is not None:
            _freeze_ports(self._hosts)

    def covering(self, resource: Resource, hits: list[Postings]) -> None:
        """Add the postings of every pattern that covers `resource`."""
        equal = self._equal
        if (found := equal.get(_ANY)) is not None:
            hits.append(found)
        match resource:
            case AnyResource():
                return
            case StoreKey() | TableName() | HttpRoute() | CardTarget():
                for wider in _around(resource):
                    if (found := equal.get(wider)) is not None:
                        hits.append(found)  # noqa: PERF401 - a comprehension would look every key up twice
            case FilePath(segments):
                if self._segments is not None:
                    _walk_paths(self._segments, segments, hits)
            case SegmentPath(segments):
                if self._leading is not None:
                    hits.append(self._leading)
                if self._segments is not None:
                    _walk_positions(self._segments, segments, hits)
            case NetworkResource(host, ports):
                if self._hosts is not None:
                    self._network(self._hosts, host, ports, hits)
            case OplogRange():
                if self._oplog is not None:
                    self._oplog.around(resource.first, resource.last, hits)
            case Exact() | NoResource() | Invocation():
                if (found := equal.get(resource)) is not None:
                    hits.append(found)
            case _:
                assert_never(resource)  # type: ignore[arg-type]  # the protocol is closed by the package

    def _network(self, root: SegmentNode, host: str, ports: Ports, hits: list[Postings]) -> None:
        if root.ports is not None:
            root.ports.covering(ports, hits)
        if host == "*":
            # `*` as a whole host has one label, so a one-label `*` pattern is the same pattern
            return
        states = [root]
        for label in host.split("."):
            after = [found for node in states if (found := node.children.get(label)) is not None and label != STAR]
            after += [node.star for node in states if node.star is not None]
            if not after:
                return
            states = after
        for node in states:
            if node.ports is not None:
                node.ports.covering(ports, hits)


_ANY = AnyResource()


def _grown(node: SegmentNode, segments: tuple[str, ...]) -> SegmentNode:
    for segment in segments:
        node = node.child(segment)
    return node


def _freeze_ports(root: SegmentNode) -> None:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.ports is not None and node.ports.ranges is not None:
            node.ports.ranges.freeze()
        waiting += node.children.values()
        if node.star is not None:
            waiting.append(node.star)


def _around(narrow: StoreKey | TableName | HttpRoute | CardTarget) -> list[Resource]:
    """Every pattern of a fixed number of parts that covers `narrow`, itself among them."""
    match narrow:
        case StoreKey(store, key):
            key = "*" if key == "**" else key
            return [StoreKey(s, k) for s in {store, "*"} for k in {key, "*"}]
        case TableName(database, schema, table):
            return [TableName(d, s, t) for d in {database, "*"} for s in {schema, "*"} for t in {table, "*"}]
        case HttpRoute(domain, path):
            return [HttpRoute(d, path) for d in {domain, "*"}]
        case CardTarget(recipient):
            return [CardTarget(wider) for wider in _recipients_around(recipient)]


def _recipients_around(narrow: Recipient) -> list[Recipient]:
    """Every recipient pattern that covers `narrow` (R4): the shapes of each level over its leading names."""
    around = [Recipient(Level.ANY)]
    for level, least, most in ((Level.ACCOUNT, 1, 1), (Level.ENVIRONMENT, 1, 3), (Level.AGENT, 1, 5)):
        if narrow.level >= level:
            for count in range(least, min(most, len(narrow.known)) + 1):
                external = narrow.is_external_tool_owner and count == Level.AGENT
                around.append(Recipient(level, narrow.known[:count], None, external))
    return around
