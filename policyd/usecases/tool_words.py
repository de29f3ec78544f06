"""Places, values and reasons of tools and schemas in words.

Source: interface, Words; middleware 3.12.
"""

from __future__ import annotations

import json

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.project import Mismatch
from policyd.core.schema.type_text import type_text
from policyd.core.schema.types import (
    EnumType,
    FlagsType,
    NumberType,
    OptionType,
    SchemaType,
    kind_of,
)
from policyd.core.schema.value_json import value_json
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.registry import fault_text
from policyd.findings import InputError

MAX_SHOWN_VALUE = 300
"""Longer values are cut in messages."""
MAX_SHOWN_TYPE = 160
"""Longer types are cut in messages."""


def place_words(command: tuple[str, ...] | None, place: str) -> str:
    """A schema path inside a tool.

    Args:
        command: canonical names from the root; None where it is about no command.
        place: as in a mismatch: `.result.status[]`.

    >>> place_words(("stock", "adjust"), ".result.status[].some")
    'stock adjust › result › status › [] › some'
    """
    steps = place.replace("[", ".[").split(".")
    head = [] if command is None else [" ".join(command) or "root"]
    return " › ".join([*head, *(step for step in steps if step)])


def shown_value(value: SchemaValue, graph: Graph, engines: Engines, limit: int = MAX_SHOWN_VALUE) -> str:
    """A value as canonical JSON on one line, or in the tagged form where it has none."""
    encoded = encode(value, graph, engines)
    try:
        found = encoded.json if isinstance(encoded, Encoded) else value_json(value, live_streams=True)
    except InputError:
        return f"a value of `{type_text(graph.root, limit=MAX_SHOWN_TYPE)}`"
    text = json.dumps(found, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def mismatch_words(mismatch: Mismatch) -> str:
    """What differs at the place of a mismatch, in a few words."""
    source, target = mismatch.source, mismatch.target
    if mismatch.missing:
        return f"{mismatch.missing} missing"
    if source is None or target is None:
        return "there on one side only"
    match source, target:
        case EnumType(a), EnumType(b) if set(a) - set(b):
            return f"enum case missing: {_names(a, b)}"
        case FlagsType(a), FlagsType(b) if set(a) - set(b):
            return f"flag missing: {_names(a, b)}"
        case NumberType(kind), NumberType(other) if kind is other:
            return "bounds or unit differ"
        case _ if isinstance(target, OptionType) and not isinstance(source, OptionType):
            return "a value is not lifted into an option"
        case _ if kind_of(source) != kind_of(target):
            return f"`{kind_of(source)}` is no `{kind_of(target)}`"
        case _:
            return "the types differ"


def mismatch_place(mismatch: Mismatch) -> str:
    """Where it differs: of something missing, where it would stand.

    >>> from policyd.core.schema.project import MismatchKind
    >>> mismatch_place(Mismatch(".status.gone", MismatchKind.NOT_SUBSTITUTABLE, missing="variant case"))
    '.status'
    """
    return mismatch.path.rpartition(".")[0] if mismatch.missing else mismatch.path


def _names(source: tuple[str, ...], target: tuple[str, ...]) -> str:
    known = frozenset(target)
    return ", ".join(f"`{name}`" for name in source if name not in known)


def shown_type(schema: SchemaType) -> str:
    """A type in the short notation, cut."""
    return type_text(schema, limit=MAX_SHOWN_TYPE)


_REASONS = {
    IncompatibilityKind.TOOL_NAME_MISMATCH: "the tools have different names",
    IncompatibilityKind.NOT_STRICTLY_EQUAL: "the two definitions are not the same, documentation and version apart",
    IncompatibilityKind.COMMAND_MISSING: "the command is missing below, or is only a name space there",
    IncompatibilityKind.CONSTRAINT_NOT_GUARANTEED: "a constraint below is not among those above",
    IncompatibilityKind.STREAM_CONTRACT_DIFFERS: "the stream contracts differ",
    IncompatibilityKind.NO_CANONICAL_INPUT: "the command has no canonical input: an optional input is an option twice",
    IncompatibilityKind.INNER_INPUT_WITHOUT_DEFAULT: "nobody above gives this input, and it has no default",
    IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE: "what is given above is not always taken below",
    IncompatibilityKind.RESULT_PRESENCE_DIFFERS: "only one side has a result",
    IncompatibilityKind.RESULT_NOT_SUBSTITUTABLE: "what is returned below is not always expected above",
    IncompatibilityKind.INNER_ONLY_ERROR: "this error is declared below only",
    IncompatibilityKind.EXPECTED_ONLY_ERROR: "this error is declared above only, which the older rule refuses",
    IncompatibilityKind.ERROR_KIND_DIFFERS: "kind or exit code of the error differ",
    IncompatibilityKind.ERROR_PAYLOAD_PRESENCE_DIFFERS: "only one side gives the error a payload",
    IncompatibilityKind.ERROR_PAYLOAD_NOT_SUBSTITUTABLE: "the payload given below is not always expected above",
    IncompatibilityKind.PROJECTION_TOO_LARGE: "the types are too large or too deep to be projected",
}


def label_of(reason: Incompatibility) -> str:
    """The label of the specification."""
    return reason.kind.value.partition(" ")[0]


def reason_words(reason: Incompatibility) -> str:
    """Why a pair is refused, without its place."""
    if reason.kind in (IncompatibilityKind.INVALID_EXPECTED, IncompatibilityKind.INVALID_INNER):
        side = "expected" if reason.kind is IncompatibilityKind.INVALID_EXPECTED else "inner"
        return f"the {side} tool is not valid: {fault_text(reason.fault) if reason.fault else 'see its own findings'}"
    return _REASONS[reason.kind]
