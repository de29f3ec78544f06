"""What a scalar means where any value may stand.

Source: manifest-format 0.1, retry 1.5.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from policyd.findings import Finding, Severity
from policyd.manifest import codes
from policyd.manifest.located import Located, LocatedList, LocatedMap, LocatedScalar, shown

Plain: TypeAlias = bool | int | float | str | None
"""The value of a scalar."""

Json: TypeAlias = "Plain | list[Json] | dict[str, Json]"
"""A free value."""

Tell: TypeAlias = Callable[[Finding], None]
"""Takes a finding."""

_TAGS = "tag:yaml.org,2002:"
_TRUE = frozenset({"true", "True", "TRUE"})
_FALSE = frozenset({"false", "False", "FALSE"})
_NULL = frozenset({"~", "null", "Null", "NULL"})
_DECIMAL = re.compile(r"[+-]?[0-9]+\Z")
_PREFIXED = re.compile(r"([+-]?)0(x[0-9a-fA-F]+|o[0-7]+|b[01]+)\Z")
_SUPERFLUOUS_ZERO = re.compile(r"[+-]?0[0-9]+\Z")
_FLOAT = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_NOT_FINITE = frozenset({f"{sign}.{name}" for sign in ("", "+", "-") for name in ("inf", "Inf", "INF")}) | frozenset(
    {f"{sign}.{name}" for sign in ("", "+") for name in ("nan", "NaN", "NAN")}
)
_LONGEST_INTEGER = 140
"""No integer within 128 bits has more characters, leading zeros of a prefix form apart."""


class MisfitError(Exception):
    """A scalar that the platform refuses as a free value."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def boolean_of(text: str) -> bool | None:
    """The boolean that a plain text stands for, or None.

    >>> boolean_of("TRUE"), boolean_of("yes")
    (True, None)
    """
    return True if text in _TRUE else False if text in _FALSE else None


def integer_of(text: str) -> int | None:
    """The integer that a plain text stands for, of any size within 128 bits, or None.

    >>> integer_of("0x1F"), integer_of("-0"), integer_of("017"), integer_of("1_000")
    (31, 0, None, None)
    """
    prefixed = _PREFIXED.match(text)
    if prefixed:
        sign, digits = prefixed.groups()
        body = digits[1:].lstrip("0") or "0"
        if len(body) > _LONGEST_INTEGER:
            return None
        value = int(body, {"x": 16, "o": 8, "b": 2}[digits[0]])
    elif _DECIMAL.match(text) and not _SUPERFLUOUS_ZERO.match(text) and len(text) <= _LONGEST_INTEGER:
        sign, value = text[0] if text[0] in "+-" else "", int(text.lstrip("+-"))
    else:
        return None
    value = -value if sign == "-" else value
    return value if -(2**127) <= value < 2**128 else None


def float_of(text: str) -> float | None:
    """The floating point number that a plain text stands for; infinite and not-a-number included, or None."""
    if text in _NOT_FINITE:
        return float(text.replace(".", "", 1))
    if not _FLOAT.match(text):
        return None
    value = float(text)
    return value if value not in (float("inf"), float("-inf")) else None


def plain_value(text: str) -> Plain:
    """The value of an untagged plain scalar in a free value.

    >>> [plain_value(t) for t in ("yes", "~", "1e3", "00", "2001-01-01")]
    ['yes', None, 1000.0, '00', '2001-01-01']

    Raises:
        MisfitError: for an integer outside 64 bits.
    """
    if text == "" or text in _NULL:
        return None
    truth = boolean_of(text)
    if truth is not None:
        return truth
    if text[0] not in "+-.0123456789":
        return text
    whole = integer_of(text)
    if whole is not None:
        if not -(2**63) <= whole < 2**64:
            raise MisfitError(codes.WIDE_INTEGER, "an integer that does not fit 64 bits")
        return whole
    if not _SUPERFLUOUS_ZERO.match(text):
        number = float_of(text)
        if number is not None:
            return None if number != number or number in (float("inf"), float("-inf")) else number
    return text


def value_of(scalar: LocatedScalar) -> Plain:
    """The value of a scalar where any value may stand.

    Raises:
        MisfitError: for an own tag, a standard tag that does not fit, an integer outside 64 bits.
    """
    tag, text = scalar.tag, scalar.text
    if tag is None:
        return plain_value(text) if scalar.is_plain else text
    if tag.startswith("!"):
        raise MisfitError(codes.TAG_REFUSED, "an own tag is refused here")
    kind = tag.removeprefix(_TAGS)
    if kind == "bool":
        truth = boolean_of(text)
        if truth is None:
            raise MisfitError(codes.TAG_MISFIT, "`!!bool` wants `true` or `false`")
        return truth
    if kind == "int":
        whole = integer_of(text)
        if whole is None:
            raise MisfitError(codes.TAG_MISFIT, "`!!int` wants an integer")
        if not -(2**63) <= whole < 2**64:
            raise MisfitError(codes.WIDE_INTEGER, "an integer that does not fit 64 bits")
        return whole
    if kind == "float":
        number = float_of(text)
        if number is None:
            raise MisfitError(codes.TAG_MISFIT, "`!!float` wants a number")
        return None if number != number or number in (float("inf"), float("-inf")) else number
    if kind == "null":
        if text not in _NULL:
            raise MisfitError(codes.TAG_MISFIT, "`!!null` wants `null`")
        return None
    return text


def json_of(node: Located) -> Json:
    """A free value as the platform reads it: the last of repeated keys counts, keys are texts.

    Raises:
        MisfitError: where `free_problems` tells a problem.
    """
    if isinstance(node, LocatedScalar):
        return value_of(node)
    if node.tag is not None and node.tag.startswith("!"):
        raise MisfitError(codes.TAG_REFUSED, "an own tag is refused here")
    if isinstance(node, LocatedList):
        return [json_of(item) for item in node.items]
    return {key.text: json_of(value) for key, value in node.last_of_each()}


def free_problems(node: Located, tell: Tell) -> None:
    """Tell every problem of a free value: refused and misfitting tags, wide integers, repeated and merge keys."""
    if isinstance(node, LocatedScalar):
        try:
            value_of(node)
        except MisfitError as misfit:
            tell(Finding(misfit.code, Severity.ERROR, misfit.message, node.span))
        return
    if node.tag is not None and node.tag.startswith("!"):
        tell(Finding(codes.TAG_REFUSED, Severity.ERROR, "an own tag is refused here", node.span))
    if isinstance(node, LocatedList):
        for item in node.items:
            free_problems(item, tell)
        return
    name_problems(node, tell)
    for _, value in node.entries:
        free_problems(value, tell)


def name_problems(node: LocatedMap, tell: Tell) -> None:
    """Tell repeated names, of which the last counts, and `<<`, which merges nothing."""
    seen: dict[str, LocatedScalar] = {}
    for key, _ in node.entries:
        if key.text in seen:
            line = seen[key.text].span.line
            tell(
                Finding(
                    codes.DUPLICATE_NAME,
                    Severity.WARNING,
                    f"`{shown(key.text)}` is given twice; the earlier entry at line {line} is lost",
                    key.span,
                    "keep one of them: nothing is merged, and the platform says nothing",
                )
            )
        if key.text == "<<":
            tell(
                Finding(
                    codes.MERGE_KEY,
                    Severity.WARNING,
                    "`<<` is an entry of that name here; nothing is merged",
                    key.span,
                    "merge keys are not supported: repeat the entries, or use templates",
                )
            )
        seen[key.text] = key
