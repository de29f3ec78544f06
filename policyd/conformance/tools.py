"""Recorded answers about tools and middleware: one function per operation, from the question to an answer object.

Source: the description of the recorded answers, *Schemas and tools*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from policyd.conformance.schema import ENGINES, Answer, Handler, Question, compare_answers, guarded, listed
from policyd.core.schema.graph import Graph
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.reshape import Unshaped
from policyd.core.schema.type_read import read_graph
from policyd.core.schema.type_write import type_json
from policyd.core.schema.types import EMPTY_RECORD
from policyd.core.schema.validate import validity
from policyd.core.schema.value_json import read_value, value_json
from policyd.core.schema.values import RecordValue, SchemaValue
from policyd.core.schema.wellformed import faults_of
from policyd.core.tools.arguments import NoArguments, canonical_arguments
from policyd.core.tools.canonical_input import canonical_input
from policyd.core.tools.compat import CommandLink, Compatibility, compatibility
from policyd.core.tools.compat_inputs import FromExpected, InputLink
from policyd.core.tools.constraints import Given, first_broken
from policyd.core.tools.incompatibility import command_label
from policyd.core.tools.middleware import EmbeddedFaults, middleware_faults, read_middleware
from policyd.core.tools.modes import Mode, Passage
from policyd.core.tools.tool import Body, Command, Formatter, ResultContract, Tool
from policyd.core.tools.tool_faults import ToolFault
from policyd.core.tools.tool_read import read_tool
from policyd.core.tools.validate import tool_faults


def fault_json(fault: ToolFault) -> Answer:
    """One fault of a tool as the recorded answers write it."""
    parts = {
        "command": fault.command,
        "name": fault.name,
        "position": fault.position,
        "id": fault.id,
        "index": fault.index,
        "len": fault.count,
        "value": fault.value,
        "short": fault.short,
        "parent": fault.parent,
        "formatter": fault.formatter,
        "positional": fault.positional,
    }
    return {"kind": fault.kind.value, **{name: part for name, part in parts.items() if part is not None}}


def _tool_validate(question: Question) -> Answer:
    return listed([fault_json(fault) for fault in tool_faults(read_tool(question["tool"]), ENGINES)])


def _middleware_validate(question: Question) -> Answer:
    errors: list[Answer] = []
    for fault in middleware_faults(read_middleware(question["middleware"]), ENGINES):
        if isinstance(fault, EmbeddedFaults):
            kind = f"Invalid{fault.part.title()}Tool"
            errors.append({"kind": kind, "errors": [fault_json(inner) for inner in fault.faults]})
        else:
            errors.append(fault_json(fault))
    return listed(errors)


def _path(question: Question) -> tuple[str, ...]:
    words: Any = question["command"]
    return tuple(str(word) for word in words)


def _canonical_input(question: Question) -> Answer:
    record = canonical_input(read_tool(question["tool"]), _path(question), ENGINES)
    if isinstance(record, ToolFault):
        return {"ok": False, "error": record.kind.value}
    fields = [
        {"name": f.name, "aliases": list(f.aliases), "short": f.short, "type": type_json(f.type)} for f in record.fields
    ]
    return {"ok": True, "node": record.node, "fields": fields, "defs": [d.id for d in record.definitions.items]}


def _constraints(question: Question) -> Answer:
    tool, path = read_tool(question["tool"]), _path(question)
    value = read_value(question["value"], live_streams=True)
    record = canonical_input(tool, path, ENGINES)
    if isinstance(record, ToolFault):
        return {"ok": False, "error": record.kind.value}
    if not isinstance(value, RecordValue) or len(value.fields) != len(record.fields):
        return {"ok": False, "error": "decode"}
    body = tool.commands[record.node].body or Body()
    broken = first_broken(body.constraints, Given.of(record.fields, value))
    valid = validity(value, record.graph, ENGINES) is Validity.VALID
    return {"ok": broken is None, "valid": valid, **({} if broken is None else {"constraint": broken})}


def _compatibility(question: Question) -> Answer:
    expected, inner = read_tool(question["expected"]), read_tool(question["inner"])
    answers = {mode: compatibility(expected, inner, mode, ENGINES) for mode in Mode}
    answer: Answer = {mode.value: _mode_json(found) for mode, found in answers.items()}
    accepted = next((found for found in answers.values() if found.is_accepted), None)
    if accepted is not None:
        answer["warnings"] = [{"path": command_label(d.path), "name": d.name} for d in accepted.discarded]
        answer["commands"] = [_command_json(link) for link in accepted.commands]
    return answer


def _mode_json(found: Compatibility) -> Answer:
    return listed_places([error.where for error in found.errors])


def listed_places(places: list[str]) -> Answer:
    """`ok`, with the places of the errors when there are some."""
    return {"ok": False, "errors": places} if places else {"ok": True}


def _command_json(link: CommandLink) -> Answer:
    inputs: list[Answer] = []
    for field in link.input.fields:
        if isinstance(field, FromExpected):
            inputs.append({"name": field.name, "from": field.name})
        else:
            inputs.append({"name": field.name, "default": value_json(field.value)})
    errors = [{"name": e.name, "expected": e.expected, "payload": e.has_payload} for e in link.errors]
    return {
        "path": list(link.path),
        "input": inputs,
        "discard": list(link.input.discarded),
        "result": link.result is not None,
        "errors": errors,
    }


def _project(question: Question) -> Answer:
    expected, inner = read_tool(question["expected"]), read_tool(question["inner"])
    values: Any = question["values"]
    found = compatibility(expected, inner, Mode(question["mode"]), ENGINES)
    if not found.is_accepted:
        return {"ok": False, "stage": "compile"}
    link = next((command for command in found.commands if command.path == _path(question)), None)
    if link is None:
        return {"ok": False, "stage": "command"}
    way = _way(link, question)
    if way is None:
        return {"ok": False, "stage": "none"}
    return {"ok": True, "values": [_answered(way, value) for value in values]}


def _way(link: CommandLink, question: Question) -> InputLink | Passage | None:
    match question["kind"]:
        case "input":
            return link.input
        case "result":
            return link.result
        case _:
            return next((error.payload for error in link.errors if error.name == question["error"]), None)


def _answered(way: InputLink | Passage, json: object) -> Answer:
    """The answer for one value as it stands in the question."""
    return guarded(lambda question: _carried(way, read_value(question["value"], live_streams=True)))({"value": json})


def _carried(way: InputLink | Passage, value: SchemaValue) -> Answer:
    """The answer for one value."""
    carried = way.carry(value, ENGINES)
    if isinstance(carried, Unshaped):
        answer: Answer = {"ok": False, "stage": carried.stage.value}
        if carried.discarded:
            answer["streams"] = {"projected": [], "discarded": list(carried.discarded)}
        return answer
    answer = {"ok": True, "value": value_json(carried.value, live_streams=True)}
    if carried.converted or carried.discarded:
        projected = [{"stream": number, "items": True} for number in carried.converted]
        answer["streams"] = {"projected": projected, "discarded": list(carried.discarded)}
    return answer


def _returning(graph: Graph) -> Tool:
    """A tool of one command that returns the root of a graph."""
    result = ResultContract(graph.root, (Formatter("text"),), "text")
    return Tool("1.0.0", (Command("tool", body=Body(result=result)),), graph.with_root(EMPTY_RECORD))


def _project_type(question: Question) -> Answer:
    source, target = read_graph(question["source"]), read_graph(question["target"])
    values: Any = question.get("values")
    if faults_of(source, ENGINES) or faults_of(target, ENGINES):
        return {"ok": False, "invalid": True}
    found = compatibility(_returning(target), _returning(source), Mode(question["mode"]), ENGINES)
    if not found.is_accepted:
        return listed_places([error.where.removeprefix("root.result") for error in found.errors])
    way = found.commands[0].result
    if values is None or way is None:
        return {"ok": True}
    return {"ok": True, "values": [_answered(way, value) for value in values]}


def _tool_args(question: Question) -> Answer:
    # recorded at the snapshot: inputs not wrapped, everything written through its type
    value = read_value(question["value"], live_streams=True)
    args = canonical_arguments(
        read_tool(question["tool"]), _path(question), value, wraps_optional=False, by_definition=False
    )
    if isinstance(args, NoArguments):
        return {"ok": False, "error": {"kind": args.kind, "message": args.reason}}
    return {"ok": True, "args": list(args)}


HANDLERS: dict[str, Handler] = {
    "tool_args": guarded(_tool_args),
    "tool_validate": guarded(_tool_validate),
    "middleware_validate": guarded(_middleware_validate),
    "canonical_input": guarded(_canonical_input),
    "constraints": guarded(_constraints),
    "compatibility": guarded(_compatibility),
    "project": guarded(_project),
    "project_type": guarded(_project_type),
}
"""Operation name to handler."""

COMPARE: dict[str, Callable[[object, object], list[str]]] = {
    op: compare_answers for op in HANDLERS if op != "tool_args"
}
"""How the answers of these operations are compared; arguments are compared as everything else is."""
