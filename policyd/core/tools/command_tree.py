"""The shape of the command tree: reachable from the root, each command under one parent.

Source: middleware 1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.tools.tool import Command, Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind


@dataclass(frozen=True, slots=True)
class Placed:
    """A command and the commands above it.

    Attributes:
        index: of the command.
        ancestors: from the root down to the parent; empty for the root and for what is not reachable.
    """

    index: int
    ancestors: tuple[int, ...]


def placed(tool: Tool) -> tuple[tuple[Placed, ...], tuple[ToolFault, ...]]:
    """Every command once, depth first, with its ancestors, and the faults of the tree."""
    if not tool.commands:
        return (), (ToolFault(ToolFaultKind.EMPTY_COMMAND_TREE),)
    faults: list[ToolFault] = []
    order: list[Placed] = []
    seen: set[int] = set()
    pending = [Placed(0, ())]
    while pending:
        here = pending.pop()
        if here.index in here.ancestors:
            faults.append(ToolFault(ToolFaultKind.COMMAND_TREE_CYCLE, index=here.index))
            continue
        if here.index in seen:
            faults.append(ToolFault(ToolFaultKind.DUPLICATE_COMMAND_PARENT, index=here.index))
            continue
        seen.add(here.index)
        order.append(here)
        above = (*here.ancestors, here.index)
        pending.extend(Placed(child, above) for child in reversed(list(tool.children(here.index))))
    for index in range(len(tool.commands)):
        if index not in seen:
            faults.append(ToolFault(ToolFaultKind.UNREACHABLE_COMMAND_NODE, index=index))
            order.append(Placed(index, ()))
    return tuple(order), (*_out_of_bounds(tool), *faults)


def _out_of_bounds(tool: Tool) -> Iterator[ToolFault]:
    count = len(tool.commands)
    for command in tool.commands:
        for child in command.subcommands:
            if not 0 <= child < count:
                yield ToolFault(ToolFaultKind.COMMAND_INDEX_OUT_OF_BOUNDS, index=child, count=count)


def find_command(tool: Tool, path: tuple[str, ...]) -> Placed | None:
    """The command that a path of names or aliases leads to, body or not; the empty path is the root."""
    if not tool.commands:
        return None
    index, ancestors = 0, ()
    steps: list[int] = list(ancestors)
    for word in path:
        child = next((c for c in tool.children(index) if _answers_to(tool.commands[c], word)), None)
        if child is None or len(steps) > len(tool.commands):
            return None
        steps.append(index)
        index = child
    return Placed(index, tuple(steps))


def _answers_to(command: Command, word: str) -> bool:
    return command.name == word or word in command.aliases


def callable_paths(tool: Tool) -> dict[tuple[str, ...], Placed]:
    """The commands with a body by their path of canonical names; the first of each path."""
    paths: dict[tuple[str, ...], Placed] = {}
    for place in placed(tool)[0]:
        if tool.commands[place.index].body is not None and (place.ancestors or place.index == 0):
            chain = (*place.ancestors, place.index)[1:]
            paths.setdefault(tuple(tool.commands[i].name for i in chain), place)
    return paths
