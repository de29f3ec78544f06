"""Whether JSON satisfies the discriminator of a union's branch.

Source: middleware 5.4 (`union`).
"""

from __future__ import annotations

from typing import assert_never

from policyd.core.schema.discriminators import text_satisfies
from policyd.core.schema.engines import Engines
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.types import Discriminator, FieldAbsent, FieldEquals, StringRule


def json_satisfies(rule: Discriminator, json: JsonValue, engines: Engines) -> bool | None:
    """Whether the rule holds: string rules for strings, field rules for objects; None without an engine that can tell.

    A field without literal is satisfied by its presence, `null` included.
    """
    match rule:
        case StringRule():
            return text_satisfies(rule, json, engines) if isinstance(json, str) else False
        case FieldEquals(name, literal):
            if not isinstance(json, dict) or name not in json:
                return False
            found = json[name]
            return literal is None or (isinstance(found, str) and found == literal)
        case FieldAbsent(name):
            return isinstance(json, dict) and name not in json
        case _:
            assert_never(rule)
