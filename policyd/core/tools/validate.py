"""Whether a tool definition is valid: every fault of it.

Source: middleware 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.outcomes import Violation, ViolationKind
from policyd.core.schema.types import FixedListType, ListType, MapType, OptionType, SchemaType
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.command_tree import Placed, placed
from policyd.core.tools.constraint import ValueIs, refs_of
from policyd.core.tools.identifiers import is_blank
from policyd.core.tools.scope import (
    Argument,
    body_arguments,
    global_arguments,
    identifier_faults,
    names_of,
    scope_of,
    sibling_faults,
)
from policyd.core.tools.tool import Body, Command, Flag, Option, Positional, RepeatableList, RepeatableMap, Tail, Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind
from policyd.core.tools.tool_types import tool_type_faults

_UNDECIDED = (ViolationKind.NEEDS_PATTERNS, ViolationKind.NEEDS_URLS)


def tool_faults(tool: Tool, engines: Engines) -> tuple[ToolFault, ...]:
    """Every fault of a tool; none when it is valid.

    A fault of kind `NEEDS_ENGINE` says that the answer needs an engine that is not there. Not looked at: tail bounds,
    repeated error and formatter names, MIME types, the placeholder root of the schema.
    """
    places, found = placed(tool)
    faults = [*found]
    if is_blank(tool.version):
        faults.append(ToolFault(ToolFaultKind.EMPTY_VERSION))
    for place in places:
        faults.extend(sibling_faults(tool, place.index))
        faults.extend(_command_faults(tool, place, engines))
    faults.extend(tool_type_faults(tool, engines))
    return tuple(faults)


def _command_faults(tool: Tool, place: Placed, engines: Engines) -> Iterator[ToolFault]:
    command = tool.commands[place.index]
    definitions = tool.schema.definitions
    yield from identifier_faults(command)
    scope, clashes = scope_of(tool, place)
    yield from clashes
    own = (*global_arguments(command.globals), *(body_arguments(command.body) if command.body else ()))
    for argument in own:
        yield from _argument_faults(argument, command, definitions, engines)
    if command.body is not None:
        yield from _result_faults(command.body, command.name)
        known = _in_scope(tool, place)
        yield from _constraint_faults(command.body, command.name, scope.names, known, definitions, engines)


def _in_scope(tool: Tool, place: Placed) -> dict[str, Argument]:
    """The arguments by name and alias; of several with one name the last that takes a value counts, flags do not."""
    command = tool.commands[place.index]
    chain = [tool.commands[index].globals for index in (*place.ancestors, place.index)]
    inherited = [argument for found in chain for argument in global_arguments(found)]
    own = body_arguments(command.body) if command.body else ()
    ranked = sorted((*inherited, *own), key=lambda argument: not isinstance(argument, Flag))
    return {name: argument for argument in ranked for name in names_of(argument)}


def _argument_faults(
    argument: Argument, command: Command, definitions: Definitions, engines: Engines
) -> Iterator[ToolFault]:
    match argument:
        case Option(long, shape):
            if isinstance(shape, RepeatableMap):
                resolved = definitions.resolve(shape.map_type).type
                if resolved is not None and not isinstance(resolved, MapType):
                    yield ToolFault(ToolFaultKind.REPEATABLE_MAP_TYPE_NOT_MAP, command.name, name=long)
            yield from _default_faults(long, argument, command.name, definitions, engines)
        case Positional(name):
            yield from _default_faults(name, argument, command.name, definitions, engines)
        case Tail(name):
            if argument.verbatim and argument.separator is None:
                yield ToolFault(ToolFaultKind.VERBATIM_WITHOUT_SEPARATOR, command.name, positional=name)
        case Flag():
            return


def _default_faults(
    name: str, argument: Positional | Option, command: str, definitions: Definitions, engines: Engines
) -> Iterator[ToolFault]:
    """A default must be a value of the declared type, never of the one that callers see."""
    if argument.default is None:
        return
    declared = argument.type if isinstance(argument, Positional) else argument.declared_type
    broken = violations_of(argument.default, Graph(declared, definitions), engines)
    yield from _unfit(broken, ToolFaultKind.DEFAULT_TYPE_MISMATCH, command, name)


def _unfit(broken: tuple[Violation, ...], kind: ToolFaultKind, command: str, name: str) -> Iterator[ToolFault]:
    """A value that does not fit; what follows from a dangling reference alone is not told again."""
    rest = [violation for violation in broken if violation.kind is not ViolationKind.DANGLING_REF]
    if rest and all(violation.kind in _UNDECIDED for violation in rest):
        yield ToolFault(ToolFaultKind.NEEDS_ENGINE, command, position=name)
    elif rest:
        yield ToolFault(kind, command, name=name)


def _result_faults(body: Body, command: str) -> Iterator[ToolFault]:
    result = body.result
    if result is None or (result.is_sketch and not result.formatters):
        return
    if all(formatter.name != result.default_formatter for formatter in result.formatters):
        yield ToolFault(ToolFaultKind.UNRESOLVED_DEFAULT_FORMATTER, command, formatter=result.default_formatter)


def _constraint_faults(
    body: Body,
    command: str,
    names: set[str],
    known: dict[str, Argument],
    definitions: Definitions,
    engines: Engines,
) -> Iterator[ToolFault]:
    for constraint in body.constraints:
        for ref in refs_of(constraint):
            if ref.name not in names:
                yield ToolFault(ToolFaultKind.UNRESOLVED_CONSTRAINT_REF, command, name=ref.name)
            elif isinstance(ref, ValueIs):
                broken = _literal_violations(ref.value, known[ref.name], definitions, engines)
                yield from _unfit(broken, ToolFaultKind.VALUE_IS_TYPE_MISMATCH, command, ref.name)


def _literal_violations(
    literal: SchemaValue, argument: Argument, definitions: Definitions, engines: Engines
) -> tuple[Violation, ...]:
    """Why a `value-is` literal fits no occurrence of the argument; nothing when it fits one."""
    best: tuple[Violation, ...] | None = None
    for schema in _occurrences(argument, definitions):
        broken = violations_of(literal, Graph(schema, definitions), engines)
        if not broken:
            return ()
        if best is None or _is_milder(broken, best):
            best = broken
    return (Violation(ViolationKind.SHAPE_MISMATCH),) if best is None else best


def _is_milder(one: tuple[Violation, ...], other: tuple[Violation, ...]) -> bool:
    """Whether `one` leaves more open than `other`: it only lacks definitions or engines."""
    open_kinds = (*_UNDECIDED, ViolationKind.DANGLING_REF)

    def closed(broken: tuple[Violation, ...]) -> bool:
        return any(violation.kind not in open_kinds for violation in broken)

    return closed(other) and not closed(one)


def _occurrences(argument: Argument, definitions: Definitions) -> tuple[SchemaType, ...]:
    """The types of which a literal may be; none for flags."""
    match argument:
        case Flag():
            return ()
        case Tail():
            return (argument.item_type,)
        case Option(_, RepeatableList(item_type)):
            return (item_type,)
        case Option(_, RepeatableMap(map_type)):
            resolved = definitions.resolve(map_type).type
            return (resolved.value,) if isinstance(resolved, MapType) else (map_type,)
        case Option():
            return _whole_or_inside(argument.declared_type, definitions)
        case Positional():
            return _whole_or_inside(argument.type, definitions)


def _whole_or_inside(schema: SchemaType, definitions: Definitions) -> tuple[SchemaType, ...]:
    """The type itself, and what a list or map behind any number of options holds."""
    seen: set[int] = set()
    current = definitions.resolve(schema).type
    while isinstance(current, OptionType) and id(current) not in seen:
        seen.add(id(current))
        current = definitions.resolve(current.inner).type
    match current:
        case ListType(element) | FixedListType(element):
            return (schema, element)
        case MapType(_, value):
            return (schema, value)
        case _:
            return (schema,)
