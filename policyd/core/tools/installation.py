"""Installation parameters: whether they fit the schema of their middleware.

Source: middleware 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from policyd.core.schema.carry import violation_words
from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import JsonFault, JsonFaultKind, JsonForm
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.outcomes import Validity, validity_of
from policyd.core.schema.validate import violations_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BadParameter:
    """Why installation parameters are refused.

    Attributes:
        path: in the parameters.
        words: why.
        is_open: whether only an engine was missing.
    """

    path: str
    words: str
    is_open: bool = False


def parameter_faults(
    schema: Graph, parameters: JsonValue, form: JsonForm, engines: Engines
) -> tuple[BadParameter, ...]:
    """What is wrong with the parameters of one installation: they must decode untrusted, and be valid.

    Args:
        schema: of the middleware; its root is the type of the parameters.
        parameters: a JSON object; `{}` where none are written.
        form: which spellings are in force.
        engines: for patterns and URLs.
    """
    value = decode_json(parameters, schema, engines, trusted=False, form=form)
    if isinstance(value, JsonFault):
        is_open = value.kind is JsonFaultKind.NEEDS_PATTERNS
        return (BadParameter(value.path, value.reason, is_open),)
    broken = violations_of(value, schema, engines)
    is_open = validity_of(broken) is Validity.UNDECIDED
    return tuple(BadParameter(_json_path(v.path), violation_words(v.kind), is_open) for v in broken)


def _json_path(path: tuple[str, ...]) -> str:
    """The place of a violation, in the words of JSON.

    >>> _json_path(("field:a", "some", "index:0"))
    '$.a[0]'
    """
    found = "$"
    for step in path:
        name, colon, rest = step.partition(":")
        if name == "field" and colon:
            found += f".{rest}"
        elif name in ("index", "key", "value") and colon:
            found += f"[{rest}]"
    return found
