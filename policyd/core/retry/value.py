"""Property values, property bags and the coercions between them.

Source: retry 1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

I64_MIN, I64_MAX = -(2**63), 2**63 - 1
_I64_DIGITS = 19


@dataclass(frozen=True, slots=True)
class Text:
    """A text value."""

    value: str


@dataclass(frozen=True, slots=True)
class Integer:
    """A signed 64-bit value."""

    value: int


@dataclass(frozen=True, slots=True)
class Boolean:
    """A truth value."""

    value: bool


PropertyValue = Text | Integer | Boolean
Bag = Mapping[str, PropertyValue]
"""What predicates see: property name to value."""


class TargetType(Enum):
    """The type that a coercion was to reach."""

    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class PropertyNotFound:
    """The bag lacks the property."""

    property: str


@dataclass(frozen=True, slots=True)
class CoercionFailed:
    """The value in the bag cannot be seen as `target`."""

    property: str
    value: PropertyValue
    target: TargetType


@dataclass(frozen=True, slots=True)
class InvalidState:
    """The stored state does not fit the policy."""


EvaluationError = PropertyNotFound | CoercionFailed | InvalidState


def parse_i64(text: str) -> int | None:
    """The signed 64-bit integer that `text` spells: optional sign, ASCII digits, nothing else.

    >>> parse_i64("+042"), parse_i64(" 42"), parse_i64("1_0")
    (42, None, None)
    """
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits or not digits.isascii() or not digits.isdigit():
        return None
    significant = digits.lstrip("0")
    if len(significant) > _I64_DIGITS:
        return None
    number = int(significant or "0")
    number = -number if text[0] == "-" else number
    return number if I64_MIN <= number <= I64_MAX else None


def text_view(value: PropertyValue) -> str | None:
    """The text that text tests look at; None for a boolean, which has none."""
    match value:
        case Text(text):
            return text
        case Integer(number):
            return str(number)
        case Boolean():
            return None
        case _:
            assert_never(value)


def compare(name: str, actual: PropertyValue, expected: PropertyValue) -> int | CoercionFailed:
    """Negative, zero or positive as `actual` stands to `expected`, or why they do not compare.

    Texts compare by their UTF-8 bytes, which is the order of code points.

    Source: retry 1.4.
    """
    match expected:
        case Text(wanted):
            view = text_view(actual)
            if view is None:
                return CoercionFailed(name, actual, TargetType.TEXT)
            return (view > wanted) - (view < wanted)
        case Integer(number):
            match actual:
                case Integer(found):
                    return (found > number) - (found < number)
                case Text(text):
                    parsed = parse_i64(text)
                    if parsed is not None:
                        return (parsed > number) - (parsed < number)
                    return CoercionFailed(name, actual, TargetType.INTEGER)
                case Boolean():
                    return CoercionFailed(name, actual, TargetType.INTEGER)
                case _:
                    assert_never(actual)
        case Boolean(truth):
            if isinstance(actual, Boolean):
                return actual.value - truth
            return CoercionFailed(name, actual, TargetType.BOOLEAN)
        case _:
            assert_never(expected)
