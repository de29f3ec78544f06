"""Building and taking apart trees of nodes, one node after another and within bounds.

Every form reads through `build_tree` and writes through `fold_tree`, so that no document, however deep, exhausts the
stack, and so that the bounds on depth and size hold for all forms alike.

Source: retry 7.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.kinds import Kind, Sort, kind_of
from policyd.core.retry.policy import Policy
from policyd.core.retry.predicate import Predicate

MAX_DEPTH = 256
"""The root is at depth 0, the root of a filter's predicate one deeper than its filter."""

MAX_NODES = 65_536
"""Nodes of one tree of the forms that put no smaller bound on it."""

Node = Policy | Predicate


@dataclass(slots=True)
class Opened:
    """A node whose kind is known and whose fields are still as written.

    Attributes:
        kind: its row.
        raw: the fields as written, in the order of the row.
        places: where each field stands.
        leave: called when the node is complete.
    """

    kind: Kind
    raw: Sequence[object]
    places: Sequence[Path]
    leave: Callable[[], None] | None = None
    values: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Bounds:
    """How large a tree may be; counts down while it is read."""

    nodes: int = MAX_NODES
    depth: int = MAX_DEPTH
    label: Label = Label.TOO_DEEP

    def enter(self, depth: int, path: Path) -> None:
        """Count one node.

        Raises:
            RetryFormError: RETRY125 or RETRY122, when it is one too many or too deep.
        """
        self.nodes -= 1
        if depth > self.depth:
            raise RetryFormError.at(self.label, path, f"the tree is deeper than {self.depth}")
        if self.nodes < 0:
            raise RetryFormError.at(self.label, path, "the tree has too many nodes")


Open = Callable[[Sort, object, Path, int], Opened]
Read = Callable[[Sort, object, Path], Any]


def build_tree(sort: Sort, document: object, path: Path, open_node: Open, read_field: Read) -> Node:
    """Read a tree.

    Args:
        sort: what the root is.
        document: the root as written.
        path: where it stands.
        open_node: finds out the kind of a node and cuts it into fields; given its depth.
        read_field: reads a field that holds no node.
    """
    stack = [open_node(sort, document, path, 0)]
    while True:
        top = stack[-1]
        done = len(top.values)
        if done < len(top.raw):
            wanted = top.kind.fields[done].sort
            if wanted.is_tree:
                stack.append(open_node(wanted, top.raw[done], top.places[done], len(stack)))
            else:
                top.values.append(read_field(wanted, top.raw[done], top.places[done]))
            continue
        node: Node = top.kind.build(*top.values)
        if top.leave:
            top.leave()
        stack.pop()
        if not stack:
            return node
        stack[-1].values.append(node)


def fold_tree(root: Node, write: Callable[[Kind, tuple[Any, ...]], Any], read: Callable[[Sort, Any], Any]) -> Any:
    """Take a tree apart from the leaves up.

    Args:
        root: the tree.
        write: makes the form of a node from its row and the forms of its fields.
        read: makes the form of a field that holds no node.
    """
    kind = kind_of(root)
    stack: list[tuple[Kind, tuple[Any, ...], list[Any]]] = [(kind, kind.parts(root), [])]
    while True:
        kind, parts, forms = stack[-1]
        if len(forms) < len(parts):
            sort, part = kind.fields[len(forms)].sort, parts[len(forms)]
            if sort.is_tree:
                below = kind_of(part)
                stack.append((below, below.parts(part), []))
            else:
                forms.append(read(sort, part))
            continue
        form = write(kind, tuple(forms))
        stack.pop()
        if not stack:
            return form
        stack[-1][2].append(form)
