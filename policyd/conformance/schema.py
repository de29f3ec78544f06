"""Recorded answers about schemas: one function per operation, from the question to an answer object.

Source: the description of the recorded answers, *Schemas and tools*.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from policyd.conformance.compare import same_value
from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.engines import Engines
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.faults import Fault
from policyd.core.schema.json_decode import decode_text
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.json_faults import JsonFault
from policyd.core.schema.json_schema import Policy, json_schema
from policyd.core.schema.numbers import to_f32
from policyd.core.schema.outcomes import Violation
from policyd.core.schema.type_read import read_graph, read_type
from policyd.core.schema.type_write import graph_json, type_json
from policyd.core.schema.validate import violations_of
from policyd.core.schema.value_json import read_value, value_json
from policyd.core.schema.wellformed import faults_of
from policyd.findings import InputError
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.urls import WhatwgUrls

Answer: TypeAlias = dict[str, object]
Question: TypeAlias = Mapping[str, object]
Handler: TypeAlias = Callable[[Question], Answer]

ENGINES = Engines(Re2Patterns(), WhatwgUrls())
MALFORMED: Answer = {"ok": False, "malformed": True}


def guarded(handler: Handler) -> Handler:
    """The handler, answering *malformed* for a type, value or tool that cannot be read."""

    def answer(question: Question) -> Answer:
        try:
            return handler(question)
        except InputError:
            return dict(MALFORMED)

    return answer


def listed(items: list[Answer]) -> Answer:
    """`ok`, with the errors when there are some."""
    return {"ok": False, "errors": items} if items else {"ok": True}


def fault_json(fault: Fault) -> Answer:
    """One fault of a schema as the recorded answers write it."""
    parts = {"id": fault.id, "name": fault.name, "tag": fault.tag, "field": fault.field, "reason": fault.reason}
    tags: Answer = {} if fault.tags is None else {"tags": list(fault.tags)}
    return {"kind": fault.kind.value, **{name: part for name, part in parts.items() if part is not None}, **tags}


def violation_json(violation: Violation) -> Answer:
    """One violation of a value as the recorded answers write it."""
    return {"kind": violation.kind.value, "path": list(violation.path)}


def _well_formed(question: Question) -> Answer:
    return listed([fault_json(fault) for fault in faults_of(read_graph(question["graph"]), ENGINES)])


def _assignable(question: Question) -> Answer:
    graph, other = read_graph(question["graph"]), read_type(question["other"])
    return {
        "forward": is_assignable(graph.root, other, graph.definitions),
        "backward": is_assignable(other, graph.root, graph.definitions),
    }


def _equivalent(question: Question) -> Answer:
    return {"equivalent": are_equivalent(read_graph(question["a"]), read_graph(question["b"]))}


def _validate_value(question: Question) -> Answer:
    graph = read_graph(question["graph"])
    value = read_value(question["value"], live_streams=True)
    return listed([violation_json(violation) for violation in violations_of(value, graph, ENGINES)])


def _json_to_value(question: Question) -> Answer:
    graph = read_graph(question["graph"])
    value = decode_text(str(question["text"]), graph, ENGINES, trusted=question.get("untrusted") is not True)
    if isinstance(value, JsonFault):
        return {"ok": False, "error": value.kind.value}
    again = encode(value, graph, ENGINES)
    answer: Answer = {"ok": True, "value": value_json(value), "valid": not violations_of(value, graph, ENGINES)}
    return {**answer, **({"json": again.json} if isinstance(again, Encoded) else {"json_error": again.kind.value})}


def _value_to_json(question: Question) -> Answer:
    graph = read_graph(question["graph"])
    value = read_value(question["value"], live_streams=True)
    encoded = encode(value, graph, ENGINES, redact=question.get("redact") is True)
    if isinstance(encoded, Encoded):
        return {"ok": True, "json": encoded.json}
    return {"ok": False, "error": encoded.kind.value}


def _json_schema(question: Question) -> Answer:
    return {"schema": json_schema(read_graph(question["graph"]), Policy(question["policy"]))}


def _read(question: Question) -> Answer:
    try:
        return {"ok": True, "json": _written(question)}
    except InputError:
        return {"ok": False}


def _written(question: Question) -> Answer:
    form = question["json"]
    match question["type"]:
        case "graph":
            return graph_json(read_graph(form))
        case "type":
            return type_json(read_type(form))
        case _:
            return value_json(read_value(form))


def compare_answers(recorded: object, given: object) -> list[str]:
    """Where two answers differ: lists named `errors` are multisets, numbers below kind `f32` are rounded first.

    A recorded *malformed* is met by any refusal.
    """
    if not isinstance(recorded, Mapping) or not isinstance(given, Mapping):
        return ["answer"]
    if recorded.get("malformed") is True:
        return [] if given.get("ok") is False else ["ok"]
    ours = {name: _comparable(part, name) for name, part in given.items()}
    return [
        str(name)
        for name, part in recorded.items()
        if name not in ours or not same_value(_comparable(part, name), ours[name])
    ]


def _comparable(value: object, name: object = "") -> object:
    if isinstance(value, Mapping):
        found = {key: _comparable(part, key) for key, part in value.items()}
        number = found.get("value")
        if found.get("kind") == "f32" and isinstance(number, (int, float)) and not isinstance(number, bool):
            found["value"] = to_f32(float(number))
        return found
    if isinstance(value, (list, tuple)):
        parts = [_comparable(part) for part in value]
        return sorted(parts, key=lambda part: json.dumps(part, sort_keys=True)) if name == "errors" else parts
    return value


HANDLERS: dict[str, Handler] = {
    "well_formed": guarded(_well_formed),
    "assignable": guarded(_assignable),
    "equivalent": guarded(_equivalent),
    "validate_value": guarded(_validate_value),
    "json_to_value": guarded(_json_to_value),
    "value_to_json": guarded(_value_to_json),
    "json_schema": guarded(_json_schema),
    "read": _read,
}
"""Operation name to handler; `project_type` stands with the tools, because the question is put to two tools."""

COMPARE: dict[str, Callable[[object, object], list[str]]] = dict.fromkeys(HANDLERS, compare_answers)
"""How the answers of these operations are compared."""
