"""Fields that hold no node: durations, numbers, texts and values as documents write them.

Source: retry 1.1, 1.5, 1.7.
"""

from __future__ import annotations

import math
from typing import assert_never

from policyd.core.retry.duration import NANOS, U32_MAX, U64_MAX, parse_duration
from policyd.core.retry.errors import Label, Path, RetryFormError
from policyd.core.retry.value import I64_MAX, I64_MIN, Boolean, Integer, PropertyValue, Text


def is_integer(document: object, low: int, high: int) -> bool:
    """Whether a decoded document is an integer (no truth value, no float) from `low` to `high`."""
    return isinstance(document, int) and not isinstance(document, bool) and low <= document <= high


def is_unicode(text: str) -> bool:
    """Whether the text has no half of a surrogate pair alone, which no platform text can have."""
    return text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text)


def read_text(document: object, path: Path, label: Label = Label.PAYLOAD) -> str:
    """A text field.

    Raises:
        RetryFormError: with `label`.
    """
    if isinstance(document, str) and is_unicode(document):
        return document
    raise RetryFormError.at(label, path, "a text is wanted")


def read_count(document: object, path: Path, label: Label = Label.UNSIGNED) -> int:
    """An unsigned 32-bit field.

    Raises:
        RetryFormError: with `label`.
    """
    if is_integer(document, 0, U32_MAX):
        assert isinstance(document, int)
        return document
    raise RetryFormError.at(label, path, f"an integer from 0 to {U32_MAX} is wanted")


def read_factor(document: object, path: Path, label: Label = Label.PAYLOAD) -> float:
    """A factor: any finite number, integers too.

    Raises:
        RetryFormError: with `label`.
    """
    if isinstance(document, int | float) and not isinstance(document, bool):
        try:
            number = float(document)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise RetryFormError.at(label, path, "a finite number is wanted")


def read_duration(document: object, path: Path) -> int:
    """A duration of the canonical form: a text, `{secs, nanos}`, or `[secs, nanos]`.

    Raises:
        RetryFormError: RETRY108 or RETRY109.

    Source: retry 1.1.
    """
    match document:
        case str():
            return parse_duration(document, path)
        case {"secs": secs, "nanos": nanos, **rest} if not rest:
            pass
        case [secs, nanos]:
            pass
        case _:
            message = "a duration is a text such as `1h 30m`, or `secs` and `nanos`"
            raise RetryFormError.at(Label.DURATION_SHAPE, path, message)
    if not (is_integer(secs, 0, U64_MAX) and is_integer(nanos, 0, U32_MAX)):
        raise RetryFormError.at(Label.DURATION_SHAPE, path, "`secs` and `nanos` are integers that are not negative")
    assert isinstance(secs, int)
    assert isinstance(nanos, int)
    carried = secs + nanos // NANOS
    if carried > U64_MAX:
        raise RetryFormError.at(Label.DURATION_SHAPE, path, "the duration is too large")
    return carried * NANOS + nanos % NANOS


def read_value(document: object, path: Path) -> PropertyValue:
    """A value of a predicate: a text, an integer, a truth value, or one of them under its type's name.

    Raises:
        RetryFormError: RETRY107.
    """
    match document:
        case bool():
            return Boolean(document)
        case str() if is_unicode(document):
            return Text(document)
        case int() if I64_MIN <= document <= I64_MAX:
            return Integer(document)
        case {"text": str(text), **rest} if not rest and is_unicode(text):
            return Text(text)
        case {"integer": int(number), **rest} if not rest and is_integer(number, I64_MIN, I64_MAX):
            return Integer(number)
        case {"boolean": bool(truth), **rest} if not rest:
            return Boolean(truth)
        case _:
            message = "a value is a text, a truth value, or an integer of 64 bits"
            raise RetryFormError.at(Label.VALUE, path, message)


def write_duration(ns: int) -> dict[str, int]:
    """The canonical output form of a duration."""
    secs, nanos = divmod(ns, NANOS)
    return {"secs": secs, "nanos": nanos}


def write_factor(factor: float) -> float | None:
    """The factor; null where JSON has no such number."""
    return factor if math.isfinite(factor) else None


def plain_value(value: PropertyValue) -> str | int | bool:
    """The value as JSON writes it, its type shown by the JSON kind."""
    return value.value


def tag_of(value: PropertyValue) -> str:
    """The name of the type of a value in typed forms."""
    match value:
        case Text():
            return "text"
        case Integer():
            return "integer"
        case Boolean():
            return "boolean"
        case _:
            assert_never(value)
