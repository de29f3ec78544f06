"""JSON Schema of types without parts.

Source: middleware 5.5 (host projection in full).
"""

from __future__ import annotations

from typing import assert_never

from policyd.core.schema.json_schema_parts import JsonSchema, closed_object
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.restrictions import (
    Amount,
    BinaryRestriction,
    NumericRestriction,
    PathDirection,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.types import (
    CapabilityType,
    PermissionCardType,
    PlainKind,
    QuotaTokenType,
    SecretType,
    kind_of,
)

S64_PATTERN = "^(?:0|-[1-9][0-9]*|[1-9][0-9]*)$"
U64_PATTERN = "^(?:0|[1-9][0-9]*)$"
_MIME_PATTERN = "^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$"
_UUID: JsonSchema = {"type": "string", "format": "uuid"}
_DATE_TIME: JsonSchema = {"type": "string", "format": "date-time"}


def number_schema(kind: NumberKind) -> JsonSchema:
    """Numbers by the bounds of their width; declared bounds and units are not shown."""
    if kind.is_float:
        return {"type": "number"}
    if not kind.is_wide:
        return {"type": "integer", "minimum": kind.low, "maximum": kind.high}
    signed = kind is NumberKind.S64
    return {
        "type": "string",
        "format": "int64" if signed else "uint64",
        "pattern": S64_PATTERN if signed else U64_PATTERN,
        "x-golem-minimum": str(kind.low),
        "x-golem-maximum": str(kind.high),
    }


def narrowed_schema(kind: NumberKind, restriction: NumericRestriction) -> JsonSchema:
    """Numbers by the bounds of their width and the declared ones, as reflection shows them."""
    found = number_schema(kind)
    names = ("x-golem-minimum", "x-golem-maximum") if kind.is_wide else ("minimum", "maximum")
    for name, bound in zip(names, (restriction.low, restriction.high), strict=True):
        if bound is not None:
            found[name] = str(bound.number) if kind.is_wide else bound.number
    return found


def plain_schema(kind: PlainKind) -> JsonSchema:
    """Types without restrictions."""
    match kind:
        case PlainKind.BOOL:
            return {"type": "boolean"}
        case PlainKind.STRING:
            return {"type": "string"}
        case PlainKind.CHAR:
            return {"type": "string", "minLength": 1, "maxLength": 1}
        case PlainKind.DATETIME:
            return dict(_DATE_TIME)
        case PlainKind.DURATION:
            nanoseconds = closed_object({"nanoseconds": number_schema(NumberKind.S64)})
            return {**nanoseconds, "title": "Duration in nanoseconds"}
        case _:
            assert_never(kind)


def _listed(*lists: tuple[str, tuple[str, ...] | None]) -> JsonSchema:
    """A description of the lists that are there."""
    told = [f"{name}: {', '.join(names)}" for name, names in lists if names is not None]
    return {"description": "; ".join(told)} if told else {}


def text_schema(text: TextRestriction) -> JsonSchema:
    """A closed object of the text and its language."""
    bounds = {"minLength": text.min_length, "maxLength": text.max_length, "pattern": text.regex}
    inner: JsonSchema = {"type": "string", **{name: bound for name, bound in bounds.items() if bound is not None}}
    schema = closed_object({"text": inner, "language": {"type": "string"}}, ("text",))
    return {**schema, **_listed(("Allowed languages", text.languages))}


def _encoded_length(size: int) -> int:
    """Characters of base64url without padding."""
    return size // 3 * 4 + (0, 2, 3)[size % 3]


def binary_schema(binary: BinaryRestriction) -> JsonSchema:
    """A closed object of the bytes and their MIME type."""
    inner: JsonSchema = {"type": "string", "contentEncoding": "base64url"}
    if binary.min_bytes is not None:
        inner["minLength"] = _encoded_length(binary.min_bytes)
    if binary.max_bytes is not None:
        inner["maxLength"] = _encoded_length(binary.max_bytes)
    schema = closed_object({"bytes": inner, "mimeType": {"type": "string", "pattern": _MIME_PATTERN}}, ("bytes",))
    return {**schema, **_listed(("Allowed MIME types", binary.mime_types))}


def path_schema(path: PathSpec) -> JsonSchema:
    """A string; direction and kind stand in the title."""
    direction = "inout" if path.direction is PathDirection.IN_OUT else path.direction.value
    lists = _listed(("Allowed extensions", path.extensions), ("Allowed MIME types", path.mime_types))
    return {"type": "string", "format": "file-path", "title": f"{direction} {path.kind.value} path", **lists}


def url_schema(url: UrlRestriction) -> JsonSchema:
    """A string."""
    lists = _listed(("Allowed schemes", url.schemes), ("Allowed hosts", url.hosts))
    return {"type": "string", "format": "uri", "title": "URL", **lists}


def _amount(amount: Amount) -> str:
    return f"{amount.mantissa}e-{amount.scale} {amount.unit}"


def quantity_schema(spec: QuantitySpec) -> JsonSchema:
    """A closed object of mantissa, scale and unit."""
    members: dict[str, JsonSchema] = {
        "mantissa": number_schema(NumberKind.S64),
        "scale": {"type": "integer"},
        "unit": {"type": "string"},
    }
    schema: JsonSchema = {**closed_object(members), "title": f"Quantity ({spec.base_unit})"}
    bounds = [f"{name}: {_amount(amount)}" for name, amount in (("min", spec.low), ("max", spec.high)) if amount]
    return {**schema, "description": "; ".join(bounds)} if bounds else schema


def capability_schema(type_: CapabilityType, *, external: bool, incoming: bool) -> JsonSchema:
    """What a capability is to the outside: nothing that can be supplied, or a fixed text; else its trusted form."""
    kind = kind_of(type_)
    if external and incoming:
        return {"not": {}, "description": f"Host-managed {kind} capabilities cannot be supplied externally"}
    if external:
        text = f"Host-managed {kind} capability values are redacted"
        return {"type": "string", "const": f"<redacted: {kind}>", "description": text}
    return _trusted(type_)


def _digits_or_integer(*, signed: bool) -> JsonSchema:
    pattern = "^-?[0-9]+$" if signed else "^[0-9]+$"
    integer: JsonSchema = {"type": "integer"} if signed else {"type": "integer", "minimum": 0}
    return {"oneOf": [{"type": "string", "pattern": pattern}, integer]}


def _trusted(type_: CapabilityType) -> JsonSchema:
    match type_:
        case SecretType():
            members: dict[str, JsonSchema] = {
                "secretId": dict(_UUID),
                "configKey": {"type": "array", "items": {"type": "string"}},
                "version": {"type": "integer", "minimum": 0},
                "resolvedAt": dict(_DATE_TIME),
                "category": {"type": "string"},
            }
            return closed_object(members, ("secretId", "version", "resolvedAt"))
        case QuotaTokenType():
            return closed_object(
                {
                    "environmentId": dict(_UUID),
                    "resourceName": {"type": "string"},
                    "expectedUse": _digits_or_integer(signed=False),
                    "lastCredit": _digits_or_integer(signed=True),
                    "lastCreditAt": dict(_DATE_TIME),
                }
            )
        case PermissionCardType():
            parents: JsonSchema = {"type": "array", "items": dict(_UUID)}
            flag: JsonSchema = {"type": "boolean"}
            card = {"cardId": dict(_UUID), "parentIds": parents, "expiresAt": dict(_DATE_TIME), "polymorphic": flag}
            return closed_object(card, ("cardId", "polymorphic"))
        case _:
            assert_never(type_)
