"""Canonical JSON of leaf types: numbers, text, binary data, times, quantities.

Source: middleware 5.4.
"""

from __future__ import annotations

import base64
import binascii
import math
import re

from policyd.core.schema.durations import iso_text, parse_iso
from policyd.core.schema.instants import Instant, canonical_text, parse_instant
from policyd.core.schema.json_faults import JsonFaultError, JsonFaultKind, JsonForm
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.numbers import NumberKind, to_f32
from policyd.core.schema.values import BinaryValue, DurationValue, NumberValue, QuantityValue, TextValue

_DECIMAL = re.compile(r"0|-?[1-9][0-9]*")
_MIME = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
_LONGEST_DECIMAL = 20
MAX_F32 = 3.4028234663852886e38


def mismatch(reason: str) -> JsonFaultError:
    """The JSON has another shape than the type."""
    return JsonFaultError(JsonFaultKind.VALUE_MISMATCH, reason)


def malformed(reason: str) -> JsonFaultError:
    """The JSON has the shape of the type, but not its canonical form."""
    return JsonFaultError(JsonFaultKind.CANONICAL, reason)


def decimal_text(json: JsonValue, kind: NumberKind) -> int | None:
    """The integer of a canonical decimal string within the range of `kind`, or None."""
    if not isinstance(json, str) or len(json) > _LONGEST_DECIMAL or _DECIMAL.fullmatch(json) is None:
        return None
    value = int(json)
    return value if kind.holds(value) else None


def number_of(json: JsonValue, kind: NumberKind, form: JsonForm) -> NumberValue:
    """The number that the JSON stands for."""
    if kind.is_float:
        return NumberValue(kind, _float_of(json, kind))
    if kind.is_wide and form.wide_ints_as_text:
        value = decimal_text(json, kind)
        if value is None:
            raise mismatch(f"a `{kind.value}` is a decimal string in range")
        return NumberValue(kind, value)
    if not isinstance(json, int) or isinstance(json, bool) or not kind.holds(json):
        raise mismatch(f"a `{kind.value}` is a number written as an integer, in range")
    return NumberValue(kind, json)


def _float_of(json: JsonValue, kind: NumberKind) -> float:
    if not isinstance(json, (int, float)) or isinstance(json, bool):
        raise mismatch(f"a `{kind.value}` is a number")
    value = float(json)
    if kind is NumberKind.F64:
        return value
    if abs(value) > MAX_F32:
        raise mismatch("the number is too large for an `f32`")
    return to_f32(value)


def number_json(value: NumberValue, form: JsonForm) -> JsonValue:
    """The canonical JSON of a number."""
    if isinstance(value.value, float) and not math.isfinite(value.value):
        raise mismatch("a float that is not finite has no JSON form")
    return str(value.value) if value.kind.is_wide and form.wide_ints_as_text else value.value


def closed(json: JsonValue, needed: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, JsonValue]:
    """The members of an object that has all the needed ones and no others than the optional ones."""
    if not isinstance(json, dict):
        raise malformed("an object is needed")
    for name in json:
        if name not in needed and name not in optional:
            raise malformed(f"`{name}` is no member here")
    for name in needed:
        if name not in json:
            raise malformed(f"the member `{name}` is missing")
    return json


def string_of(json: JsonValue) -> str:
    """A string, else not canonical."""
    if not isinstance(json, str):
        raise malformed("text is needed")
    return json


def filled_string(json: JsonValue) -> str:
    """A string that is not empty."""
    text = string_of(json)
    if not text:
        raise malformed("the text must not be empty")
    return text


def text_of(json: JsonValue) -> TextValue:
    """`{"text": …, "language"?: …}`."""
    found = closed(json, ("text",), ("language",))
    return TextValue(string_of(found["text"]), string_of(found["language"]) if "language" in found else None)


def binary_of(json: JsonValue) -> BinaryValue:
    """`{"bytes": base64url, "mimeType"?: …}`."""
    found = closed(json, ("bytes",), ("mimeType",))
    mime_type = mime_of(string_of(found["mimeType"])) if "mimeType" in found else None
    return BinaryValue(_bytes_of(string_of(found["bytes"])), mime_type)


def mime_of(text: str) -> str:
    """A MIME type without parameters."""
    if _MIME.fullmatch(text) is None:
        raise malformed("a MIME type is `type/subtype`")
    return text


def _bytes_of(text: str) -> bytes:
    if _BASE64URL.fullmatch(text) is None or len(text) % 4 == 1:
        raise malformed("bytes are base64url without padding")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise malformed("bytes are base64url without padding") from None
    if base64url(data) != text:
        raise malformed("the last character has stray bits")
    return data


def base64url(data: bytes) -> str:
    """Base64url without padding.

    >>> base64url(bytes([255, 239]))
    '_-8'
    """
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def instant_of(json: JsonValue) -> Instant:
    """An RFC 3339 time."""
    found = parse_instant(string_of(json))
    if found is None:
        raise malformed("a time is written like `2026-01-01T00:00:00Z`")
    return found


def instant_json(instant: Instant) -> str:
    """The canonical text of a time, for UTC years 0 to 9999."""
    if not instant.is_writable:
        raise malformed("the year is outside 0 to 9999")
    return canonical_text(instant)


def duration_of(json: JsonValue, form: JsonForm) -> DurationValue:
    """`{"nanoseconds": "…"}`, or ISO 8601 text in the older form."""
    if form.durations_as_objects:
        nanoseconds = decimal_text(closed(json, ("nanoseconds",))["nanoseconds"], NumberKind.S64)
    else:
        nanoseconds = parse_iso(string_of(json))
    if nanoseconds is None:
        raise malformed("a duration is a decimal string of nanoseconds")
    return DurationValue(nanoseconds)


def duration_json(value: DurationValue, form: JsonForm) -> JsonValue:
    """The canonical JSON of a duration."""
    if form.durations_as_objects:
        return {"nanoseconds": str(value.nanoseconds)}
    return iso_text(value.nanoseconds)


def quantity_of(json: JsonValue) -> QuantityValue:
    """`{"mantissa": "…", "scale": …, "unit": …}`."""
    found = closed(json, ("mantissa", "scale", "unit"))
    mantissa = decimal_text(found["mantissa"], NumberKind.S64)
    scale = found["scale"]
    if mantissa is None or not isinstance(scale, int) or isinstance(scale, bool) or not NumberKind.S32.holds(scale):
        raise malformed("a quantity has a decimal string as mantissa and an integer as scale")
    return QuantityValue(mantissa, scale, string_of(found["unit"]))
