"""JSON text as the platform reads it: which numbers are integers, and how deep it goes.

Source: retry 1.5.
"""

from __future__ import annotations

import json
import math
from typing import Any

from policyd.core.retry.duration import U64_MAX
from policyd.core.retry.errors import Label, RetryFormError
from policyd.core.retry.value import I64_MIN

MAX_JSON_DIGITS = 4_000
"""Longer integers are refused unread."""


def json_integer(text: str) -> int | float:
    """The number that an integer of JSON text becomes: `-0` and what exceeds 64 bits are floats.

    >>> json_integer("-0"), json_integer("18446744073709551616")
    (-0.0, 1.8446744073709552e+19)
    """
    if len(text) > MAX_JSON_DIGITS:
        return math.inf
    number = int(text)
    if text == "-0" or not I64_MIN <= number <= U64_MAX:
        return float(text)
    return number


def decode_json(text: str) -> Any:
    """Decode JSON text; a repeated key counts with its last value.

    Raises:
        RetryFormError: RETRY106, when the text is no JSON or is nested too deeply.
    """
    try:
        return json.loads(text, parse_int=json_integer, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise RetryFormError.at(Label.PAYLOAD, (), "this is no JSON that can be read") from error


def _refused(name: str) -> float:
    raise ValueError(name)
