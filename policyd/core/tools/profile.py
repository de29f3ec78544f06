"""The profile: single rules that a verdict about tools depends on, with the values of the newest sources.

Source: middleware 0.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any

from policyd.core.edition import NEXT, SWITCHES, Rules
from policyd.core.schema.json_faults import JsonForm
from policyd.core.tools.compat_errors import ErrorRule
from policyd.core.tools.modes import Mode


class OwnerComponent(Enum):
    """Whose component stands in the owner of a tool's target."""

    BOTH = "both"
    CALLER = "caller"
    IMPLEMENTER = "implementer"


@dataclass(frozen=True, slots=True)
class Profile:
    """The rules in force.

    Attributes:
        compatibility_mode: where no manifest says one.
        error_rule: which side's errors decide.
        optional_wrapping: whether inputs that are neither required nor defaulted are options.
        wide_int_json: whether 64-bit integers are strings in JSON.
        duration_json: whether durations are objects in JSON.
        universal_on_bindings: whether universal middleware may stand in the list of one tool.
        underlying_permission_check: whether calls between layers are checked.
        tool_owner_component: whose component stands in targets.
        quoted_arguments: whether strings are quoted in targets.
        secret_scope_of_binding: whether layers run under the binding's scope alone.
        regex, url: whether guests are built with these features.
        option_lift: whether lifting into options is allowed, for what-if.
    """

    compatibility_mode: Mode = Mode.STRUCTURAL_SUBTYPE
    error_rule: ErrorRule = ErrorRule.INNER_SUBSET
    optional_wrapping: bool = True
    wide_int_json: bool = True
    duration_json: bool = True
    universal_on_bindings: bool = True
    underlying_permission_check: bool = True
    tool_owner_component: OwnerComponent = OwnerComponent.BOTH
    quoted_arguments: bool = True
    secret_scope_of_binding: bool = True
    regex: bool = True
    url: bool = True
    option_lift: bool = False

    @classmethod
    def of(cls, rules: Rules = NEXT) -> Profile:
        """The profile that an edition and its switches come to."""
        owner = OwnerComponent.BOTH if rules.is_next("tool_owner_component") else OwnerComponent.IMPLEMENTER
        return cls(
            optional_wrapping=rules.is_next("optional_wrapping"),
            wide_int_json=rules.is_next("wide_int_json"),
            duration_json=rules.is_next("duration_json"),
            tool_owner_component=owner,
        )

    @property
    def json_form(self) -> JsonForm:
        """The spellings of canonical JSON."""
        return JsonForm(self.wide_int_json, self.duration_json)

    @property
    def apart(self) -> tuple[str, ...]:
        """The keys whose values are not the newest, as `key=value`.

        >>> Profile(option_lift=True).apart
        ('option_lift=true',)
        """
        newest = Profile()
        names = [field.name for field in fields(self)]
        return tuple(_told(name, getattr(self, name)) for name in names if getattr(self, name) != getattr(newest, name))

    def set(self, key: str, value: str) -> Profile:
        """The profile with one key set to one of its words.

        Raises:
            KeyError: for a key that there is not.
            ValueError: for a value that it does not take; the text lists those that it takes.
        """
        words = KEYS[key]
        if value not in words:
            raise ValueError(", ".join(f"`{word}`" for word in words))
        match key:
            case "compatibility_mode":
                return replace(self, compatibility_mode=Mode(value))
            case "error_rule":
                return replace(self, error_rule=ErrorRule(value))
            case "tool_owner_component":
                return replace(self, tool_owner_component=OwnerComponent(value))
            case "arg_string_rendering":
                return replace(self, quoted_arguments=value == "quoted")
            case "middleware_secret_scope":
                return replace(self, secret_scope_of_binding=value == "binding")
            case _:
                switch: dict[str, Any] = {key: value == words[0]}
                return replace(self, **switch)


KEYS: Mapping[str, tuple[str, ...]] = {
    "compatibility_mode": ("structural-subtype", "strict-equality", "nominal"),
    "error_rule": ("inner-subset", "inherit-legacy"),
    "optional_wrapping": ("true", "false"),
    "wide_int_json": ("string", "number"),
    "duration_json": ("object", "iso8601"),
    "universal_on_bindings": ("allow", "reject"),
    "underlying_permission_check": ("true", "false"),
    "tool_owner_component": ("both", "caller", "implementer"),
    "arg_string_rendering": ("quoted", "raw"),
    "middleware_secret_scope": ("binding", "installation-intersect"),
    "regex": ("true", "false"),
    "url": ("true", "false"),
    "option_lift": ("true", "false"),
}
"""The words of each key, the newest first where the value is a yes or no."""


def switch_word(key: str, value: str) -> str | None:
    """The value of a switch of the editions that a word of the profile stands for; None where the profile alone has it.

    Words of switches, and of names that are no key, are given back as they are.

    >>> switch_word("duration_json", "iso8601"), switch_word("tool_owner_component", "caller")
    ('iso-text', None)
    """
    row = next((row for row in SWITCHES if row.name == key), None)
    words = KEYS.get(key, ())
    if row is None or not words:
        return None if words else value
    if value in (row.next, row.snapshot) or value not in words:
        return value
    return {words[0]: row.next, words[-1]: row.snapshot}.get(value)


_KEY_OF_FIELD = {"quoted_arguments": "arg_string_rendering", "secret_scope_of_binding": "middleware_secret_scope"}


def _told(name: str, value: object) -> str:
    key = _KEY_OF_FIELD.get(name, name)
    return f"{key}={value.value if isinstance(value, Enum) else KEYS[key][0 if value else 1]}"
