"""Where types stand in a tool: arguments, results, error payloads.

Source: middleware 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.schema.types import SchemaType
from policyd.core.tools.tool import (
    Command,
    Option,
    OptionalScalar,
    RepeatableList,
    RepeatableMap,
    Scalar,
    Shape,
    Tool,
)


@dataclass(frozen=True, slots=True)
class Position:
    """A type where it stands.

    Attributes:
        command: the name of the command.
        name: the argument, `result`, or the name of the error.
        type: what is written there; for repeatable arguments the type of one item, for map options the map.
        is_input: whether callers supply it.
    """

    command: str
    name: str
    type: SchemaType
    is_input: bool


def written_type(shape: Shape) -> SchemaType:
    """The type that an option's shape is written with."""
    match shape:
        case Scalar(type_) | OptionalScalar(type_):
            return type_
        case RepeatableList(item_type):
            return item_type
        case RepeatableMap(map_type):
            return map_type


def positions_of(tool: Tool) -> Iterator[Position]:
    """Every position of a tool, command by command."""
    for command in tool.commands:
        yield from _positions(command)


def _positions(command: Command) -> Iterator[Position]:
    def options(found: tuple[Option, ...]) -> Iterator[Position]:
        return (Position(command.name, option.long, written_type(option.shape), True) for option in found)

    yield from options(command.globals.options)
    body = command.body
    if body is None:
        return
    for positional in body.fixed:
        yield Position(command.name, positional.name, positional.type, True)
    if body.tail is not None:
        yield Position(command.name, body.tail.name, body.tail.item_type, True)
    yield from options(body.options)
    if body.result is not None:
        yield Position(command.name, "result", body.result.type, False)
    for error in body.errors:
        if error.payload is not None:
            yield Position(command.name, error.name, error.payload, False)
