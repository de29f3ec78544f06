"""Which names and letters are in scope in a command, and where they clash.

Source: middleware 1.3 (`DuplicateName`, `DuplicateShort`, `InvalidIdentifier`, `DuplicateSubcommandName`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from policyd.core.tools.command_tree import Placed
from policyd.core.tools.identifiers import is_identifier
from policyd.core.tools.tool import Body, Command, Flag, Globals, Option, Positional, Tail, Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind

Argument: TypeAlias = Positional | Tail | Option | Flag


def names_of(argument: Argument) -> tuple[str, ...]:
    """The name of an argument and its aliases."""
    match argument:
        case Positional() | Tail():
            return (argument.name,)
        case Option() | Flag():
            return (argument.long, *argument.aliases)


def short_of(argument: Argument) -> str | None:
    """The letter of an argument, if it has one."""
    return argument.short if isinstance(argument, (Option, Flag)) else None


def global_arguments(found: Globals) -> tuple[Argument, ...]:
    """Options, then flags."""
    return (*found.options, *found.flags)


def body_arguments(body: Body) -> tuple[Argument, ...]:
    """Positionals, the tail, options, flags."""
    return (*body.fixed, *(() if body.tail is None else (body.tail,)), *body.options, *body.flags)


@dataclass(slots=True)
class Scope:
    """Names and letters taken so far."""

    names: set[str] = field(default_factory=set)
    shorts: set[str] = field(default_factory=set)

    def add(self, arguments: tuple[Argument, ...], command: str) -> Iterator[ToolFault]:
        """Take the names of more arguments; each one taken before is a fault of `command`."""
        for argument in arguments:
            for name in names_of(argument):
                if name in self.names:
                    yield ToolFault(ToolFaultKind.DUPLICATE_NAME, command, name=name)
                self.names.add(name)
            short = short_of(argument)
            if short is not None:
                if short in self.shorts:
                    yield ToolFault(ToolFaultKind.DUPLICATE_SHORT, command, short=short)
                self.shorts.add(short)


def scope_of(tool: Tool, place: Placed) -> tuple[Scope, tuple[ToolFault, ...]]:
    """Everything in scope in a command, and the clashes that the command itself introduces."""
    scope = Scope()
    for ancestor in place.ancestors:
        for _ in scope.add(global_arguments(tool.commands[ancestor].globals), ""):
            continue
    command = tool.commands[place.index]
    faults = list(scope.add(global_arguments(command.globals), command.name))
    if command.body is not None:
        faults.extend(scope.add(body_arguments(command.body), command.name))
    return scope, tuple(faults)


def identifier_faults(command: Command) -> Iterator[ToolFault]:
    """Every name of a command that is no identifier."""
    for name in _names_in(command):
        if not is_identifier(name):
            yield ToolFault(ToolFaultKind.INVALID_IDENTIFIER, value=name)


def _names_in(command: Command) -> Iterator[str]:
    yield from (command.name, *command.aliases)
    for argument in global_arguments(command.globals):
        yield from names_of(argument)
    if command.body is not None:
        for argument in body_arguments(command.body):
            yield from names_of(argument)
        if command.body.result is not None:
            yield from (formatter.name for formatter in command.body.result.formatters)
        yield from (error.name for error in command.body.errors)


def sibling_faults(tool: Tool, index: int) -> Iterator[ToolFault]:
    """Names that two children of a command share, or that one child repeats."""
    command = tool.commands[index]
    taken: set[str] = set()
    for child in tool.children(index):
        for name in (tool.commands[child].name, *tool.commands[child].aliases):
            if name in taken:
                yield ToolFault(ToolFaultKind.DUPLICATE_SUBCOMMAND_NAME, name=name, parent=command.name)
            taken.add(name)
