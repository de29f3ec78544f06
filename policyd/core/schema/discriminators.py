"""Whether the body of a union value satisfies the rule of its branch.

Source: middleware 5.4 (`union`), 8.2.
"""

from __future__ import annotations

from typing import assert_never

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions
from policyd.core.schema.types import Branch, FieldAbsent, FieldEquals, RecordType, StringRule, TextRule
from policyd.core.schema.values import PathValue, RecordValue, SchemaValue, StringValue, TextValue, UrlValue


def rule_holds(branch: Branch, body: SchemaValue, definitions: Definitions, engines: Engines) -> bool | None:
    """Whether the body satisfies the branch's rule; None when no engine can tell.

    A string rule looks at string, text, URL and path values, a field rule at records.
    """
    rule = branch.discriminator
    match rule:
        case StringRule():
            text = text_of(body)
            return False if text is None else text_satisfies(rule, text, engines)
        case FieldEquals() | FieldAbsent():
            record = definitions.resolve(branch.body).type
            if not isinstance(record, RecordType) or not isinstance(body, RecordValue):
                return False
            if len(record.fields) != len(body.fields):
                return False
            index = next((i for i, f in enumerate(record.fields) if f.name == rule.field_name), None)
            if isinstance(rule, FieldAbsent):
                return index is None
            if index is None:
                return False
            return rule.literal is None or text_of(body.fields[index]) == rule.literal
        case _:
            assert_never(rule)


def text_of(value: SchemaValue) -> str | None:
    """The text that a string rule looks at, or None."""
    match value:
        case StringValue(text) | TextValue(text) | UrlValue(text) | PathValue(text):
            return text
        case _:
            return None


def text_satisfies(rule: StringRule, text: str, engines: Engines) -> bool | None:
    """Whether a text satisfies a string rule; None when it is a regular expression and no engine can tell."""
    match rule.rule:
        case TextRule.PREFIX:
            return text.startswith(rule.text)
        case TextRule.SUFFIX:
            return text.endswith(rule.text)
        case TextRule.CONTAINS:
            return rule.text in text
        case TextRule.REGEX:
            return None if engines.patterns is None else engines.patterns.finds(rule.text, text)
        case _:
            assert_never(rule.rule)
