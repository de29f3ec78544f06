"""Why a JSON text is no value of a type, or a value has no JSON.

Source: middleware 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class JsonFaultKind(Enum):
    """The kinds of failure, by the names of the platform."""

    SYNTAX = "Syntax"
    VALUE_MISMATCH = "ValueMismatch"
    CANONICAL = "Canonical"
    UNEXPECTED_FIELD = "UnexpectedField"
    DUPLICATE_FLAG = "DuplicateFlag"
    UNION_NO_MATCH = "UnionNoMatch"
    UNION_AMBIGUOUS = "UnionAmbiguous"
    UNION_TAG_MISMATCH = "UnionTagMismatch"
    UNSUPPORTED = "Unsupported"
    NEEDS_PATTERNS = "NeedsPatterns"
    """Not a failure: a regular expression would have to be matched and there is no engine that can."""
    TOO_DEEP = "TooDeep"
    """Beyond a limit of policyd."""


@dataclass(frozen=True, slots=True)
class JsonFault:
    """A failure at a place.

    Attributes:
        kind: what kind of failure.
        reason: one line for a person.
        path: `$.a[0]`; the place in the JSON.
    """

    kind: JsonFaultKind
    reason: str
    path: str = "$"


class JsonFaultError(Exception):
    """A failure on its way out; the places it passes are added."""

    def __init__(self, kind: JsonFaultKind, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.steps: list[str | int] = []

    @property
    def fault(self) -> JsonFault:
        """The failure with its place."""
        path = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in reversed(self.steps))
        return JsonFault(self.kind, self.reason, f"${path}")


@dataclass(frozen=True, slots=True)
class JsonForm:
    """Which spellings are in force.

    Attributes:
        wide_ints_as_text: 64-bit integers are strings (else numbers).
        durations_as_objects: durations are `{"nanoseconds": …}` (else ISO 8601 text).
    """

    wide_ints_as_text: bool = True
    durations_as_objects: bool = True


NEWEST_FORM = JsonForm()
