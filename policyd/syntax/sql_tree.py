"""Walking the tree of a parsed statement: plain dicts and lists, in the order of the text.

Trees can be thousands of levels deep, so nothing here recurses.

Source: host 4.7.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Node = Any
"""A dict, a list, or a leaf: the parser's own values as its bindings give them."""

Name = tuple[tuple[str, str | None], ...] | None
"""A table name as the parser compares it: parts with their quote characters; None where it is computed."""


def nodes(tree: Node) -> Iterator[tuple[str, Node]]:
    """Every dict below and at `tree` with the key under which it stands, outer before inner, first before last."""
    stack: list[tuple[str, Node]] = [("", tree)]
    while stack:
        key, node = stack.pop()
        if isinstance(node, dict):
            yield key, node
            stack.extend((inner, node[inner]) for inner in reversed(node))
        elif isinstance(node, (list, tuple)):
            stack.extend((key, inner) for inner in reversed(node))


def name_of(parts: Node) -> Name:
    """The name that a list of parts writes."""
    found = []
    for part in parts:
        match part:
            case {"Identifier": {"value": str(value), "quote_style": quote}}:
                found.append((value, quote))
            case _:
                return None
    return tuple(found)


def is_table_factor(node: Node) -> bool:
    """Whether a dict is the content of a plain table in a FROM clause or where one can stand."""
    return isinstance(node, dict) and "with_hints" in node and "name" in node


def tables_in(tree: Node) -> Iterator[Name]:
    """The names of all tables that stand in FROM clauses and the like below `tree`, in the order of the text."""
    for _, node in nodes(tree):
        if is_table_factor(node):
            yield name_of(node["name"])
