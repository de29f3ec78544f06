"""`{{ VAR }}` in values: which variables a text needs. Nothing is read from the environment of the process.

Source: manifest-format 4.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from policyd.manifest.located import shown

FILTERS = frozenset(
    (
        *("abs", "attr", "batch", "bool", "capitalize", "count", "d", "default", "dictsort", "e", "escape", "first"),
        *("float", "groupby", "indent", "int", "items", "join", "last", "length", "lines", "list", "lower", "map"),
        *("max", "min", "pprint", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select"),
        *("selectattr", "slice", "sort", "split", "string", "sum", "title", "tojson", "trim", "unique", "upper"),
        *("urlencode", "to_snake_case", "to_kebab_case", "to_camel_case", "to_pascal_case", "to_title_case"),
        *("to_train_case", "to_lower_camel_case", "to_upper_camel_case", "to_shouty_snake_case"),
        *("to_shouty_kebab_case",),
    )
)
"""Filters that policyd knows of; a text with another one is unknown, with a finding."""

_EXPRESSION = re.compile(r"\s*([A-Za-z_]\w*)((?:\.\w+)*)((?:\s*\|\s*[A-Za-z_]\w*(?:\([^(){}]*\))?)*)\s*")
_FILTER = re.compile(r"\|\s*([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class TemplateText:
    """What is known of a text that may contain `{{ }}`.

    Attributes:
        is_template: whether anything in it is to be rendered; its value is unknown then.
        variables: the names it needs, in order, each once.
        problem: why it cannot be understood, empty when it can.
    """

    is_template: bool = False
    variables: tuple[str, ...] = ()
    problem: str = ""


LITERAL = TemplateText()


def template_of(text: str) -> TemplateText:
    """What `text` needs in order to be known.

    >>> template_of("x-{{ USER | upper }}").variables
    ('USER',)
    >>> template_of("plain").is_template
    False
    """
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return LITERAL
    if "{%" in text or "{#" in text:
        return TemplateText(True, (), "statements and comments of templates are not understood")
    names: dict[str, None] = {}
    position = text.find("{{")
    while position >= 0:
        end = text.find("}}", position + 2)
        if end < 0:
            return TemplateText(True, tuple(names), "`{{` is not closed")
        found = _EXPRESSION.fullmatch(text[position + 2 : end])
        if found is None:
            return TemplateText(True, tuple(names), "the text between `{{` and `}}` is not understood")
        names[found.group(1)] = None
        for name in _FILTER.findall(found.group(3)):
            if name not in FILTERS:
                return TemplateText(True, tuple(names), f"the filter `{shown(name)}` is not known")
        position = text.find("{{", end + 2)
    return TemplateText(True, tuple(names))


def filled(text: str, variables: Mapping[str, str]) -> str | None:
    """The text with `variables` filled in, or None where it needs more, filters included.

    >>> filled("{{ OWNER }}@x.io", {"OWNER": "ann"})
    'ann@x.io'
    """
    parts: list[str] = []
    rest = 0
    position = text.find("{{")
    while position >= 0:
        end = text.find("}}", position + 2)
        name = text[position + 2 : end].strip() if end >= 0 else ""
        if name not in variables:
            return None
        parts.append(text[rest:position] + variables[name])
        rest = end + 2
        position = text.find("{{", rest)
    parts.append(text[rest:])
    return None if "{%" in text or "{#" in text else "".join(parts)
