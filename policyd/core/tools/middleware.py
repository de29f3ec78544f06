"""Middleware definitions: their kinds, their validity, and reading them.

Source: middleware 1.4, 2.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.reading import fail, list_of, member, members, optional, surfaced, text
from policyd.core.schema.type_read import graph_at
from policyd.core.tools.identifiers import is_blank, is_identifier
from policyd.core.tools.tool import NO_DOC, Doc, Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind
from policyd.core.tools.tool_read import doc_at, tool_at
from policyd.core.tools.validate import tool_faults


@dataclass(frozen=True, slots=True)
class Universal:
    """Stands above any tool and leaves its definition as it is."""


@dataclass(frozen=True, slots=True)
class Monomorphic:
    """Presents one tool; expects another below, or any (a wildcard)."""

    presented: Tool
    expected: Tool | None


Scope: TypeAlias = Universal | Monomorphic


@dataclass(frozen=True, slots=True)
class Middleware:
    """A middleware as its component declares it.

    Attributes:
        parameter_schema: its root is the type of the installation parameters.
        account: the owner's e-mail, where a document says it; no part of the metadata.
    """

    name: str
    version: str
    aliases: tuple[str, ...]
    scope: Scope
    parameter_schema: Graph
    doc: Doc = NO_DOC
    account: str | None = None


def read_middleware(json: object) -> Middleware:
    """The middleware that a JSON value stands for; it need not be valid.

    Raises:
        InputError: CHAIN002, when members are missing or of the wrong kind.
    """
    return surfaced("CHAIN002", "middleware", lambda: middleware_at(json))


def middleware_at(json: object) -> Middleware:
    """Like `read_middleware`, inside of something that is being read."""
    found = members(json)
    return Middleware(
        member(found, "name", text),
        member(found, "version", text),
        optional(found, "aliases", list_of(text)) or (),
        member(found, "scope", _scope),
        member(found, "parameter_schema", graph_at),
        doc_at(found),
    )


def _scope(json: object) -> Scope:
    found = members(json)
    kind = member(found, "kind", text)
    if kind == "universal":
        return Universal()
    if kind != "monomorphic":
        fail(f"`{kind}` is no scope")
    both = member(found, "value", members)
    return Monomorphic(member(both, "presented", tool_at), optional(both, "expected", tool_at))


@dataclass(frozen=True, slots=True)
class EmbeddedFaults:
    """The faults of a tool that a middleware carries; `part` is `presented` or `expected`."""

    part: str
    faults: tuple[ToolFault, ...]


def middleware_faults(middleware: Middleware, engines: Engines) -> tuple[ToolFault | EmbeddedFaults, ...]:
    """Every fault of a middleware; the schema of its parameters is not judged here, as by the platform."""
    return tuple(_faults(middleware, engines))


def _faults(middleware: Middleware, engines: Engines) -> Iterator[ToolFault | EmbeddedFaults]:
    if is_blank(middleware.version):
        yield ToolFault(ToolFaultKind.EMPTY_VERSION)
    taken: set[str] = set()
    for name in (middleware.name, *middleware.aliases):
        if not is_identifier(name):
            yield ToolFault(ToolFaultKind.INVALID_IDENTIFIER, value=name)
        if name in taken:
            yield ToolFault(ToolFaultKind.DUPLICATE_IDENTITY, value=name)
        taken.add(name)
    scope = middleware.scope
    if isinstance(scope, Monomorphic):
        for part, tool in (("presented", scope.presented), ("expected", scope.expected)):
            faults = () if tool is None else tool_faults(tool, engines)
            if faults:
                yield EmbeddedFaults(part, faults)
