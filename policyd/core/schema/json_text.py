"""JSON text as the platform reads it: bounded nesting, finite numbers, whole characters.

Source: middleware 5.4.
"""

from __future__ import annotations

import json
import math
from typing import NoReturn, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"

MAX_JSON_NESTING = 127
"""Arrays and objects inside each other; the platform's reader refuses more."""
MAX_JSON_TEXT = 16 * 1024 * 1024
"""Characters of one text; longer ones are refused."""
_LOW, _HIGH = -(1 << 63), (1 << 64) - 1
_LONGEST_INTEGER = 20
"""Digits that an integer of 64 bits can have; longer ones are read as floating-point numbers."""


def parse_json(text: str) -> JsonValue:
    """The JSON value of a text.

    Integers beyond 64 bits and `-0` are floating-point numbers; of a member that occurs twice the last one counts.

    Raises:
        ValueError: when it is not JSON, nested too deeply, or has a number too large for a double.

    >>> parse_json('{"a": [1, 2.5], "a": null}')
    {'a': None}
    """
    if len(text) > MAX_JSON_TEXT:
        raise ValueError(f"longer than {MAX_JSON_TEXT} characters")
    _check_nesting(text)
    value: JsonValue = json.loads(text, parse_int=_integer, parse_float=_float, parse_constant=_constant)
    if "\\u" in text and _has_half_character(value):
        raise ValueError("half of a surrogate pair is no character")
    return value


def _check_nesting(text: str) -> None:
    """Count brackets outside of strings before the reader recurses."""
    depth, at, size = 0, 0, len(text)
    while at < size:
        char = text[at]
        if char == '"':
            at = _end_of_string(text, at + 1)
        elif char in "[{":
            depth += 1
            if depth > MAX_JSON_NESTING:
                raise ValueError(f"nested deeper than {MAX_JSON_NESTING} levels")
        elif char in "]}":
            depth -= 1
        at += 1


def _end_of_string(text: str, at: int) -> int:
    """Where the closing quote stands, or the end of the text."""
    while True:
        quote = text.find('"', at)
        if quote < 0:
            return len(text)
        back = quote
        while back > at and text[back - 1] == "\\":
            back -= 1
        if (quote - back) % 2 == 0:
            return quote
        at = quote + 1


def _integer(text: str) -> int | float:
    if text == "-0" or len(text) > _LONGEST_INTEGER:
        return _float(text)
    value = int(text)
    return value if _LOW <= value <= _HIGH else _float(text)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("a number is too large for a double")
    return value


def _constant(text: str) -> NoReturn:
    raise ValueError(f"`{text}` is not JSON")


def _has_half_character(value: JsonValue) -> bool:
    pending: list[JsonValue] = [value]
    while pending:
        current = pending.pop()
        match current:
            case str():
                if any("\ud800" <= c <= "\udfff" for c in current):
                    return True
            case list():
                pending.extend(current)
            case dict():
                pending.extend(current)
                pending.extend(current.values())
            case _:
                continue
    return False
