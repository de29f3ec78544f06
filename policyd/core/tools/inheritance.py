"""Errors that a layer passes on without knowing them: they become part of what it presents.

Source: middleware 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policyd.core.schema.equivalent import SameTypes, are_equivalent
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.pairs import Proven
from policyd.core.schema.types import replace_refs
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.tool import Body, DeclaredError, Tool


@dataclass(frozen=True, slots=True)
class Inherited:
    """One error that comes from below.

    Attributes:
        error: as declared there.
        types: the definitions that its payload uses.
        path: the command that declares it.
        is_reachable: whether a call through the layer can run that command.
    """

    error: DeclaredError
    types: Definitions
    path: tuple[str, ...]
    is_reachable: bool


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two errors of one name that differ.

    Attributes:
        name: of the error.
        path: the command of the presented tool, or None where two inherited ones conflict.
    """

    name: str
    path: tuple[str, ...] | None


def inherited_errors(expected: Tool | None, inner: Tool) -> tuple[tuple[Inherited, ...], tuple[Conflict, ...]]:
    """The errors of `inner` that `expected` does not declare at the same command, the first of each name.

    Args:
        expected: None for a wildcard, which declares nothing.
        inner: the effective definition below.
    """
    known: dict[tuple[str, ...], set[str]] = {}
    if expected is not None:
        for path, place in callable_paths(expected).items():
            known[path] = {error.name for error in (expected.commands[place.index].body or Body()).errors}
    found: dict[str, Inherited] = {}
    conflicts: list[Conflict] = []
    same = SameTypes(inner.schema.definitions)
    for path, place in callable_paths(inner).items():
        for error in (inner.commands[place.index].body or Body()).errors:
            if error.name in known.get(path, ()):
                continue
            types = inner.schema.definitions
            mine = Inherited(error, types, path, expected is None or path in known)
            other = found.setdefault(error.name, mine)
            if not _is_same(error, other.error, same):
                conflicts.append(Conflict(error.name, None))
            elif mine.is_reachable and not other.is_reachable:
                found[error.name] = mine
    return tuple(found.values()), tuple(dict.fromkeys(conflicts))


def _is_same(one: DeclaredError, other: DeclaredError, same: SameTypes, others: Definitions | None = None) -> bool:
    """Whether kind, exit code and payload are the same; `others` are the definitions of the second error."""
    if (one.kind, one.exit_code) != (other.kind, other.exit_code):
        return False
    if one.payload is None or other.payload is None:
        return one.payload is other.payload
    return same.holds(one.payload, other.payload, others)


def with_errors(presented: Tool, inherited: tuple[Inherited, ...]) -> tuple[Tool, tuple[Conflict, ...]]:
    """The presented tool with the inherited errors at every command, and where they conflict with declared ones."""
    if not inherited:
        return presented, ()
    naming = _Naming(presented.schema.definitions)
    added = tuple(naming.error(item) for item in inherited)
    conflicts: list[Conflict] = []
    same = SameTypes(presented.schema.definitions)
    commands = list(presented.commands)
    for path, place in callable_paths(presented).items():
        body = commands[place.index].body or Body()
        more: list[DeclaredError] = []
        for item, renamed in zip(inherited, added, strict=True):
            own = next((error for error in body.errors if error.name == item.error.name), None)
            if own is None:
                more.append(renamed)
            elif not _is_same(own, item.error, same, item.types):
                conflicts.append(Conflict(item.error.name, path))
        commands[place.index] = replace(commands[place.index], body=replace(body, errors=(*body.errors, *more)))
    schema = Graph(presented.schema.root, Definitions((*presented.schema.definitions.items, *naming.items())))
    return replace(presented, commands=tuple(commands), schema=schema), tuple(conflicts)


class _Naming:
    """Definitions from below under ids that the presented tool does not use."""

    def __init__(self, own: Definitions) -> None:
        self.own = own
        self.ids = frozenset(item.id for item in own.items)
        self.taken = set(self.ids)
        self.proven: Proven = {}
        self.names: dict[tuple[int, str], str] = {}
        self.added: list[Definition] = []

    def items(self) -> Iterator[Definition]:
        """The definitions to add."""
        return iter(self.added)

    def error(self, item: Inherited) -> DeclaredError:
        """The error with its payload under the new names."""
        payload = item.error.payload
        if payload is None:
            return item.error
        needed = item.types.reachable([payload])
        fresh = [found for found in needed if (id(item.types), found.id) not in self.names]
        for found in fresh:
            self.names[(id(item.types), found.id)] = self._free(found, item.types)
        names = {found.id: self.names[(id(item.types), found.id)] for found in needed}
        for found in fresh:
            if names[found.id] not in self.ids:
                self.added.append(Definition(names[found.id], replace_refs(found.body, names), found.name))
        return replace(item.error, payload=replace_refs(payload, names))

    def _free(self, found: Definition, types: Definitions) -> str:
        """The id itself where it means the same or is free, else one with marks behind it."""
        own = self.own.body(found.id)
        if own is not None and are_equivalent(Graph(own, self.own), Graph(found.body, types), self.proven):
            return found.id
        name = found.id
        while name in self.taken:
            name += "'"
        self.taken.add(name)
        return name
