"""The one record that callers and implementations exchange per call.

Source: middleware 1.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from policyd.core.schema.engines import Engines
from policyd.core.schema.faults import Fault, FaultKind
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.types import Field, ListType, OptionType, RecordType, SchemaType
from policyd.core.schema.wellformed import faults_of, type_faults
from policyd.core.tools.command_tree import Placed, find_command, placed
from policyd.core.tools.scope import Argument, body_arguments, global_arguments, names_of, short_of
from policyd.core.tools.tool import Body, Flag, Option, Positional, RepeatableList, RepeatableMap, Tail, Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind


@dataclass(frozen=True, slots=True)
class InputField:
    """One field of the record.

    Attributes:
        name: the long or positional name.
        aliases: further names that constraints may use.
        short: the letter, if there is one.
        type: what callers send.
        argument: the argument behind it.
    """

    name: str
    aliases: tuple[str, ...]
    short: str | None
    type: SchemaType
    argument: Argument


@dataclass(frozen=True, slots=True)
class CanonicalInput:
    """The input record of one command.

    Attributes:
        node: the index of the command.
        fields: in canonical order.
        definitions: those that the record needs.
    """

    node: int
    fields: tuple[InputField, ...]
    definitions: Definitions

    @property
    def graph(self) -> Graph:
        """The record as a schema of its own."""
        return Graph(RecordType(tuple(Field(field.name, field.type) for field in self.fields)), self.definitions)


def canonical_input(
    tool: Tool, path: tuple[str, ...], engines: Engines, *, wraps_optional: bool = True
) -> CanonicalInput | ToolFault:
    """The input record of the command that a path of names or aliases leads to, or the first fault met.

    Args:
        tool: valid or not.
        path: from the root, which the empty path selects.
        engines: for regular expressions in the record's types.
        wraps_optional: whether inputs that are neither required nor defaulted become options.
    """
    faults = placed(tool)[1]
    if faults:
        return faults[0]
    place = find_command(tool, path)
    if place is None or tool.commands[place.index].body is None:
        return ToolFault(ToolFaultKind.INVALID_COMMAND_PATH, value=" ".join(path))
    return input_at(tool, place, engines, wraps_optional=wraps_optional)


def input_at(tool: Tool, place: Placed, engines: Engines, *, wraps_optional: bool = True) -> CanonicalInput | ToolFault:
    """The input record of a command with a body, or why there is none."""
    command = tool.commands[place.index]
    fields = tuple(input_fields(tool, place, wraps_optional=wraps_optional))
    needed = Definitions(tool.schema.definitions.reachable(field.type for field in fields))
    record = CanonicalInput(place.index, fields, needed)
    for fault in faults_of(record.graph, engines):
        return ToolFault(_record_fault_kind(fault), command.name, id=fault.id, name=fault.name)
    return record


def input_of_valid(
    tool: Tool, place: Placed, engines: Engines, *, wraps_optional: bool = True
) -> CanonicalInput | ToolFault:
    """Like `input_at`, for a tool known to be valid: only what wrapping adds is left to be judged.

    The record keeps all definitions of the tool, so that many commands of a large tool cost no more than their inputs.
    """
    fields = tuple(input_fields(tool, place, wraps_optional=wraps_optional))
    record = CanonicalInput(place.index, fields, tool.schema.definitions)
    for fault in type_faults(record.graph.root, record.definitions, engines):
        return ToolFault(_record_fault_kind(fault), tool.commands[place.index].name, id=fault.id, name=fault.name)
    return record


def _record_fault_kind(fault: Fault) -> ToolFaultKind:
    match fault.kind:
        case FaultKind.DANGLING_REF:
            return ToolFaultKind.UNRESOLVED_TYPE_REF
        case FaultKind.NEEDS_PATTERNS:
            return ToolFaultKind.NEEDS_ENGINE
        case _:
            return ToolFaultKind.ILL_FORMED_SCHEMA


def input_fields(tool: Tool, place: Placed, *, wraps_optional: bool = True) -> Iterator[InputField]:
    """The fields of a command with a body, in canonical order, whether or not they make a schema."""
    body = tool.commands[place.index].body or Body()
    own = body_arguments(body)
    hiding = {name for argument in own for name in names_of(argument)}
    for index in (*place.ancestors, place.index):
        for argument in global_arguments(tool.commands[index].globals):
            if not hiding.intersection(names_of(argument)):
                yield _field(argument, wraps_optional)
    for argument in own:
        yield _field(argument, wraps_optional)


def _field(argument: Argument, wraps_optional: bool) -> InputField:
    name, *aliases = names_of(argument)
    return InputField(name, tuple(aliases), short_of(argument), _sent_type(argument, wraps_optional), argument)


def _sent_type(argument: Argument, wraps_optional: bool) -> SchemaType:
    match argument:
        case Positional():
            return _wrapped(argument.type, argument, wraps_optional)
        case Tail():
            return ListType(argument.item_type)
        case Option(_, RepeatableList() | RepeatableMap()):
            return argument.declared_type
        case Option():
            return _wrapped(argument.declared_type, argument, wraps_optional)
        case Flag():
            return argument.declared_type
        case _:
            assert_never(argument)


def _wrapped(schema: SchemaType, argument: Positional | Option, wraps_optional: bool) -> SchemaType:
    """An option, when the value may be missing; only an option that is written as one is not wrapped again."""
    may_be_missing = wraps_optional and not argument.required and argument.default is None
    return OptionType(schema) if may_be_missing and not isinstance(schema, OptionType) else schema
