"""Strict equality of two tools: the whole description, documentation and the names of types apart.

Both are written as JSON, stripped of version and documentation, and their type ids are renamed in the order in which a
fixed walk meets them; definitions that nothing uses are appended, the smallest connected part first.

Source: middleware 3.5 (whole-descriptor pre-check), 3.12.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from policyd.core.schema.graph import Definitions
from policyd.core.schema.type_write import type_json
from policyd.core.schema.types import RefType, SchemaType, walk
from policyd.core.tools.positions import written_type
from policyd.core.tools.tool import Command, Option, Tool
from policyd.core.tools.tool_write import tool_json


def are_strictly_equal(one: Tool, other: Tool) -> bool:
    """Whether two valid tools are the same description."""
    return canonical_description(one) == canonical_description(other)


def canonical_description(tool: Tool) -> str:
    """The text by which strict equality compares."""
    definitions = tool.schema.definitions
    naming = _Naming(definitions)
    for schema in _types_in_order(tool):
        naming.visit(schema)
    naming.visit(tool.schema.root)
    root = type_json(tool.schema.root)
    commands = _stripped({**tool_json(tool), "schema": root, "version": None}, naming.names)
    used = _serialized(naming.names, naming.names, definitions)
    unused = [item.id for item in definitions.items if item.id not in naming.names]
    parts = sorted(_part_text(part, naming, definitions) for part in _connected(unused, definitions))
    return json.dumps([commands, used, parts], sort_keys=True)


def _types_in_order(tool: Tool) -> Iterator[SchemaType]:
    """The types of all commands in the order of the walk."""
    for command in tool.commands:
        yield from _types_of(command)


def _types_of(command: Command) -> Iterator[SchemaType]:
    """Global options, positionals, tail, options, result, errors."""

    def written(options: tuple[Option, ...]) -> Iterator[SchemaType]:
        return (written_type(option.shape) for option in options)

    yield from written(command.globals.options)
    body = command.body
    if body is None:
        return
    yield from (positional.type for positional in body.fixed)
    if body.tail is not None:
        yield body.tail.item_type
    yield from written(body.options)
    if body.result is not None:
        yield body.result.type
    yield from (error.payload for error in body.errors if error.payload is not None)


@dataclass(slots=True)
class _Naming:
    """New names of type ids, in the order in which references are met, definitions depth first."""

    definitions: Definitions
    names: dict[str, str] = field(default_factory=dict)
    prefix: str = "used "

    def visit(self, schema: SchemaType) -> None:
        """Name what a type refers to, and what that refers to."""
        pending = [walk(schema)]
        while pending:
            part = next(pending[-1], None)
            if part is None:
                pending.pop()
            elif isinstance(part, RefType) and part.id not in self.names:
                self.names[part.id] = f"{self.prefix}{len(self.names)}"
                body = self.definitions.body(part.id)
                if body is not None:
                    pending.append(walk(body))


def _stripped(value: object, names: Mapping[str, str]) -> object:
    """JSON without documentation, references renamed; metadata that says nothing is left out."""
    if isinstance(value, list):
        return [_stripped(part, names) for part in value]
    if not isinstance(value, dict):
        return value
    if value.get("kind") == "ref":
        value = {**value, "value": {**value["value"], "id": names[value["value"]["id"]]}}
    kept = {name: _stripped(part, names) for name, part in value.items() if name != "doc"}
    if kept.get("metadata") == {}:
        del kept["metadata"]
    return kept


def _serialized(ids: Iterable[str], names: Mapping[str, str], definitions: Definitions) -> list[object]:
    """The definitions of these ids under their new names."""
    by_id = {item.id: item for item in reversed(definitions.items)}
    return [[names[id], by_id[id].name, _stripped(type_json(by_id[id].body), names)] for id in ids if id in by_id]


def _refs_in(schema: SchemaType) -> Iterator[str]:
    return (part.id for part in walk(schema) if isinstance(part, RefType))


def _connected(unused: list[str], definitions: Definitions) -> Iterator[list[str]]:
    """The unused definitions in parts that have nothing to do with each other."""
    neighbours: dict[str, set[str]] = {id: set() for id in unused}
    for id in unused:
        for other in _refs_in(definitions.body(id) or RefType(id)):
            if other in neighbours:
                neighbours[id].add(other)
                neighbours[other].add(id)
    seen: set[str] = set()
    for id in unused:
        if id in seen:
            continue
        part: list[str] = []
        pending = [id]
        seen.add(id)
        while pending:
            current = pending.pop()
            part.append(current)
            fresh = neighbours[current] - seen
            seen |= fresh
            pending.extend(fresh)
        yield part


def _part_text(part: list[str], used: _Naming, definitions: Definitions) -> str:
    """The text of one part: from the beginning with the smallest text, until all of it is named."""
    naming = _Naming(definitions, dict(used.names), "unused ")
    left = set(part)
    texts: list[str] = []
    while left:
        choices = [_closure_text(id, naming, definitions) for id in sorted(_beginnings(left, definitions))]
        text, naming = min(choices, key=lambda choice: choice[0])
        texts.append(text)
        left -= naming.names.keys()
    return json.dumps(texts)


def _closure_text(id: str, naming: _Naming, definitions: Definitions) -> tuple[str, _Naming]:
    """What a definition and everything new below it look like, and the names that follow from that."""
    grown = _Naming(definitions, dict(naming.names), naming.prefix)
    grown.visit(RefType(id))
    fresh = [name for name in grown.names if name not in naming.names]
    return json.dumps(_serialized(fresh, grown.names, definitions), sort_keys=True), grown


def _beginnings(left: set[str], definitions: Definitions) -> set[str]:
    """The definitions to begin with: those that no other one left refers to, or all of them in a cycle."""
    referred = {other for id in left for other in _refs_in(definitions.body(id) or RefType(id)) if other != id}
    return (left - referred) or left
