"""The JSON form of schema values, both ways; live streams have none and must be handled by the caller.

Source: middleware 1.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, assert_never

from policyd.core.schema.instants import Instant, parse_instant, shortest_text
from policyd.core.schema.numbers import NumberKind, to_f32
from policyd.core.schema.reading import (
    below,
    defaulted,
    elements,
    fail,
    integer,
    list_of,
    member,
    members,
    optional,
    surfaced,
    tagged,
    text,
    truth,
)
from policyd.core.schema.restriction_json import present
from policyd.core.schema.uuids import parse_uuid
from policyd.core.schema.values import (
    BinaryValue,
    BoolValue,
    CharValue,
    DatetimeValue,
    DurationValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    LeafValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    PathValue,
    PermissionCardValue,
    QuantityValue,
    QuotaTokenValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    SecretValue,
    StreamValue,
    StringValue,
    TextValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)
from policyd.findings import InputError

Json: TypeAlias = dict[str, object]
_Reader: TypeAlias = Callable[[object, int, bool], SchemaValue]

_U32 = integer(0, 2**32 - 1)
_U64 = integer(0, 2**64 - 1)
_S32 = integer(-(2**31), 2**31 - 1)
_S64 = integer(-(2**63), 2**63 - 1)
_BYTE = integer(0, 255)


def read_value(json: object, *, live_streams: bool = False) -> SchemaValue:
    """The value that a JSON value stands for.

    Args:
        json: a kind-tagged object.
        live_streams: whether `{"kind": "stream", "value": n}` stands for the live stream with number `n`.

    Raises:
        InputError: SCHEMA002, when members are missing or of the wrong kind, or it is nested too deeply.
    """
    return surfaced("SCHEMA002", "value", lambda: value_at(json, 0, live_streams))


def value_at(json: object, depth: int = 0, live_streams: bool = False) -> SchemaValue:
    """Like `read_value`, inside of a reading that is under way."""
    kind, content = tagged(json)
    reader = _READERS.get(kind)
    if reader is None:
        fail(f"`{kind}` is no kind of value")
    try:
        return reader(content, below(depth), live_streams)
    except RecursionError:
        fail("nested too deeply")


def _number(kind: NumberKind) -> _Reader:
    if not kind.is_float:
        within = integer(kind.low, kind.high)
        return lambda json, depth, live: NumberValue(kind, within(json))

    def read(json: object, depth: int, live: bool) -> SchemaValue:
        if not isinstance(json, (int, float)) or isinstance(json, bool):
            fail("a number is needed")
        try:
            value = float(json)
        except OverflowError:
            fail("the number is too large for a double")
        return NumberValue(kind, to_f32(value) if kind is NumberKind.F32 else value)

    return read


def _char(json: object, depth: int, live: bool) -> SchemaValue:
    found = text(json)
    return CharValue(found) if len(found) == 1 else fail("one character is needed")


def _string(json: object, depth: int, live: bool) -> SchemaValue:
    return StringValue(text(json))


def _bool(json: object, depth: int, live: bool) -> SchemaValue:
    return BoolValue(truth(json))


def _parts(json: object, name: str, depth: int, live: bool) -> tuple[SchemaValue, ...]:
    return member(members(json), name, list_of(lambda part: value_at(part, depth, live)))


def _record(json: object, depth: int, live: bool) -> SchemaValue:
    return RecordValue(_parts(json, "fields", depth, live))


def _tuple(json: object, depth: int, live: bool) -> SchemaValue:
    return TupleValue(_parts(json, "elements", depth, live))


def _list(json: object, depth: int, live: bool) -> SchemaValue:
    return ListValue(_parts(json, "elements", depth, live))


def _fixed_list(json: object, depth: int, live: bool) -> SchemaValue:
    return FixedListValue(_parts(json, "elements", depth, live))


def _map(json: object, depth: int, live: bool) -> SchemaValue:
    def entry(pair: object) -> tuple[SchemaValue, SchemaValue]:
        both = elements(pair, lambda part: value_at(part, depth, live))
        return (both[0], both[1]) if len(both) == 2 else fail("a pair of key and value is needed")

    return MapValue(member(members(json), "entries", list_of(entry)))


def _variant(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return VariantValue(
        member(found, "case", _U32), optional(found, "payload", lambda part: value_at(part, depth, live))
    )


def _enum(json: object, depth: int, live: bool) -> SchemaValue:
    return EnumValue(member(members(json), "case", _U32))


def _flags(json: object, depth: int, live: bool) -> SchemaValue:
    return FlagsValue(member(members(json), "bits", list_of(truth)))


def _option(json: object, depth: int, live: bool) -> SchemaValue:
    return OptionValue(optional(members(json), "inner", lambda part: value_at(part, depth, live)))


def _result(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    tag = member(found, "tag", text)
    if tag not in ("ok", "err"):
        fail("`ok` or `err` is needed")
    return ResultValue(tag == "ok", optional(found, "value", lambda part: value_at(part, depth, live)))


def _text(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return TextValue(member(found, "text", text), optional(found, "language", text))


def _binary(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return BinaryValue(bytes(member(found, "bytes", list_of(_BYTE))), optional(found, "mimeType", text))


def _path(json: object, depth: int, live: bool) -> SchemaValue:
    return PathValue(member(members(json), "path", text))


def _url(json: object, depth: int, live: bool) -> SchemaValue:
    return UrlValue(member(members(json), "url", text))


def _instant(json: object) -> Instant:
    return parse_instant(text(json)) or fail("a time like `2026-01-01T00:00:00Z` is needed")


def _datetime(json: object, depth: int, live: bool) -> SchemaValue:
    return DatetimeValue(member(members(json), "value", _instant))


def _duration(json: object, depth: int, live: bool) -> SchemaValue:
    return DurationValue(member(members(json), "nanoseconds", _S64))


def _quantity(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return QuantityValue(member(found, "mantissa", _S64), member(found, "scale", _S32), member(found, "unit", text))


def _union(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return UnionValue(member(found, "tag", text), member(found, "body", lambda part: value_at(part, depth, live)))


def uuid(json: object) -> str:
    """A UUID, in its hyphenated form."""
    return parse_uuid(text(json)) or fail("a UUID is needed")


def _secret(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return SecretValue(
        member(found, "secretId", uuid),
        member(found, "version", _U64),
        member(found, "resolvedAt", _instant),
        optional(found, "configKey", list_of(text)),
        optional(found, "category", text),
    )


def _quota_token(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return QuotaTokenValue(
        member(found, "environmentId", lambda part: member(members(part), "uuid", uuid)),
        member(found, "resourceName", text),
        member(found, "expectedUse", _U64),
        member(found, "lastCredit", _S64),
        member(found, "lastCreditAt", _instant),
    )


def _permission_card(json: object, depth: int, live: bool) -> SchemaValue:
    found = members(json)
    return PermissionCardValue(
        member(found, "cardId", uuid),
        member(found, "polymorphic", truth),
        defaulted(found, "parentIds", list_of(uuid), ()),
        optional(found, "expiresAt", _instant),
    )


def _stream(json: object, depth: int, live: bool) -> SchemaValue:
    return StreamValue(_U64(json)) if live else fail("a live stream has no JSON form")


_READERS: dict[str, _Reader] = {
    **{kind.value: _number(kind) for kind in NumberKind},
    "bool": _bool,
    "char": _char,
    "string": _string,
    "record": _record,
    "variant": _variant,
    "enum": _enum,
    "flags": _flags,
    "tuple": _tuple,
    "list": _list,
    "fixed-list": _fixed_list,
    "map": _map,
    "option": _option,
    "result": _result,
    "text": _text,
    "binary": _binary,
    "path": _path,
    "url": _url,
    "datetime": _datetime,
    "duration": _duration,
    "quantity": _quantity,
    "union": _union,
    "secret": _secret,
    "quota-token": _quota_token,
    "permission-card": _permission_card,
    "stream": _stream,
}


def value_json(value: SchemaValue, *, live_streams: bool = False) -> Json:
    """The JSON form of a value.

    Raises:
        InputError: SCHEMA002, for a live stream unless `live_streams`, for an infinite or undefined float, and for a
            value nested too deeply.

    >>> value_json(NumberValue(NumberKind.U8, 7))
    {'kind': 'u8', 'value': 7}
    """
    try:
        return _tagged(value, live_streams)
    except RecursionError:
        raise InputError.of("SCHEMA002", "nested too deeply to be written") from None


def _tagged(value: SchemaValue, live: bool) -> Json:
    """Few calls per level, because linked lists nest deeply."""
    content: object
    match value:
        case RecordValue(parts):
            kind, content = "record", {"fields": [_tagged(part, live) for part in parts]}
        case TupleValue(parts):
            kind, content = "tuple", {"elements": [_tagged(part, live) for part in parts]}
        case ListValue(parts):
            kind, content = "list", {"elements": [_tagged(part, live) for part in parts]}
        case FixedListValue(parts):
            kind, content = "fixed-list", {"elements": [_tagged(part, live) for part in parts]}
        case MapValue(entries):
            kind, content = "map", {"entries": [[_tagged(key, live), _tagged(item, live)] for key, item in entries]}
        case VariantValue(case, payload):
            kind, content = "variant", present(case=case, payload=None if payload is None else _tagged(payload, live))
        case OptionValue(some):
            kind, content = "option", {"inner": None if some is None else _tagged(some, live)}
        case ResultValue(is_ok, some):
            inside = None if some is None else _tagged(some, live)
            kind, content = "result", {"tag": "ok" if is_ok else "err", "value": inside}
        case UnionValue(tag, body):
            kind, content = "union", {"tag": tag, "body": _tagged(body, live)}
        case _:
            kind, content = _leaf(value, live)
    return {"kind": kind, "value": content}


def _leaf(value: LeafValue, live: bool) -> tuple[str, object]:
    match value:
        case BoolValue(raw):
            return "bool", raw
        case CharValue(raw_text):
            return "char", raw_text
        case StringValue(raw_text):
            return "string", raw_text
        case NumberValue(kind, number):
            if isinstance(number, float) and not math.isfinite(number):
                raise InputError.of("SCHEMA002", "a float that is not finite has no JSON form")
            return kind.value, number
        case EnumValue(case):
            return "enum", {"case": case}
        case FlagsValue(bits):
            return "flags", {"bits": list(bits)}
        case TextValue(raw_text, language):
            return "text", present(text=raw_text, language=language)
        case BinaryValue(data, mime_type):
            return "binary", present(bytes=list(data), mimeType=mime_type)
        case PathValue(raw_text):
            return "path", {"path": raw_text}
        case UrlValue(raw_text):
            return "url", {"url": raw_text}
        case DatetimeValue(instant):
            return "datetime", {"value": shortest_text(instant)}
        case DurationValue(nanoseconds):
            return "duration", {"nanoseconds": nanoseconds}
        case QuantityValue(mantissa, scale, unit):
            return "quantity", {"mantissa": mantissa, "scale": scale, "unit": unit}
        case SecretValue() | QuotaTokenValue() | PermissionCardValue():
            return _capability(value)
        case StreamValue(number):
            if not live:
                raise InputError.of("SCHEMA002", "a live stream has no JSON form")
            return "stream", number
        case _:
            assert_never(value)


def _capability(value: SecretValue | QuotaTokenValue | PermissionCardValue) -> tuple[str, object]:
    match value:
        case SecretValue(secret_id, version, resolved_at, config_key, category):
            return "secret", present(
                secretId=secret_id,
                version=version,
                resolvedAt=shortest_text(resolved_at),
                configKey=config_key,
                category=category,
            )
        case QuotaTokenValue(environment, resource, expected_use, last_credit, last_credit_at):
            return "quota-token", {
                "environmentId": {"uuid": environment},
                "resourceName": resource,
                "expectedUse": expected_use,
                "lastCredit": last_credit,
                "lastCreditAt": shortest_text(last_credit_at),
            }
        case PermissionCardValue(card_id, polymorphic, parents, expires_at):
            return "permission-card", present(
                cardId=card_id,
                polymorphic=polymorphic,
                parentIds=parents or None,
                expiresAt=None if expires_at is None else shortest_text(expires_at),
            )
        case _:
            assert_never(value)
