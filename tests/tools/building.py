"""Tools of the cases, written short, as tool values: one command unless `commands` names several."""

from __future__ import annotations

from typing import Any

from schema.shorthand import graph, schema

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import JsonFault
from policyd.core.schema.types import SchemaType
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.constraint import (
    AllOrNone,
    ArgumentRef,
    Constraint,
    Forbids,
    Implies,
    MutexGroups,
    Present,
    Quantifier,
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
    DuplicateKeys,
    ErrorKind,
    Flag,
    Formatter,
    Globals,
    Option,
    OptionalScalar,
    Positional,
    RepeatableList,
    RepeatableMap,
    Repetition,
    RepetitionKind,
    ResultContract,
    Scalar,
    StreamContract,
    Tail,
    Tool,
)
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.urls import WhatwgUrls

ENGINES = Engines(Re2Patterns(), WhatwgUrls())
Short = dict[str, Any]


def tool(short: Short | None) -> Tool:
    """The tool of a case; `commands` maps dotted paths to commands, `""` being the root."""
    found = short or {}
    types = found.get("types", {})
    paths = {"": found, **found.get("commands", {})}
    names = list(paths)
    nodes = []
    for path, command in paths.items():
        inside = [names.index(p) for p in names if p and p.rpartition(".")[0] == path and p != path]
        name = path.rpartition(".")[2] or found.get("name", "echo")
        nodes.append(_command(name, command or {}, tuple(inside), types))
    items = tuple(Definition(id, schema(body), found.get("titles", {}).get(id)) for id, body in types.items())
    return Tool(str(found.get("version", "1.0.0")), tuple(nodes), Graph(definitions=Definitions(items)))


def literal(json: Any, type_: SchemaType, types: Short) -> SchemaValue:
    """A default or a literal, written as canonical JSON."""
    value = decode_json(json, Graph(type_, graph("bool", types).definitions), ENGINES)
    assert not isinstance(value, JsonFault), value
    return value


def _command(name: str, short: Short, children: tuple[int, ...], types: Short) -> Command:
    outside = short.get("globals", {})
    found = Globals(
        tuple(_option(o, types) for o in outside.get("options", [])), tuple(_flag(f) for f in outside.get("flags", []))
    )
    return Command(name, tuple(short.get("aliases", ())), _doc(short), found, children, _body(short, types))


def _doc(short: Short) -> Doc:
    return Doc(short.get("doc", ""))


def _body(short: Short, types: Short) -> Body | None:
    if short.get("body", True) is None:
        return None
    tail = short.get("tail")
    streams = [None if short.get(s) is None else _stream(short[s]) for s in ("stdin", "stdout", "stderr")]
    result = short.get("result")
    hints = short.get("annotations")
    return Body(
        tuple(_positional(p, types) for p in short.get("positionals", [])),
        None
        if tail is None
        else Tail(tail["name"], schema(tail["item"]), tail.get("min", 0), tail.get("max"), tail.get("separator")),
        tuple(_option(o, types) for o in short.get("options", [])),
        tuple(_flag(f) for f in short.get("flags", [])),
        tuple(_constraint(c) for c in short.get("constraints", [])),
        *streams,
        None if result is None else ResultContract(schema(result), (Formatter("text"),), "text"),
        tuple(_error(e) for e in short.get("errors", [])),
        None if hints is None else Annotations(**hints),
    )


def _stream(short: Short) -> StreamContract:
    return StreamContract(tuple(short.get("mime", ())), short.get("required", False))


def _positional(short: Short, types: Short) -> Positional:
    type_ = schema(short["type"])
    default = literal(short["default"], type_, types) if "default" in short else None
    return Positional(short["name"], type_, short.get("required", True), default)


def _option(short: Short, types: Short) -> Option:
    repetition = Repetition(RepetitionKind.REPEATED)
    if "separator" in short:
        repetition = Repetition(RepetitionKind.DELIMITED, short["separator"])
    if "list" in short:
        shape: Any = RepeatableList(schema(short["list"]), repetition)
    elif "map" in short:
        shape = RepeatableMap(schema(short["map"]), repetition, DuplicateKeys.REJECT)
    else:
        shape = (OptionalScalar if short.get("optional") else Scalar)(schema(short["type"]))
    option = Option(short["long"], shape, short.get("required", False), aliases=tuple(short.get("aliases", ())))
    if "default" not in short:
        return option
    return Option(
        option.long, shape, option.required, literal(short["default"], option.declared_type, types), short.get("short")
    )


def _flag(short: Short) -> Flag:
    if "count" in short:
        return Flag(short["long"], CountFlag(short["count"]), short.get("short"))
    return Flag(
        short["long"],
        BoolFlag(short.get("default", False), short.get("negatable", False)),
        short.get("short"),
        tuple(short.get("aliases", ())),
    )


def _error(short: Short) -> DeclaredError:
    payload = None if short.get("payload") is None else schema(short["payload"])
    kind = ErrorKind(short.get("kind", "runtime-error"))
    return DeclaredError(short["name"], kind, short.get("exit", 1), payload)


def _refs(short: list[Any]) -> tuple[ArgumentRef, ...]:
    return tuple(
        Present(ref) if isinstance(ref, str) else ValueIs(ref["name"], literal(ref["is"], schema(ref["type"]), {}))
        for ref in short
    )


def _constraint(short: Short) -> Constraint:
    (kind, content), *_ = short.items()
    match kind:
        case "requires-all":
            return RequiresAll(_refs(content))
        case "requires-any":
            return RequiresAny(_refs(content))
        case "all-or-none":
            return AllOrNone(_refs(content))
        case "mutex-groups":
            return MutexGroups(tuple(_refs(group) for group in content))
    left_kind = "if-all" if "if-all" in content else "if-any"
    left = Quantifier(left_kind.removeprefix("if-")), _refs(content[left_kind])
    if kind == "forbids":
        return Forbids(*left, _refs(content["then"]))
    right_kind = "then-all" if "then-all" in content else "then-any"
    return Implies(*left, Quantifier(right_kind.removeprefix("then-")), _refs(content[right_kind]))
