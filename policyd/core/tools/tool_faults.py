"""What can be wrong with a tool or a middleware: a kind, and what it is about.

Source: middleware 1.3, 2.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ToolFaultKind(Enum):
    """The ways in which a definition is not valid, by the names of the platform."""

    EMPTY_VERSION = "EmptyVersion"
    EMPTY_COMMAND_TREE = "EmptyCommandTree"
    COMMAND_INDEX_OUT_OF_BOUNDS = "CommandIndexOutOfBounds"
    UNREACHABLE_COMMAND_NODE = "UnreachableCommandNode"
    COMMAND_TREE_CYCLE = "CommandTreeCycle"
    DUPLICATE_COMMAND_PARENT = "DuplicateCommandParent"
    INVALID_IDENTIFIER = "InvalidIdentifier"
    DUPLICATE_SUBCOMMAND_NAME = "DuplicateSubcommandName"
    DUPLICATE_NAME = "DuplicateName"
    DUPLICATE_SHORT = "DuplicateShort"
    UNRESOLVED_CONSTRAINT_REF = "UnresolvedConstraintRef"
    VALUE_IS_TYPE_MISMATCH = "ValueIsTypeMismatch"
    DEFAULT_TYPE_MISMATCH = "DefaultTypeMismatch"
    REPEATABLE_MAP_TYPE_NOT_MAP = "RepeatableMapTypeNotMap"
    UNRESOLVED_TYPE_REF = "UnresolvedTypeRef"
    DUPLICATE_TYPE_ID = "DuplicateTypeId"
    ILL_FORMED_SCHEMA = "IllFormedSchema"
    UNRESOLVED_DEFAULT_FORMATTER = "UnresolvedDefaultFormatter"
    VERBATIM_WITHOUT_SEPARATOR = "VerbatimWithoutSeparator"
    VARIANT_IN_INPUT_POSITION = "VariantInInputPosition"
    DUPLICATE_IDENTITY = "DuplicateIdentity"
    INVALID_COMMAND_PATH = "InvalidCommandPath"
    """Not of a definition: a path that names no command with a body."""
    NEEDS_ENGINE = "NeedsEngine"
    """Not a fault: a regular expression or a URL could not be judged without an engine."""


@dataclass(frozen=True, slots=True)
class ToolFault:
    """One fault of a definition; members that do not apply are None.

    Attributes:
        kind: what is wrong.
        command: the command in which it stands; `<def ID>` for a definition of a type.
        name: the argument, or the name that stands twice.
        position: where a type stands: an argument, `result`, an error's name, or the id of a definition.
        id: the type id that is missing or stands twice.
        index: of a command.
        count: how many commands there are.
        value: the text that is no identifier, or the identity that stands twice.
        short: the letter that stands twice.
        parent: the command whose children share a name.
        formatter: the name that is not among the formatters.
        positional: the tail that is verbatim without separator.
    """

    kind: ToolFaultKind
    command: str | None = None
    name: str | None = None
    position: str | None = None
    id: str | None = None
    index: int | None = None
    count: int | None = None
    value: str | None = None
    short: str | None = None
    parent: str | None = None
    formatter: str | None = None
    positional: str | None = None
