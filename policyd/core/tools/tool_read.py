"""Reading tool definitions: component metadata as the platform writes it, and its short form.

In tool structures a missing member has its usual value; types and values stay strict.

Source: middleware 1.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TypeVar

from policyd.core.schema.graph import Graph
from policyd.core.schema.reading import (
    fail,
    integer,
    list_of,
    member,
    members,
    optional,
    surfaced,
    tagged,
    text,
    truth,
)
from policyd.core.schema.type_read import graph_at, type_at
from policyd.core.schema.types import SchemaType
from policyd.core.schema.value_json import value_at
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.constraint import Constraint
from policyd.core.tools.constraint_read import constraint_at
from policyd.core.tools.tool import (
    EMPTY_GRAPH,
    NO_DOC,
    NO_GLOBALS,
    Annotations,
    Body,
    BoolFlag,
    Command,
    CountFlag,
    DeclaredError,
    Doc,
    DuplicateKeys,
    ErrorKind,
    Example,
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
    Shape,
    StreamContract,
    Tail,
    Tool,
)

T = TypeVar("T")
E = TypeVar("E", bound=Enum)
_Members = Mapping[str, object]

_U8 = integer(0, 255)
_U32 = integer(0, 2**32 - 1)
_S32 = integer(-(2**31), 2**31 - 1)
MAX_COMMANDS = 4096
"""Commands of one tool; more are refused."""


def read_tool(json: object) -> Tool:
    """The tool that a JSON value stands for; it need not be valid.

    Raises:
        InputError: CHAIN001, when members are missing or of the wrong kind, or it is too large.
    """
    return surfaced("CHAIN001", "tool", lambda: tool_at(json))


def tool_at(json: object) -> Tool:
    """Like `read_tool`, inside of a reading that is under way."""
    found = members(json)
    commands = member(found, "commands", lambda tree: member(members(tree), "nodes", list_of(_command)))
    if len(commands) > MAX_COMMANDS:
        fail(f"more than {MAX_COMMANDS} commands")
    return Tool(
        member(found, "version", text),
        commands,
        optional(found, "schema", _schema) or EMPTY_GRAPH,
        optional(found, "requires_filesystem", truth) or False,
    )


def _schema(json: object) -> Graph:
    found = members(json)
    return graph_at(json) if "root" in found else Graph(definitions=graph_at({**found, "root": _EMPTY}).definitions)


_EMPTY = {"kind": "record", "value": {"fields": []}}


def _many(found: _Members, name: str, read: Callable[[object], T]) -> tuple[T, ...]:
    """A list that may be missing or `null`."""
    return optional(found, name, list_of(read)) or ()


def _flagged(found: _Members, name: str) -> bool:
    return optional(found, name, truth) or False


def _one_of(kind: type[E]) -> Callable[[object], E]:
    def read(json: object) -> E:
        name = text(json)
        for choice in kind:
            if choice.value == name:
                return choice
        return fail(f"`{name}` is not one of {', '.join(f'`{c.value}`' for c in kind)}")

    return read


def character(json: object) -> str:
    """One character."""
    found = text(json)
    return found if len(found) == 1 else fail("one character is needed")


def doc_at(found: _Members) -> Doc:
    """The `doc` of a structure; none says nothing."""
    return optional(found, "doc", _doc) or NO_DOC


def _doc(json: object) -> Doc:
    found = members(json)
    return Doc(
        optional(found, "summary", text) or "",
        optional(found, "description", text) or "",
        _many(found, "examples", _example),
    )


def _example(json: object) -> Example:
    found = members(json)
    return Example(optional(found, "title", text) or "", optional(found, "body", text) or "")


def _type(found: _Members, name: str = "type_") -> SchemaType:
    if name == "type_" and name not in found and "type" in found:
        name = "type"
    return member(found, name, type_at)


def _value(found: _Members, name: str) -> SchemaValue | None:
    return optional(found, name, lambda json: value_at(json, live_streams=True))


def _command(json: object) -> Command:
    found = members(json)
    return Command(
        member(found, "name", text),
        _many(found, "aliases", text),
        doc_at(found),
        optional(found, "globals", _globals) or NO_GLOBALS,
        _many(found, "subcommands", _S32),
        optional(found, "body", _body),
    )


def _globals(json: object) -> Globals:
    found = members(json)
    return Globals(_many(found, "options", _option), _many(found, "flags", _flag))


def _body(json: object) -> Body:
    found = members(json)
    if not found:
        # the platform writes every member and the short form at least one; `{}` may as well mean a name space
        fail("an empty body says nothing, write `null` for a name space")
    fixed, tail = optional(found, "positionals", _positionals) or ((), None)
    constraints: tuple[Constraint, ...] = _many(found, "constraints", constraint_at)
    return Body(
        fixed,
        tail,
        _many(found, "options", _option),
        _many(found, "flags", _flag),
        constraints,
        optional(found, "stdin", _contract),
        optional(found, "stdout", _contract),
        optional(found, "stderr", _contract),
        optional(found, "result", _result),
        _many(found, "errors", _error),
        optional(found, "annotations", _annotations),
    )


def _positionals(json: object) -> tuple[tuple[Positional, ...], Tail | None]:
    found = members(json)
    return _many(found, "fixed", _positional), optional(found, "tail", _tail)


def _positional(json: object) -> Positional:
    found = members(json)
    return Positional(
        member(found, "name", text),
        _type(found),
        member(found, "required", truth),
        _value(found, "default"),
        doc_at(found),
        optional(found, "value_name", text),
        _flagged(found, "accepts_stdio"),
    )


def _tail(json: object) -> Tail:
    found = members(json)
    return Tail(
        member(found, "name", text),
        _type(found, "item_type"),
        member(found, "min", _U32),
        optional(found, "max", _U32),
        optional(found, "separator", text),
        _flagged(found, "verbatim"),
        doc_at(found),
        optional(found, "value_name", text),
        _flagged(found, "accepts_stdio"),
    )


def _option(json: object) -> Option:
    found = members(json)
    return Option(
        member(found, "long", text),
        member(found, "shape", _shape),
        member(found, "required", truth),
        _value(found, "default"),
        optional(found, "short", character),
        _many(found, "aliases", text),
        doc_at(found),
        optional(found, "value_name", text),
        optional(found, "env_var", text),
    )


def _shape(json: object) -> Shape:
    kind, content = tagged(json)
    if kind == "scalar":
        return Scalar(type_at(content))
    if kind == "optional-scalar":
        return OptionalScalar(type_at(content))
    found = members(content)
    if kind == "repeatable-list":
        return RepeatableList(_type(found, "item_type"), member(found, "repetition", _repetition))
    if kind == "repeatable-map":
        policy = member(found, "duplicate_key_policy", _one_of(DuplicateKeys))
        return RepeatableMap(_type(found, "map_type"), member(found, "repetition", _repetition), policy)
    return fail(f"`{kind}` is no shape of an option")


def _repetition(json: object) -> Repetition:
    found = members(json)
    kind = member(found, "kind", _one_of(RepetitionKind))
    return Repetition(kind, None if kind is RepetitionKind.REPEATED else member(found, "value", character))


def _flag(json: object) -> Flag:
    found = members(json)
    return Flag(
        member(found, "long", text),
        member(found, "shape", _flag_shape),
        optional(found, "short", character),
        _many(found, "aliases", text),
        doc_at(found),
        optional(found, "env_var", text),
    )


def _flag_shape(json: object) -> BoolFlag | CountFlag:
    found = members(json)
    kind = member(found, "kind", text)
    if kind == "count-flag":
        return CountFlag(optional(found, "value", _U32))
    if kind != "bool-flag":
        fail(f"`{kind}` is no shape of a flag")
    shape = member(found, "value", members)
    return BoolFlag(member(shape, "default", truth), member(shape, "negatable", truth))


def _contract(json: object) -> StreamContract:
    found = members(json)
    return StreamContract(member(found, "mime", list_of(text)), member(found, "required", truth), doc_at(found))


def _result(json: object) -> ResultContract:
    found = members(json)
    formatters = member(found, "formatters", list_of(_formatter))
    return ResultContract(_type(found), formatters, member(found, "default_formatter", text), doc_at(found))


def _formatter(json: object) -> Formatter:
    found = members(json)
    return Formatter(member(found, "name", text), doc_at(found))


def _error(json: object) -> DeclaredError:
    found = members(json)
    return DeclaredError(
        member(found, "name", text),
        member(found, "kind", _one_of(ErrorKind)),
        member(found, "exit_code", _U8),
        optional(found, "payload", type_at),
        doc_at(found),
    )


def _annotations(json: object) -> Annotations:
    found = members(json)
    hints = [optional(found, name, truth) for name in ("read_only", "destructive", "idempotent", "open_world")]
    return Annotations(*hints)
