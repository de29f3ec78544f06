"""The short notation of types in the cases, read into graphs."""

from __future__ import annotations

from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.types import SchemaType
from policyd.syntax.type_text import parse_type


def graph(text: str, types: dict[str, str] | None = None) -> Graph:
    """The graph of a type, with named types written the same way."""
    items = tuple(Definition(name, schema(body)) for name, body in (types or {}).items())
    return Graph(schema(text), Definitions(items))


def schema(text: str) -> SchemaType:
    """The type of one text."""
    return parse_type(text)
