"""Forms of queries, selections and tables that the platform refuses at any depth.

Source: host 4.7.
"""

from __future__ import annotations

from policyd.syntax.sql_tree import Node, is_table_factor, nodes

QUERY = "unsupported or effectful query form"
SELECT = "unsupported or effectful select form"
TABLE = "unsupported table expression"

_QUERY_EXTRAS = ("with", "locks", "for_clause", "settings", "format_clause", "pipe_operators")
_SELECT_EXTRAS = ("into", "lateral_views")
_BODIES = frozenset({"Select", "Query", "SetOperation", "Values"})
_READ_FACTORS = frozenset({"Table", "Derived", "NestedJoin"})
_FACTORS = _READ_FACTORS | {
    "Function",
    "JsonTable",
    "MatchRecognize",
    "OpenJsonTable",
    "Pivot",
    "SemanticView",
    "TableFunction",
    "UNNEST",
    "Unpivot",
    "XmlTable",
}
_FACTOR_KEYS = frozenset({"relation", "table", "source"})


def forbidden_form(tree: Node) -> str:
    """The reason of the first forbidden form in `tree`, or nothing."""
    for key, node in nodes(tree):
        reason = _query_form(node) or _table_form(key, node)
        if reason:
            return reason
    return ""


def _query_form(node: Node) -> str:
    if "pipe_operators" in node and "body" in node:
        if any(node.get(extra) for extra in _QUERY_EXTRAS) or not _is_read(node["body"]):
            return QUERY
    elif "set_quantifier" in node and "left" in node:
        if not (_is_read(node["left"]) and _is_read(node["right"])):
            return QUERY
    elif "lateral_views" in node and any(node.get(extra) for extra in _SELECT_EXTRAS):
        return SELECT
    return ""


def _is_read(body: Node) -> bool:
    """Whether the body of a query only reads, and names what it reads."""
    return isinstance(body, dict) and _BODIES.issuperset(body)


def _table_form(key: str, node: Node) -> str:
    """Why a dict that stands where a table can stand is refused."""
    if key not in _FACTOR_KEYS or len(node) != 1:
        return ""
    ((kind, content),) = node.items()
    if kind in _FACTORS and kind not in _READ_FACTORS:
        return TABLE
    if kind == "Table" and is_table_factor(content) and content["args"] is not None:
        return TABLE
    if kind == "Derived" and "Values" in content["subquery"]["body"]:
        return TABLE
    return ""
