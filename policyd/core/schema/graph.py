"""A type graph: definitions by id, a root, and following references.

Source: middleware 1.2, 1.3, 3.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from policyd.core.schema.steps import spend
from policyd.core.schema.types import EMPTY_RECORD, OptionType, RefType, SchemaType, UnionType, walk


@dataclass(frozen=True, slots=True)
class Definition:
    """A named type: its id, its display name if it has one, its body."""

    id: str
    body: SchemaType
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a reference leads.

    Attributes:
        type: the first type that is no reference; None when there is none.
        last_id: the last id on the way; None when there was no reference.
        is_cycle: whether the chain came back to an id instead of ending at a missing one.
    """

    type: SchemaType | None
    last_id: str | None = None
    is_cycle: bool = False


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of a graph, in order; of several with one id the first counts."""

    items: tuple[Definition, ...] = ()
    _bodies: dict[str, SchemaType] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        bodies: dict[str, SchemaType] = {}
        for item in self.items:
            bodies.setdefault(item.id, item.body)
        object.__setattr__(self, "_bodies", bodies)

    def body(self, id: str) -> SchemaType | None:
        """The body of a definition, or None."""
        return self._bodies.get(id)

    def resolve(self, schema: SchemaType) -> Resolved:
        """Follow references until something else stands there.

        A chain that ends at a missing id has that id as `last_id`; one that comes back has the id met again.
        """
        if not isinstance(schema, RefType):
            return Resolved(schema)
        direct = self._bodies.get(schema.id)
        if direct is not None and not isinstance(direct, RefType):
            return Resolved(direct, schema.id)
        seen: set[str] = set()
        current: SchemaType = schema
        last = schema.id
        while isinstance(current, RefType):
            spend()
            last = current.id
            if last in seen:
                return Resolved(None, last, is_cycle=True)
            seen.add(last)
            body = self._bodies.get(last)
            if body is None:
                return Resolved(None, last)
            current = body
        return Resolved(current, last)

    def is_nullable(self, schema: SchemaType) -> bool:
        """Whether `null` is a value: an option, or a union with a nullable branch, through references.

        What leads nowhere is not nullable.
        """
        seen: set[str] = set()
        pending = [schema]
        while pending:
            spend()
            current = pending.pop()
            if isinstance(current, RefType):
                resolved = self.resolve(current)
                if resolved.type is None or resolved.last_id in seen:
                    continue
                seen.add(resolved.last_id or "")
                current = resolved.type
            if isinstance(current, OptionType):
                return True
            if isinstance(current, UnionType):
                pending.extend(branch.body for branch in current.branches)
        return False

    def reachable(self, roots: Iterable[SchemaType], *, into_secrets: bool = True) -> tuple[Definition, ...]:
        """The definitions that the types need, in their order here; the first of each id only."""
        wanted: set[str] = set()
        pending = list(roots)
        while pending:
            for part in walk(pending.pop(), into_secrets=into_secrets):
                if isinstance(part, RefType) and part.id not in wanted:
                    wanted.add(part.id)
                    body = self._bodies.get(part.id)
                    if body is not None:
                        pending.append(body)
        chosen: dict[str, Definition] = {}
        for item in self.items:
            if item.id in wanted:
                chosen.setdefault(item.id, item)
        return tuple(chosen.values())


NO_DEFINITIONS = Definitions()


@dataclass(frozen=True, slots=True)
class Graph:
    """Definitions and the one type that the graph stands for."""

    root: SchemaType = EMPTY_RECORD
    definitions: Definitions = NO_DEFINITIONS

    def with_root(self, root: SchemaType) -> Graph:
        """The same definitions under another root."""
        return Graph(root, self.definitions)
