"""The short form of one tool: commands, arguments, results, errors.

Source: middleware 6.2, 6.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import NEWEST_FORM, JsonFault, JsonForm
from policyd.core.schema.reading import at, fail, integer, list_of, member, members, optional, text, truth
from policyd.core.schema.types import (
    EMPTY_RECORD,
    OptionType,
    SchemaType,
)
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.scope import Argument, body_arguments, global_arguments, names_of
from policyd.core.tools.tool import (
    NO_DOC,
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
from policyd.findings import InputError
from policyd.syntax.tool_constraints import ConstraintReader, only
from policyd.syntax.type_text import parse_type

NO_VERSION = "0.0.0"
"""The version of a tool or middleware that is written without one."""
MAX_COMMANDS = 20_000
"""Commands of one tool."""

T = TypeVar("T")
Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class TypeReader:
    """Reads types and literals.

    Attributes:
        engines: for unions with patterns in literals.
        form: the spellings of literals.
        types: the shared named types.
    """

    engines: Engines
    form: JsonForm = NEWEST_FORM
    types: Definitions = field(default_factory=Definitions)

    def type(self, json: object) -> SchemaType:
        """A type in the short notation."""
        written = text(json)
        try:
            return parse_type(written)
        except InputError as error:
            finding = error.findings[0]
            where = f" (character {finding.span.column} of the type)" if finding.span is not None else ""
            fail(finding.message + where)

    def graph(self, root: SchemaType) -> Graph:
        """A type with the shared types that it needs."""
        return Graph(root, Definitions(self.types.reachable([root])))

    def value(self, json: object, schema: SchemaType) -> SchemaValue:
        """A literal in canonical JSON."""
        decoded = decode_json(json, Graph(schema, self.types), self.engines, form=self.form)  # type: ignore[arg-type]
        if isinstance(decoded, JsonFault):
            fail(f"it is no value of the declared type: {decoded.reason}")
        return decoded


def version_at(json: object) -> str:
    """A version, which is a text."""
    return json if isinstance(json, str) else fail("a version is a text: put it in quotes")


def short_doc(json: object) -> Doc:
    """Documentation: a summary, or all its parts."""
    if isinstance(json, str):
        return Doc(json)
    found = members(json)
    only(found, "summary", "description", "examples")

    def example(part: object) -> Example:
        return Example(member(members(part), "title", text), member(members(part), "body", text))

    examples = optional(found, "examples", list_of(example)) or ()
    return Doc(optional(found, "summary", text) or "", optional(found, "description", text) or "", examples)


_COMMAND = ("name", "aliases", "doc", "globals", "namespace")
_BODY = (
    "positionals",
    "tail",
    "options",
    "flags",
    "constraints",
    "stdin",
    "stdout",
    "stderr",
    "result",
    "errors",
    "annotations",
)


@dataclass(frozen=True, slots=True)
class ToolReader:
    """Reads one tool."""

    reader: TypeReader
    name: str

    def tool(self, found: Json) -> Tool:
        """The whole tool; `commands` maps dotted paths to commands, or the one command stands in the tool itself."""
        if "commands" in found:
            only(found, "name", "version", "requiresFilesystem", "commands")
            named = ToolReader(self.reader, optional(found, "name", text) or self.name)
            commands = at("commands", lambda: named.commands(found["commands"]))
        else:
            only(found, "version", "requiresFilesystem", *_COMMAND, *_BODY)
            commands = (self.command(self.name, found, (), ()),)
        used = (schema for command in commands for schema in _written_types(command))
        definitions = Definitions(self.reader.types.reachable(used))
        version = optional(found, "version", version_at) or NO_VERSION
        needs = optional(found, "requiresFilesystem", truth) or False
        return Tool(version, commands, Graph(EMPTY_RECORD, definitions), needs)

    def commands(self, json: object) -> tuple[Command, ...]:
        """The nodes in the order in which they are written; a missing node above another one is a name space."""
        written = {str(path): part for path, part in members(json).items()}
        if len(written) > MAX_COMMANDS:
            fail(f"more than {MAX_COMMANDS} commands")
        paths: dict[str, object] = {"": written.get("", {"namespace": True})}
        for path, part in written.items():
            steps = path.split(".")
            for depth in range(1, len(steps)):
                paths.setdefault(".".join(steps[:depth]), written.get(".".join(steps[:depth]), {"namespace": True}))
            paths.setdefault(path, part)
        order = {path: index for index, path in enumerate(paths)}
        children: dict[str, list[int]] = {path: [] for path in paths}
        for path, index in order.items():
            if path:
                children[path.rpartition(".")[0]].append(index)
        outside: dict[str, tuple[Argument, ...]] = {}
        nodes: list[Command] = []
        for path, part in paths.items():
            above = outside[path.rpartition(".")[0]] if path else ()
            name = path.rpartition(".")[2] if path else self.name
            node = at(path, lambda n=name, p=part, a=above, c=children[path]: self.node(n, p, a, tuple(c)))  # type: ignore[misc]
            outside[path] = (*above, *global_arguments(node.globals))
            nodes.append(node)
        return tuple(nodes)

    def node(self, name: str, json: object, above: tuple[Argument, ...], children: tuple[int, ...]) -> Command:
        """One command of several."""
        found = {} if json is None else members(json)
        only(found, *_COMMAND, *_BODY)
        return self.command(name, found, above, children)

    def command(self, name: str, found: Json, above: tuple[Argument, ...], children: tuple[int, ...]) -> Command:
        """One command with what it is given from above."""
        outer = optional(found, "globals", self.globals) or Globals()
        scope = (*above, *global_arguments(outer))
        is_namespace = optional(found, "namespace", truth) or False
        if is_namespace and any(key in found for key in _BODY):
            fail("a name space has no arguments, results and errors")
        return Command(
            optional(found, "name", text) or name,
            optional(found, "aliases", list_of(text)) or (),
            optional(found, "doc", short_doc) or NO_DOC,
            outer,
            children,
            None if is_namespace else self.body(found, scope),
        )

    def globals(self, json: object) -> Globals:
        """Options and flags for everything below."""
        found = members(json)
        only(found, "options", "flags")
        return Globals(self.many(found, "options", self.option), self.many(found, "flags", self.flag))

    def many(self, found: Json, name: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """A list that may be missing."""
        return optional(found, name, list_of(read)) or ()

    def body(self, found: Json, scope: tuple[Argument, ...]) -> Body:
        """What can be called."""
        bare = Body(
            self.many(found, "positionals", self.positional),
            optional(found, "tail", self.tail),
            self.many(found, "options", self.option),
            self.many(found, "flags", self.flag),
            stdin=optional(found, "stdin", _stream),
            stdout=optional(found, "stdout", _stream),
            stderr=optional(found, "stderr", _stream),
            result=optional(found, "result", self.result),
            errors=self.many(found, "errors", self.error),
            annotations=optional(found, "annotations", _annotations),
        )
        constraints = ConstraintReader(
            self.reader.types,
            self.reader.engines,
            self.reader.form,
            _by_argument((*scope, *body_arguments(bare))),
        )
        found_constraints = self.many(found, "constraints", constraints.read)
        return Body(
            bare.fixed,
            bare.tail,
            bare.options,
            bare.flags,
            found_constraints,
            bare.stdin,
            bare.stdout,
            bare.stderr,
            bare.result,
            bare.errors,
            bare.annotations,
        )

    def positional(self, json: object) -> Positional:
        """An argument by position; required unless it says otherwise."""
        found = members(json)
        only(found, "name", "type", "required", "default", "doc", "valueName", "acceptsStdio")
        schema = member(found, "type", self.reader.type)
        required = optional(found, "required", truth)
        return Positional(
            member(found, "name", text),
            schema,
            True if required is None else required,
            self.default(found, schema),
            optional(found, "doc", short_doc) or NO_DOC,
            optional(found, "valueName", text),
            optional(found, "acceptsStdio", truth) or False,
        )

    def default(self, found: Json, schema: SchemaType) -> SchemaValue | None:
        """A default; `null` is one where the type is an option."""
        if "default" not in found:
            return None
        if found["default"] is None and not isinstance(self.reader.types.resolve(schema).type, OptionType):
            return None
        return member(found, "default", lambda json: self.reader.value(json, schema))

    def tail(self, json: object) -> Tail:
        """The variadic argument."""
        found = members(json)
        only(found, "name", "item", "min", "max", "separator", "verbatim", "doc", "valueName", "acceptsStdio")
        return Tail(
            member(found, "name", text),
            member(found, "item", self.reader.type),
            optional(found, "min", _U32) or 0,
            optional(found, "max", _U32),
            optional(found, "separator", text),
            optional(found, "verbatim", truth) or False,
            optional(found, "doc", short_doc) or NO_DOC,
            optional(found, "valueName", text),
            optional(found, "acceptsStdio", truth) or False,
        )

    def option(self, json: object) -> Option:
        """A named argument with a value."""
        found = members(json)
        only(
            found,
            *("long", "short", "aliases", "doc", "valueName", "type", "list", "map", "optional", "repetition"),
            *("duplicates", "default", "required", "env"),
        )
        bare = Option(member(found, "long", text), self.shape(found), optional(found, "required", truth) or False)
        return Option(
            bare.long,
            bare.shape,
            bare.required,
            self.default(found, bare.declared_type),
            optional(found, "short", _letter),
            optional(found, "aliases", list_of(text)) or (),
            optional(found, "doc", short_doc) or NO_DOC,
            optional(found, "valueName", text),
            optional(found, "env", text),
        )

    def shape(self, found: Json) -> Shape:
        """`type`, `list` or `map`: exactly one of them."""
        written = [name for name in ("type", "list", "map") if name in found]
        if len(written) != 1:
            fail("exactly one of `type`, `list` and `map` is wanted")
        schema = member(found, written[0], self.reader.type)
        repetition = optional(found, "repetition", _repetition) or Repetition(RepetitionKind.REPEATED)
        match written[0]:
            case "list":
                return RepeatableList(schema, repetition)
            case "map":
                duplicates = optional(found, "duplicates", _duplicates) or DuplicateKeys.REJECT
                return RepeatableMap(schema, repetition, duplicates)
            case _:
                if "repetition" in found or "duplicates" in found:
                    fail("only `list` and `map` repeat")
                return OptionalScalar(schema) if optional(found, "optional", truth) else Scalar(schema)

    def flag(self, json: object) -> Flag:
        """A named argument without value; `count: true` counts without limit."""
        found = members(json)
        only(found, "long", "short", "aliases", "doc", "default", "negatable", "count", "env")
        if "count" in found and found["count"] is not False:
            if "default" in found or "negatable" in found:
                fail("a counted flag has neither `default` nor `negatable`")
            count = found["count"]
            shape: BoolFlag | CountFlag = CountFlag(None if count in (True, None) else member(found, "count", _U32))
        else:
            negatable = optional(found, "negatable", truth) or False
            shape = BoolFlag(optional(found, "default", truth) or False, negatable)
        return Flag(
            member(found, "long", text),
            shape,
            optional(found, "short", _letter),
            optional(found, "aliases", list_of(text)) or (),
            optional(found, "doc", short_doc) or NO_DOC,
            optional(found, "env", text),
        )

    def result(self, json: object) -> ResultContract:
        """A type, or a type with formatters."""
        if isinstance(json, str):
            return ResultContract(self.reader.type(json), is_sketch=True)
        found = members(json)
        only(found, "type", "formatters", "defaultFormatter", "doc")
        formatters = tuple(Formatter(name) for name in optional(found, "formatters", list_of(text)) or ())
        default = optional(found, "defaultFormatter", text)
        return ResultContract(
            member(found, "type", self.reader.type),
            formatters,
            default if default is not None else formatters[0].name if formatters else "",
            optional(found, "doc", short_doc) or NO_DOC,
            is_sketch=not formatters and default is None,
        )

    def error(self, json: object) -> DeclaredError:
        """A declared error."""
        found = members(json)
        only(found, "name", "kind", "exit", "payload", "doc")
        code = optional(found, "exit", integer(0, 255))
        return DeclaredError(
            member(found, "name", text),
            optional(found, "kind", _choice(ErrorKind)) or ErrorKind.RUNTIME,
            1 if code is None else code,
            optional(found, "payload", self.reader.type),
            optional(found, "doc", short_doc) or NO_DOC,
        )


def _by_argument(arguments: tuple[Argument, ...]) -> dict[str, Argument]:
    found: dict[str, Argument] = {}
    for argument in arguments:
        for name in names_of(argument):
            found.setdefault(name, argument)
    return found


_U32 = integer(0, 2**32 - 1)


def _letter(json: object) -> str:
    found = text(json)
    return found if len(found) == 1 else fail("one character is wanted")


def _choice(kind: type[T]) -> Callable[[object], T]:
    def read(json: object) -> T:
        for item in kind:  # type: ignore[attr-defined]
            if item.value == json:
                return item  # type: ignore[no-any-return]
        words = ", ".join(f"`{item.value}`" for item in kind)  # type: ignore[attr-defined]
        return fail(f"one of {words} is wanted")

    return read


_duplicates = _choice(DuplicateKeys)


def _repetition(json: object) -> Repetition:
    """`repeated`, `delimited(",")` or `either(",")`."""
    written = text(json)
    if written == "repeated":
        return Repetition(RepetitionKind.REPEATED)
    name, bracket, rest = written.partition("(")
    if name in ("delimited", "either") and bracket and rest.endswith(")"):
        separator = rest[:-1].strip()
        if len(separator) >= 2 and separator[0] == separator[-1] and separator[0] in "\"'":
            separator = separator[1:-1]
        if len(separator) == 1:
            return Repetition(RepetitionKind(name), separator)
    return fail('a repetition is `repeated`, `delimited(",")` or `either(",")`')


def _stream(json: object) -> StreamContract:
    found = members(json)
    only(found, "mime", "required", "doc")
    mime = optional(found, "mime", list_of(text)) or ()
    return StreamContract(
        mime, optional(found, "required", truth) or False, optional(found, "doc", short_doc) or NO_DOC
    )


def _annotations(json: object) -> Annotations:
    found = members(json)
    only(found, "readOnly", "destructive", "idempotent", "openWorld")
    names = ("readOnly", "destructive", "idempotent", "openWorld")
    return Annotations(*(optional(found, name, truth) for name in names))


def _written_types(command: Command) -> tuple[SchemaType, ...]:
    """The types that a command is written with."""
    outer = tuple(option.declared_type for option in command.globals.options)
    body = command.body
    if body is None:
        return outer
    return (
        *outer,
        *(positional.type for positional in body.fixed),
        *(() if body.tail is None else (body.tail.item_type,)),
        *(option.declared_type for option in body.options),
        *(() if body.result is None else (body.result.type,)),
        *(error.payload for error in body.errors if error.payload is not None),
    )
