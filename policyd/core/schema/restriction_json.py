"""The JSON form of restrictions and specs.

Source: middleware 1.4.
"""

from __future__ import annotations

from policyd.core.schema.numbers import Family
from policyd.core.schema.reading import (
    defaulted,
    fail,
    integer,
    list_of,
    member,
    members,
    optional,
    tagged,
    text,
)
from policyd.core.schema.restrictions import (
    Amount,
    BinaryRestriction,
    Bound,
    NumericRestriction,
    PathDirection,
    PathKind,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)

_U32 = integer(0, 2**32 - 1)
_S32 = integer(-(2**31), 2**31 - 1)
_S64 = integer(-(2**63), 2**63 - 1)
_BOUNDS = {Family.SIGNED: _S64, Family.UNSIGNED: integer(0, 2**64 - 1), Family.FLOAT: integer(0, 2**64 - 1)}
_NEGATIVE_ZERO = 1 << 63


def read_numeric(json: object) -> NumericRestriction | None:
    """Bounds and unit; None when nothing is left of them (an empty unit is none)."""
    found = members(json)
    restriction = NumericRestriction(
        optional(found, "min", _bound), optional(found, "max", _bound), optional(found, "unit", text) or None
    )
    return None if restriction == NumericRestriction() else restriction


def _bound(json: object) -> Bound:
    kind, content = tagged(json)
    try:
        family = Family(kind)
    except ValueError:
        fail(f"`{kind}` is no kind of bound")
    raw = _BOUNDS[family](content)
    return Bound(family, 0 if family is Family.FLOAT and raw == _NEGATIVE_ZERO else raw)


def read_text(json: object) -> TextRestriction:
    """What a text may be."""
    found = members(json)
    return TextRestriction(
        optional(found, "languages", list_of(text)),
        optional(found, "minLength", _U32),
        optional(found, "maxLength", _U32),
        optional(found, "regex", text),
    )


def read_binary(json: object) -> BinaryRestriction:
    """What binary data may be."""
    found = members(json)
    return BinaryRestriction(
        optional(found, "mimeTypes", list_of(text)),
        optional(found, "minBytes", _U32),
        optional(found, "maxBytes", _U32),
    )


def read_path(json: object) -> PathSpec:
    """What a path may be."""
    found = members(json)

    def direction(value: object) -> PathDirection:
        try:
            return PathDirection(text(value))
        except ValueError:
            return fail("`input`, `output` or `in-out` is needed")

    def kind(value: object) -> PathKind:
        try:
            return PathKind(text(value))
        except ValueError:
            return fail("`file`, `directory` or `any` is needed")

    return PathSpec(
        member(found, "direction", direction),
        member(found, "kind", kind),
        optional(found, "allowedMimeTypes", list_of(text)),
        optional(found, "allowedExtensions", list_of(text)),
    )


def read_url(json: object) -> UrlRestriction:
    """What a URL may be."""
    found = members(json)
    return UrlRestriction(
        optional(found, "allowedSchemes", list_of(text)), optional(found, "allowedHosts", list_of(text))
    )


def read_quantity(json: object) -> QuantitySpec:
    """Unit, suffixes and bounds of a quantity."""
    found = members(json)
    return QuantitySpec(
        member(found, "baseUnit", text),
        defaulted(found, "allowedSuffixes", list_of(text), ()),
        optional(found, "min", read_amount),
        optional(found, "max", read_amount),
    )


def read_amount(json: object) -> Amount:
    """A decimal with its unit."""
    found = members(json)
    return Amount(member(found, "mantissa", _S64), member(found, "scale", _S32), member(found, "unit", text))


def present(**parts: object) -> dict[str, object]:
    """The members that are there: neither None nor, for tuples, changed other than into lists."""
    return {name: list(part) if isinstance(part, tuple) else part for name, part in parts.items() if part is not None}


def numeric_json(restriction: NumericRestriction) -> dict[str, object]:
    """The JSON form of bounds and unit."""
    return present(min=_bound_json(restriction.low), max=_bound_json(restriction.high), unit=restriction.unit)


def _bound_json(bound: Bound | None) -> dict[str, object] | None:
    return None if bound is None else {"kind": bound.family.value, "value": bound.raw}


def text_json(restriction: TextRestriction) -> dict[str, object]:
    """The JSON form of a text restriction."""
    return present(
        languages=restriction.languages,
        minLength=restriction.min_length,
        maxLength=restriction.max_length,
        regex=restriction.regex,
    )


def binary_json(restriction: BinaryRestriction) -> dict[str, object]:
    """The JSON form of a binary restriction."""
    return present(mimeTypes=restriction.mime_types, minBytes=restriction.min_bytes, maxBytes=restriction.max_bytes)


def path_json(spec: PathSpec) -> dict[str, object]:
    """The JSON form of a path spec."""
    return present(
        direction=spec.direction.value,
        kind=spec.kind.value,
        allowedMimeTypes=spec.mime_types,
        allowedExtensions=spec.extensions,
    )


def url_json(restriction: UrlRestriction) -> dict[str, object]:
    """The JSON form of a URL restriction."""
    return present(allowedSchemes=restriction.schemes, allowedHosts=restriction.hosts)


def quantity_json(spec: QuantitySpec) -> dict[str, object]:
    """The JSON form of a quantity spec; no suffixes are left out."""
    return present(
        baseUnit=spec.base_unit,
        allowedSuffixes=spec.suffixes or None,
        min=_amount_json(spec.low),
        max=_amount_json(spec.high),
    )


def _amount_json(amount: Amount | None) -> dict[str, object] | None:
    return None if amount is None else {"mantissa": amount.mantissa, "scale": amount.scale, "unit": amount.unit}
