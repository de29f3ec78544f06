"""The canonical arguments of a call: its input record written as command line words.

Source: middleware 4.6, host 4.9.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from policyd.core.schema.cli_text import cli_text
from policyd.core.schema.graph import Definitions
from policyd.core.schema.json_faults import JsonFault
from policyd.core.schema.types import ListType, MapType, OptionType, SchemaType
from policyd.core.schema.values import (
    BoolValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    RecordValue,
    SchemaValue,
    StringValue,
)
from policyd.core.tools.canonical_input import InputField, input_fields
from policyd.core.tools.command_tree import find_command, placed
from policyd.core.tools.tool import (
    BoolFlag,
    Flag,
    Option,
    Positional,
    RepeatableList,
    RepeatableMap,
    Repetition,
    RepetitionKind,
    Tail,
    Tool,
)

MAX_COUNT = 65_536
"""How often a counted flag is written; greater counts are refused."""


@dataclass(frozen=True, slots=True)
class NoArguments:
    """Why a call cannot be written as arguments.

    Attributes:
        kind: `command` when there is no such command with a body, else `input`.
        reason: one line for a person.
    """

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class Written:
    """One word of a call.

    Attributes:
        text: as it stands in the target.
        is_positional: whether the definition makes it no option, whatever it looks like.
    """

    text: str
    is_positional: bool


class _UnwritableError(Exception):
    """An input that cannot be written."""


def canonical_arguments(
    tool: Tool, path: tuple[str, ...], value: SchemaValue, *, wraps_optional: bool = True, by_definition: bool = True
) -> tuple[str, ...] | NoArguments:
    """The arguments of a call, in canonical order; see `written_arguments`."""
    found = written_arguments(tool, path, value, wraps_optional=wraps_optional, by_definition=by_definition)
    return found if isinstance(found, NoArguments) else tuple(word.text for word in found)


def written_arguments(
    tool: Tool,
    path: tuple[str, ...],
    value: SchemaValue,
    *,
    wraps_optional: bool = True,
    by_definition: bool = True,
    quotes: bool = True,
) -> tuple[Written, ...] | NoArguments:
    """The words of a call, in canonical order.

    Args:
        tool: its definition.
        path: names or aliases from the root.
        value: the input record; only its shape matters.
        wraps_optional: whether inputs that are neither required nor defaulted are options.
        by_definition: whether the absent ones of these are left out and the present ones written by themselves; else
            everything is written through its type.
        quotes: whether strings are written in quotes; they are, and the other way is for what-if.
    """
    place = None if placed(tool)[1] else find_command(tool, path)
    if place is None or tool.commands[place.index].body is None:
        return NoArguments("command", f"there is no command `{' '.join(path)}` that can be called")
    fields = tuple(input_fields(tool, place, wraps_optional=wraps_optional))
    if not isinstance(value, RecordValue) or len(value.fields) != len(fields):
        return NoArguments("input", f"the input is a record of {len(fields)} fields")
    writer = _Writer(tool.schema.definitions, by_definition, quotes)
    try:
        return tuple(
            Written(word, isinstance(field.argument, (Positional, Tail)))
            for field, part in zip(fields, value.fields, strict=True)
            for word in writer.words(field, part)
        )
    except _UnwritableError as error:
        return NoArguments("input", str(error))


@dataclass(frozen=True, slots=True)
class _Writer:
    definitions: Definitions
    by_definition: bool
    quotes: bool = True

    def text(self, schema: SchemaType, value: SchemaValue) -> str:
        """One value as text."""
        if not self.quotes and isinstance(value, StringValue):
            return value.value
        written = cli_text(value, schema, self.definitions)
        if isinstance(written, JsonFault):
            raise _UnwritableError(written.reason)
        return written

    def words(self, field: InputField, value: SchemaValue) -> Iterator[str]:
        """The words of one field."""
        argument = field.argument
        match argument:
            case Flag(long, shape):
                yield from (
                    _flag_words(long, shape, value)
                    if isinstance(shape, BoolFlag)
                    else _count_words(long, shape.max, value)
                )
            case Tail():
                yield from self.tail(argument, value)
            case Option(long, RepeatableList(item_type, repetition)):
                items = self.items(ListType(item_type), value)
                yield from _repeated(long, repetition, items)
            case Option(long, RepeatableMap(map_type, repetition)):
                yield from _repeated(long, repetition, self.pairs(map_type, value))
            case Option(long):
                yield from (f"--{long}={text}" for text in self.single(field, value))
            case Positional():
                yield from self.single(field, value)
            case _:
                assert_never(argument)

    def single(self, field: InputField, value: SchemaValue) -> Iterator[str]:
        """The text of one value; none when it is absent and that is told by leaving it out."""
        argument = field.argument
        may_be_missing = (
            isinstance(argument, (Positional, Option)) and not argument.required and argument.default is None
        )
        if self.by_definition and may_be_missing and isinstance(field.type, OptionType):
            if not isinstance(value, OptionValue):
                raise _UnwritableError(f"`{field.name}` is an option")
            if value.inner is not None:
                yield self.text(field.type.inner, value.inner)
            return
        yield self.text(field.type, value)

    def items(self, schema: ListType, value: SchemaValue) -> list[str]:
        """The texts of a list's elements."""
        if not isinstance(value, ListValue):
            raise _UnwritableError("a list is needed")
        return [self.text(schema.element, item) for item in value.elements]

    def pairs(self, schema: SchemaType, value: SchemaValue) -> list[str]:
        """The texts `key=value` of a map's pairs."""
        resolved = self.definitions.resolve(schema).type
        if not isinstance(resolved, MapType) or not isinstance(value, MapValue):
            raise _UnwritableError("a map is needed")
        return [f"{self.text(resolved.key, k)}={self.text(resolved.value, v)}" for k, v in value.entries]

    def tail(self, tail: Tail, value: SchemaValue) -> Iterator[str]:
        """The separator, if there is one and something follows, and the items."""
        items = self.items(ListType(tail.item_type), value)
        if items and tail.separator is not None:
            yield tail.separator
        yield from items


def _flag_words(long: str, shape: BoolFlag, value: SchemaValue) -> Iterator[str]:
    if not isinstance(value, BoolValue):
        raise _UnwritableError(f"`{long}` is true or false")
    if value.value == shape.default:
        return
    if not value.value and not shape.negatable:
        raise _UnwritableError(f"`{long}` cannot be written as false")
    yield f"--{long}" if value.value else f"--no-{long}"


def _count_words(long: str, highest: int | None, value: SchemaValue) -> Iterator[str]:
    if not isinstance(value, NumberValue) or not isinstance(value.value, int):
        raise _UnwritableError(f"`{long}` is counted")
    limit = MAX_COUNT if highest is None else min(highest, MAX_COUNT)
    if value.value > limit:
        raise _UnwritableError(f"`{long}` is counted up to {limit}")
    yield from (f"--{long}" for _ in range(value.value))


def _repeated(long: str, repetition: Repetition, texts: list[str]) -> Iterator[str]:
    if repetition.kind is RepetitionKind.REPEATED or repetition.separator is None:
        yield from (f"--{long}={text}" for text in texts)
    elif texts:
        yield f"--{long}={repetition.separator.join(texts)}"
