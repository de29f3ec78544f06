"""Patterns of segments, walked side by side: file paths, keys of config and secrets, initial files.

Source: cards 2.2 RS-fs, RS-ifile, RS-key.
"""

from __future__ import annotations

from policyd.core.admission.owner_index import OwnerIndex
from policyd.core.admission.postings import Postings
from policyd.core.grants import Target
from policyd.core.grants.resources import AnyResource, FilePath, Resource, SegmentPath
from policyd.core.grants.resources.segments import GLOBSTAR, STAR


class SegmentNode:
    """A node of a tree of segment patterns."""

    __slots__ = ("children", "globstar", "is_globstar", "leaf", "star")

    def __init__(self, *, is_globstar: bool = False) -> None:
        self.children: dict[str, SegmentNode] = {}
        self.star: SegmentNode | None = None
        self.globstar: SegmentNode | None = None
        self.is_globstar = is_globstar
        self.leaf: OwnerIndex | None = None

    def below(self, segments: tuple[str, ...]) -> OwnerIndex:
        """The owners under the pattern of these segments, made if they are new."""
        node = self
        for segment in segments:
            if segment == STAR:
                node.star = node.star or SegmentNode()
                node = node.star
            elif segment == GLOBSTAR:
                node.globstar = node.globstar or SegmentNode(is_globstar=True)
                node = node.globstar
            else:
                found = node.children.get(segment)
                if found is None:
                    found = node.children[segment] = SegmentNode()
                node = found
        node.leaf = node.leaf or OwnerIndex()
        return node.leaf


class PathIndex:
    """File paths, in which `**` stands for any run of segments."""

    __slots__ = ("_root",)

    def __init__(self) -> None:
        self._root = SegmentNode()

    def at(self, resource: Resource) -> OwnerIndex:
        """The owners under exactly this path pattern."""
        assert isinstance(resource, FilePath)  # the class has no other resource
        return self._root.below(resource.segments)

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """Add the postings of every path pattern that covers the target."""
        resource = target.resource
        assert isinstance(resource, FilePath)  # the class has no other resource
        states: list[SegmentNode] = []
        _reach(self._root, states)
        for symbol in resource.segments:
            after: list[SegmentNode] = []
            for node in states:
                if node.is_globstar:
                    _reach(node, after)
                if symbol == GLOBSTAR:
                    continue
                if symbol != STAR:
                    found = node.children.get(symbol)
                    if found is not None:
                        _reach(found, after)
                if node.star is not None:
                    _reach(node.star, after)
            if not after:
                return
            states = after
        for node in states:
            if node.leaf is not None:
                node.leaf.covering(target, hits)

    def freeze(self) -> None:
        """Nothing is left to do."""


def _reach(node: SegmentNode, into: list[SegmentNode]) -> None:
    """Add a node, and every `**` right behind it, which may stand for nothing; each once."""
    following: SegmentNode | None = node
    while following is not None:
        if following not in into:
            into.append(following)
        following = following.globstar


class PositionIndex:
    """Keys and initial files: one segment answers to one, and a leading `**` covers everything."""

    __slots__ = ("_any", "_leading", "_root")

    def __init__(self) -> None:
        self._any: OwnerIndex | None = None
        self._leading: OwnerIndex | None = None
        self._root = SegmentNode()

    def at(self, resource: Resource) -> OwnerIndex:
        """The owners under exactly this pattern; all patterns that begin with `**` are one."""
        if isinstance(resource, AnyResource):
            self._any = self._any or OwnerIndex()
            return self._any
        assert isinstance(resource, SegmentPath)  # the class has no other resource
        if resource.segments[:1] == (GLOBSTAR,):
            self._leading = self._leading or OwnerIndex()
            return self._leading
        return self._root.below(resource.segments)

    def covering(self, target: Target, hits: list[Postings]) -> None:
        """Add the postings of every pattern that covers the target."""
        if self._any is not None:
            self._any.covering(target, hits)
        resource = target.resource
        if not isinstance(resource, SegmentPath):
            return
        if self._leading is not None:
            self._leading.covering(target, hits)
        states = [self._root]
        for symbol in resource.segments:
            after: list[SegmentNode] = []
            for node in states:
                if symbol not in (STAR, GLOBSTAR):
                    found = node.children.get(symbol)
                    if found is not None:
                        after.append(found)
                if node.star is not None and symbol != GLOBSTAR:
                    after.append(node.star)
                if node.globstar is not None:
                    after.append(node.globstar)
            if not after:
                return
            states = after
        for node in states:
            if node.leaf is not None:
                node.leaf.covering(target, hits)

    def freeze(self) -> None:
        """Nothing is left to do."""
