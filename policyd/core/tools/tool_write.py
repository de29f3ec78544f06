"""Writing tools as the platform's metadata JSON.

Source: middleware 1.4.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from policyd.core.schema.type_write import graph_json, type_json
from policyd.core.schema.value_json import value_json
from policyd.core.tools.constraint import (
    AllOrNone,
    ArgumentRef,
    Constraint,
    Forbids,
    Implies,
    MutexGroups,
    Present,
    RequiresAll,
    RequiresAny,
    ValueIs,
)
from policyd.core.tools.tool import (
    Annotations,
    Body,
    BoolFlag,
    Command,
    CountFlag,
    DeclaredError,
    Doc,
    Flag,
    Globals,
    Option,
    OptionalScalar,
    Positional,
    RepeatableList,
    RepeatableMap,
    Repetition,
    ResultContract,
    Scalar,
    Shape,
    StreamContract,
    Tail,
    Tool,
)

Json: TypeAlias = dict[str, object]


def tool_json(tool: Tool) -> Json:
    """The lossless JSON form; every member is written, absent ones as `null`.

    `requires_filesystem` is written only when it is set, since older readers do not know it.
    """
    need: Json = {"requires_filesystem": True} if tool.requires_filesystem else {}
    commands = {"nodes": [_command(command) for command in tool.commands]}
    schema = {"defs": [], **graph_json(tool.schema)}
    return {"version": tool.version, **need, "commands": commands, "schema": schema}


def _doc(doc: Doc) -> Json:
    examples = [{"title": example.title, "body": example.body} for example in doc.examples]
    return {"summary": doc.summary, "description": doc.description, "examples": examples}


def _command(command: Command) -> Json:
    return {
        "name": command.name,
        "aliases": list(command.aliases),
        "doc": _doc(command.doc),
        "globals": _globals(command.globals),
        "subcommands": list(command.subcommands),
        "body": None if command.body is None else _body(command.body),
    }


def _globals(found: Globals) -> Json:
    return {"options": [_option(o) for o in found.options], "flags": [_flag(f) for f in found.flags]}


def _body(body: Body) -> Json:
    tail = None if body.tail is None else _tail(body.tail)
    return {
        "positionals": {"fixed": [_positional(p) for p in body.fixed], "tail": tail},
        "options": [_option(option) for option in body.options],
        "flags": [_flag(flag) for flag in body.flags],
        "constraints": [constraint_json(constraint) for constraint in body.constraints],
        "stdin": _contract(body.stdin),
        "stdout": _contract(body.stdout),
        "stderr": _contract(body.stderr),
        "result": None if body.result is None else _result(body.result),
        "errors": [_error(error) for error in body.errors],
        "annotations": None if body.annotations is None else _annotations(body.annotations),
    }


def _positional(positional: Positional) -> Json:
    return {
        "name": positional.name,
        "doc": _doc(positional.doc),
        "value_name": positional.value_name,
        "type_": type_json(positional.type),
        "default": None if positional.default is None else value_json(positional.default, live_streams=True),
        "required": positional.required,
        "accepts_stdio": positional.accepts_stdio,
    }


def _tail(tail: Tail) -> Json:
    return {
        "name": tail.name,
        "doc": _doc(tail.doc),
        "value_name": tail.value_name,
        "item_type": type_json(tail.item_type),
        "min": tail.min,
        "max": tail.max,
        "separator": tail.separator,
        "verbatim": tail.verbatim,
        "accepts_stdio": tail.accepts_stdio,
    }


def _option(option: Option) -> Json:
    return {
        "long": option.long,
        "short": option.short,
        "aliases": list(option.aliases),
        "doc": _doc(option.doc),
        "value_name": option.value_name,
        "shape": _shape(option.shape),
        "default": None if option.default is None else value_json(option.default, live_streams=True),
        "required": option.required,
        "env_var": option.env_var,
    }


def _shape(shape: Shape) -> Json:
    match shape:
        case Scalar(type_):
            return {"kind": "scalar", "value": type_json(type_)}
        case OptionalScalar(type_):
            return {"kind": "optional-scalar", "value": type_json(type_)}
        case RepeatableList(item_type, repetition):
            content: Json = {"repetition": _repetition(repetition), "item_type": type_json(item_type)}
            return {"kind": "repeatable-list", "value": content}
        case RepeatableMap(map_type, repetition, duplicates):
            content = {"repetition": _repetition(repetition), "map_type": type_json(map_type)}
            return {"kind": "repeatable-map", "value": {**content, "duplicate_key_policy": duplicates.value}}
        case _:
            assert_never(shape)


def _repetition(repetition: Repetition) -> Json:
    separator: Json = {} if repetition.separator is None else {"value": repetition.separator}
    return {"kind": repetition.kind.value, **separator}


def _flag(flag: Flag) -> Json:
    match flag.shape:
        case BoolFlag(default, negatable):
            shape: Json = {"kind": "bool-flag", "value": {"default": default, "negatable": negatable}}
        case CountFlag(highest):
            shape = {"kind": "count-flag", "value": highest}
        case _:
            assert_never(flag.shape)
    return {
        "long": flag.long,
        "short": flag.short,
        "aliases": list(flag.aliases),
        "doc": _doc(flag.doc),
        "shape": shape,
        "env_var": flag.env_var,
    }


def _contract(contract: StreamContract | None) -> Json | None:
    if contract is None:
        return None
    return {"doc": _doc(contract.doc), "mime": list(contract.mime), "required": contract.required}


def _result(result: ResultContract) -> Json:
    return {
        "type_": type_json(result.type),
        "doc": _doc(result.doc),
        "formatters": [{"name": f.name, "doc": _doc(f.doc)} for f in result.formatters],
        "default_formatter": result.default_formatter,
    }


def _error(error: DeclaredError) -> Json:
    return {
        "name": error.name,
        "doc": _doc(error.doc),
        "kind": error.kind.value,
        "exit_code": error.exit_code,
        "payload": None if error.payload is None else type_json(error.payload),
    }


def _annotations(hints: Annotations) -> Json:
    return {
        "read_only": hints.read_only,
        "destructive": hints.destructive,
        "idempotent": hints.idempotent,
        "open_world": hints.open_world,
    }


def _refs(refs: tuple[ArgumentRef, ...]) -> list[Json]:
    return [_ref(ref) for ref in refs]


def _ref(ref: ArgumentRef) -> Json:
    match ref:
        case Present(name):
            return {"kind": "present", "value": name}
        case ValueIs(name, value):
            return {"kind": "value-is", "value": {"name": name, "value": value_json(value, live_streams=True)}}
        case _:
            assert_never(ref)


def constraint_json(constraint: Constraint) -> Json:
    """The JSON form of a constraint."""
    match constraint:
        case RequiresAll(refs):
            return {"kind": "requires-all", "value": _refs(refs)}
        case RequiresAny(refs):
            return {"kind": "requires-any", "value": _refs(refs)}
        case AllOrNone(refs):
            return {"kind": "all-or-none", "value": _refs(refs)}
        case MutexGroups(groups):
            return {"kind": "mutex-groups", "value": [{"refs": _refs(group)} for group in groups]}
        case Implies(left_quantifier, left, right_quantifier, right):
            sides: Json = {"lhs_quant": left_quantifier.value, "lhs": _refs(left), "rhs": _refs(right)}
            return {"kind": "implies", "value": {**sides, "rhs_quant": right_quantifier.value}}
        case Forbids(left_quantifier, left, right):
            sides = {"lhs_quant": left_quantifier.value, "lhs": _refs(left), "rhs": _refs(right)}
            return {"kind": "forbids", "value": sides}
        case _:
            assert_never(constraint)
