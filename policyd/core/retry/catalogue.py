"""The properties that predicates can read: their types, and where they exist.

Source: retry 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.edition import Rules


class PropertyType(Enum):
    """The type of a property wherever the platform sets it."""

    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Property:
    """One row of the catalogue.

    Attributes:
        name: as predicates spell it.
        type: its type.
        meaning: one line on what it says.
        switch: the edition's switch that takes it away, empty where none does.
    """

    name: str
    type: PropertyType
    meaning: str
    switch: str = ""

    def is_supplied(self, rules: Rules) -> bool:
        """Whether the platform sets it anywhere under `rules`."""
        return not (self.switch and rules.is_next(self.switch))


_TEXT, _INTEGER, _BOOLEAN = PropertyType.TEXT, PropertyType.INTEGER, PropertyType.BOOLEAN
CATALOGUE: tuple[Property, ...] = (
    Property("verb", _TEXT, "the operation: an HTTP method, `invoke`, `query`, `resolve`, `trap`, `saga` and others"),
    Property("noun-uri", _TEXT, "what the operation is about, as a URI where it is one"),
    Property("uri-scheme", _TEXT, "the scheme of the noun, in lower case"),
    Property("uri-host", _TEXT, "the host of the noun"),
    Property("uri-port", _INTEGER, "the port of the noun, unless it is the scheme's own"),
    Property("uri-path", _TEXT, "the path of the noun, percent-encoded"),
    Property("status-code", _INTEGER, "the status of an HTTP response"),
    Property("error-type", _TEXT, "`transient` or `http-status`"),
    Property("function", _TEXT, "the method called in another agent"),
    Property("target-component-id", _TEXT, "the component of the agent called"),
    Property("target-agent-type", _TEXT, "the type of the agent called"),
    Property("db-type", _TEXT, "the scheme of the database address"),
    Property("trap-type", _TEXT, "the kind of trap"),
    Property("agent-type", _TEXT, "the type of the agent that calls"),
    Property("is-idempotent", _BOOLEAN, "whether a repetition is taken for harmless", "is_idempotent_property"),
    Property("attempt", _INTEGER, "the number of the failed attempt, from 1, of a saga"),
    Property("error-kind", _TEXT, "`operation-error`, of a saga"),
)
"""The rows of retry 2.2, in its order; any other name is the guest's own."""

_BY_NAME = {p.name: p for p in CATALOGUE}


def property_named(name: str) -> Property | None:
    """The row of a property; None for a name outside the catalogue."""
    return _BY_NAME.get(name)
