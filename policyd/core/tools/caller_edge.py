"""Callers built from a definition of their own: does it still fit what the outermost layer presents.

There is no structural slack at this edge: the host compares input graphs for equivalence on each call.

Source: middleware 4.4, 1.8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from policyd.core.schema.engines import Engines
from policyd.core.schema.equivalent import SameTypes, are_equivalent
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.project import Mismatch, project
from policyd.core.schema.relation_place import differing_place
from policyd.core.schema.types import SchemaType
from policyd.core.tools.canonical_input import CanonicalInput, canonical_input, input_of_valid
from policyd.core.tools.command_tree import callable_paths, find_command
from policyd.core.tools.remarks import Remark
from policyd.core.tools.tool import Body, Tool
from policyd.core.tools.tool_faults import ToolFault
from policyd.core.tools.validate import tool_faults


def caller_remarks(
    caller: Tool,
    effective: Tool,
    engines: Engines,
    commands: Sequence[tuple[str, ...]] | None = None,
    *,
    wraps_optional: bool = True,
) -> tuple[Remark, ...]:
    """What happens to a caller that was built from `caller`, command by command; nothing when all is well.

    Args:
        caller: its definition.
        effective: what it meets.
        engines: for the records' types.
        commands: the commands used, by names or aliases; None for all of the definition.
        wraps_optional: whether inputs that are neither required nor defaulted are options.
    """
    used = sorted(callable_paths(caller)) if commands is None else list(commands)
    same = SameTypes(caller.schema.definitions)
    known = not tool_faults(caller, engines), not tool_faults(effective, engines)
    found: list[Remark] = []
    for path in used:
        one = _record(caller, path, engines, wraps_optional, is_valid=known[0])
        other = _record(effective, path, engines, wraps_optional, is_valid=known[1])
        if not isinstance(other, CanonicalInput):
            words = "there is no such command: the host answers `InvalidCommandPath`"
            found.append(Remark("CALLER_COMMAND_MISSING", path, "", words))
            continue
        if not isinstance(one, CanonicalInput):
            words = "the caller's own definition has no such command"
            found.append(Remark("CALLER_COMMAND_MISSING", path, "", words))
            continue
        if not same.holds(one.graph.root, other.graph.root, effective.schema.definitions):
            found.extend(_inputs(one, other, path))
        own, met = caller.commands[one.node].body or Body(), effective.commands[other.node].body or Body()
        found.extend(_results(own, met, caller, effective, path, same))
        found.extend(_errors(own, met, effective, path, same))
    return tuple(found)


def _record(
    tool: Tool, path: tuple[str, ...], engines: Engines, wraps_optional: bool, *, is_valid: bool
) -> CanonicalInput | ToolFault:
    """The input record of a command; of a valid tool without looking at all its types once more."""
    place = find_command(tool, path) if is_valid else None
    if place is None or tool.commands[place.index].body is None:
        return canonical_input(tool, path, engines, wraps_optional=wraps_optional)
    return input_of_valid(tool, place, engines, wraps_optional=wraps_optional)


def _inputs(one: CanonicalInput, other: CanonicalInput, path: tuple[str, ...]) -> Iterator[Remark]:
    names, met = [f.name for f in one.fields], [f.name for f in other.fields]
    before, after = frozenset(names), frozenset(met)
    added = [name for name in met if name not in before]
    gone = [name for name in names if name not in after]
    place, words = "", "the inputs stand in another order"
    if added or gone:
        told = [*(f"`{name}` was added" for name in added), *(f"`{name}` is gone" for name in gone)]
        place, words = f".input.{(added or gone)[0]}", ", ".join(told)
    elif names == met:
        place = _place(one.graph, other.graph)
        words = "the type is another one"
    answer = "the host answers `InvalidInput` to this caller"
    yield Remark("CALLER_INPUT_NOT_EQUIVALENT", path, place, f"{words}: {answer}")


def _place(one: Graph, other: Graph) -> str:
    def holds(a: SchemaType, b: SchemaType) -> bool:
        return are_equivalent(one.with_root(a), other.with_root(b))

    return ".input" + differing_place(one.root, other.root, one.definitions, other.definitions, holds).path


def _results(
    own: Body, met: Body, caller: Tool, effective: Tool, path: tuple[str, ...], same: SameTypes
) -> Iterator[Remark]:
    if own.result is None or met.result is None:
        if own.result is not met.result:
            yield Remark("CALLER_RESULT_PRESENCE", path, ".result", "only one side has a result")
        return
    if same.holds(own.result.type, met.result.type, effective.schema.definitions):
        return
    source = Graph(met.result.type, effective.schema.definitions)
    target = Graph(own.result.type, caller.schema.definitions)
    found = project(source, target)
    if isinstance(found, Mismatch):
        words = "what is returned is not always what the caller decodes"
        yield Remark("CALLER_RESULT_MISMATCH", path, ".result" + found.path, words)
    else:
        words = "the result has changed: only clients that decode by name still read it"
        yield Remark("CALLER_RESULT_DRIFT", path, ".result", words)


def _errors(own: Body, met: Body, effective: Tool, path: tuple[str, ...], same: SameTypes) -> Iterator[Remark]:
    known = {error.name: error for error in reversed(own.errors)}
    for error in met.errors:
        place = f".error.{error.name}"
        mine = known.get(error.name)
        if mine is None:
            yield Remark("CALLER_UNKNOWN_ERROR", path, place, "it reaches the caller as an unknown custom error")
        elif not _is_same(mine.payload, error.payload, effective.schema.definitions, same):
            yield Remark("CALLER_ERROR_DRIFT", path, place, "the payload is another one than the caller decodes")


def _is_same(one: SchemaType | None, other: SchemaType | None, others: Definitions, same: SameTypes) -> bool:
    if one is None or other is None:
        return one is other
    return same.holds(one, other, others)
