"""Names for the branches of unions in a JSON Schema document.

Source: middleware 5.5 (`$defs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from policyd.core.schema.graph import Graph
from policyd.core.schema.types import (
    Branch,
    FixedListType,
    ListType,
    MapType,
    OptionType,
    RecordType,
    ResultType,
    SchemaType,
    TupleType,
    UnionType,
    VariantType,
)

BranchKey: TypeAlias = tuple[str, object]
"""What makes two branches one entry: the wanted name, and the branch without its tag."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A branch where it was first seen.

    Attributes:
        branch: the branch.
        positions: names of the surrounding positions, outermost first.
    """

    branch: Branch
    positions: tuple[str, ...]


def camel_case(text: str) -> str:
    """Upper camel case of ASCII letters and digits; everything else separates words.

    >>> camel_case("user-id"), camel_case("2d"), camel_case("é")
    ('UserId', '_2d', 'Branch')
    """
    words = "".join(c if c.isascii() and c.isalnum() else " " for c in text).split()
    joined = "".join(word[0].upper() + word[1:] for word in words)
    if not joined:
        return "Branch"
    return f"_{joined}" if joined[0].isdigit() else joined


def key_of(branch: Branch) -> BranchKey:
    """The key under which equal branches share one entry."""
    return camel_case(branch.tag), (branch.body, branch.discriminator, branch.metadata)


def sightings_in(graph: Graph) -> Iterator[Sighting]:
    """Every branch below the root and the definitions, not behind references and not in secrets."""
    yield from _below(graph.root, ())
    for item in graph.definitions.items:
        yield from _below(item.body, (item.name or item.id,))


def _below(schema: SchemaType, positions: tuple[str, ...]) -> Iterator[Sighting]:
    pending: list[tuple[SchemaType, tuple[str, ...]]] = [(schema, positions)]
    while pending:
        current, at = pending.pop()
        if isinstance(current, UnionType):
            for branch in current.branches:
                yield Sighting(branch, at)
        pending.extend((part, (*at, name)) for name, part in reversed(list(_places(current))))


def _places(schema: SchemaType) -> Iterator[tuple[str, SchemaType]]:
    match schema:
        case RecordType(fields):
            yield from ((field.name, field.body) for field in fields)
        case VariantType(cases):
            yield from ((case.name, case.payload) for case in cases if case.payload is not None)
        case UnionType(branches):
            yield from ((branch.tag, branch.body) for branch in branches)
        case TupleType(elements):
            yield from ((f"item{index}", element) for index, element in enumerate(elements))
        case ListType(element) | FixedListType(element):
            yield "item", element
        case OptionType(inner):
            yield "inner", inner
        case MapType(key, value):
            yield from (("key", key), ("value", value))
        case ResultType(ok, err):
            yield from ((name, slot) for name, slot in (("ok", ok), ("err", err)) if slot is not None)
        case _:
            return


def branch_names(graph: Graph) -> dict[BranchKey, tuple[str, Branch]]:
    """The name of every branch, and the branch that is shown under it.

    Where different branches want one name, or a definition has that id, each of them is given the names of its
    surrounding positions in front, innermost first, until nobody has that name.
    """
    seen: dict[BranchKey, Sighting] = {}
    for sighting in sightings_in(graph):
        seen.setdefault(key_of(sighting.branch), sighting)
    wanted: dict[str, int] = {}
    for name, _ in seen:
        wanted[name] = wanted.get(name, 0) + 1
    taken = {item.id for item in graph.definitions.items}
    names: dict[BranchKey, tuple[str, Branch]] = {}
    clear = {key for key in seen if wanted[key[0]] == 1 and key[0] not in taken}
    taken |= {name for name, _ in clear}
    for key, sighting in seen.items():
        name = key[0] if key in clear else _distinct(key[0], sighting.positions, taken)
        taken.add(name)
        names[key] = (name, sighting.branch)
    return names


def _distinct(name: str, positions: tuple[str, ...], taken: set[str]) -> str:
    for position in reversed(positions):
        name = camel_case(position) + name
        if name not in taken:
            return name
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"
