"""Tool definitions: a tree of commands and one type graph for all of them.

Source: middleware 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from policyd.core.schema.graph import Graph
from policyd.core.schema.types import BOOL, U32, ListType, SchemaType
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.constraint import Constraint


@dataclass(frozen=True, slots=True)
class Example:
    """An example of use."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class Doc:
    """What describes a part of a tool."""

    summary: str = ""
    description: str = ""
    examples: tuple[Example, ...] = ()


NO_DOC = Doc()


@dataclass(frozen=True, slots=True)
class Positional:
    """An argument by position."""

    name: str
    type: SchemaType
    required: bool
    default: SchemaValue | None = None
    doc: Doc = NO_DOC
    value_name: str | None = None
    accepts_stdio: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """The variadic positional at the end; the host checks neither `min` nor `max`."""

    name: str
    item_type: SchemaType
    min: int = 0
    max: int | None = None
    separator: str | None = None
    verbatim: bool = False
    doc: Doc = NO_DOC
    value_name: str | None = None
    accepts_stdio: bool = False


class RepetitionKind(Enum):
    """How several values are given."""

    REPEATED = "repeated"
    DELIMITED = "delimited"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Repetition:
    """How several values are given; the separator is there unless they are only repeated."""

    kind: RepetitionKind
    separator: str | None = None


class DuplicateKeys(Enum):
    """What happens when a map option names a key twice."""

    REJECT = "reject"
    LAST_WINS = "last-wins"


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value."""

    type: SchemaType


@dataclass(frozen=True, slots=True)
class OptionalScalar:
    """One value that may be left out behind the name."""

    type: SchemaType


@dataclass(frozen=True, slots=True)
class RepeatableList:
    """Several values, collected in a list."""

    item_type: SchemaType
    repetition: Repetition


@dataclass(frozen=True, slots=True)
class RepeatableMap:
    """Several pairs, collected in a map."""

    map_type: SchemaType
    repetition: Repetition
    duplicates: DuplicateKeys


Shape: TypeAlias = Scalar | OptionalScalar | RepeatableList | RepeatableMap


@dataclass(frozen=True, slots=True)
class Option:
    """A named argument with a value."""

    long: str
    shape: Shape
    required: bool
    default: SchemaValue | None = None
    short: str | None = None
    aliases: tuple[str, ...] = ()
    doc: Doc = NO_DOC
    value_name: str | None = None
    env_var: str | None = None

    @property
    def declared_type(self) -> SchemaType:
        """The type as it collects, before a missing value is thought of."""
        match self.shape:
            case Scalar(type_) | OptionalScalar(type_):
                return type_
            case RepeatableList(item_type):
                return ListType(item_type)
            case RepeatableMap(map_type):
                return map_type


@dataclass(frozen=True, slots=True)
class BoolFlag:
    """A flag that is set or not."""

    default: bool
    negatable: bool


@dataclass(frozen=True, slots=True)
class CountFlag:
    """A flag that is counted."""

    max: int | None = None


@dataclass(frozen=True, slots=True)
class Flag:
    """A named argument without value."""

    long: str
    shape: BoolFlag | CountFlag
    short: str | None = None
    aliases: tuple[str, ...] = ()
    doc: Doc = NO_DOC
    env_var: str | None = None

    @property
    def declared_type(self) -> SchemaType:
        """`bool`, or `u32` for a counted flag."""
        return BOOL if isinstance(self.shape, BoolFlag) else U32


@dataclass(frozen=True, slots=True)
class Globals:
    """Options and flags of a command and of everything below it."""

    options: tuple[Option, ...] = ()
    flags: tuple[Flag, ...] = ()


NO_GLOBALS = Globals()
EMPTY_GRAPH = Graph()


@dataclass(frozen=True, slots=True)
class StreamContract:
    """What flows through stdin, stdout or stderr."""

    mime: tuple[str, ...]
    required: bool
    doc: Doc = NO_DOC


@dataclass(frozen=True, slots=True)
class Formatter:
    """A way to print the result."""

    name: str
    doc: Doc = NO_DOC


@dataclass(frozen=True, slots=True)
class ResultContract:
    """What a command returns.

    Attributes:
        is_sketch: written by hand without formatters, whose default is then not looked up.
    """

    type: SchemaType
    formatters: tuple[Formatter, ...] = ()
    default_formatter: str = ""
    doc: Doc = NO_DOC
    is_sketch: bool = field(default=False, compare=False)


class ErrorKind(Enum):
    """Whose fault a declared error is."""

    USAGE = "usage-error"
    RUNTIME = "runtime-error"


@dataclass(frozen=True, slots=True)
class DeclaredError:
    """An error that a command may end in."""

    name: str
    kind: ErrorKind
    exit_code: int
    payload: SchemaType | None = None
    doc: Doc = NO_DOC


@dataclass(frozen=True, slots=True)
class Annotations:
    """Hints for consumers."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Body:
    """What makes a command one that can be called."""

    fixed: tuple[Positional, ...] = ()
    tail: Tail | None = None
    options: tuple[Option, ...] = ()
    flags: tuple[Flag, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    stdin: StreamContract | None = None
    stdout: StreamContract | None = None
    stderr: StreamContract | None = None
    result: ResultContract | None = None
    errors: tuple[DeclaredError, ...] = ()
    annotations: Annotations | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """One node of the command tree; without a body it is only a name space."""

    name: str
    aliases: tuple[str, ...] = ()
    doc: Doc = NO_DOC
    globals: Globals = NO_GLOBALS
    subcommands: tuple[int, ...] = ()
    body: Body | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: commands by index, the root first, and the types that they use.

    Attributes:
        schema: definitions for all commands; its root is a placeholder.
        requires_filesystem: a declared need, never a grant.
    """

    version: str
    commands: tuple[Command, ...]
    schema: Graph = EMPTY_GRAPH
    requires_filesystem: bool = False

    @property
    def name(self) -> str:
        """The tool's identity: the name of its root command; empty without commands."""
        return self.commands[0].name if self.commands else ""

    def children(self, index: int) -> Iterator[int]:
        """The indices of a command's children that exist."""
        return (child for child in self.commands[index].subcommands if 0 <= child < len(self.commands))
