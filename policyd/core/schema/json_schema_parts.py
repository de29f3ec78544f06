"""Pieces that JSON Schema documents are made of.

Source: middleware 5.5.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from policyd.core.schema.types import Discriminator, FieldAbsent, FieldEquals, Metadata, StringRule, TextRule

JsonSchema: TypeAlias = dict[str, object]

_SPECIAL = frozenset("\\.+*?()|[]{}^$")


def described(schema: JsonSchema, metadata: Metadata) -> JsonSchema:
    """The schema with what metadata shows; a description that is there stays."""
    if metadata.doc is not None:
        schema.setdefault("description", metadata.doc)
    if metadata.examples:
        schema["examples"] = list(metadata.examples)
    if metadata.deprecated is not None:
        schema["deprecated"] = True
        schema["x-golem-deprecation-note"] = metadata.deprecated
    return schema


def closed_object(properties: dict[str, JsonSchema], required: tuple[str, ...] | None = None) -> JsonSchema:
    """An object of these members only; all are required unless told otherwise."""
    needed = list(properties if required is None else required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def constant(value: str) -> JsonSchema:
    """Exactly this text."""
    return {"const": value}


def reference(id: str) -> JsonSchema:
    """A reference to a definition, escaped as a JSON pointer.

    >>> reference("a/b~c")
    {'$ref': '#/$defs/a~1b~0c'}
    """
    return {"$ref": "#/$defs/" + id.replace("~", "~0").replace("/", "~1")}


def _literally(text: str) -> str:
    """The text as a regular expression that means itself."""
    return "".join(f"\\{c}" if c in _SPECIAL else c for c in text)


def rule_schema(rule: Discriminator) -> JsonSchema:
    """The schema of a discriminator rule."""
    match rule:
        case StringRule(TextRule.PREFIX, text):
            return {"pattern": f"^{_literally(text)}"}
        case StringRule(TextRule.SUFFIX, text):
            return {"pattern": f"{_literally(text)}$"}
        case StringRule(TextRule.CONTAINS, text):
            return {"pattern": _literally(text)}
        case StringRule(_, text):
            return {"pattern": text}
        case FieldEquals(name, None):
            return {"required": [name]}
        case FieldEquals(name, literal):
            return {"required": [name], "properties": {name: {"type": "string", "const": literal}}}
        case FieldAbsent(name):
            return {"not": {"required": [name]}}
        case _:
            assert_never(rule)
