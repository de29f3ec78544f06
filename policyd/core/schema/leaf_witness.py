"""Values of one type without parts that another one refuses, and the reasons why there may be none.

Source: middleware 3.2 (rows of the leaf types), 8.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import Enum

from policyd.core.schema.decimals import compare
from policyd.core.schema.examples import EPOCH, MAX_EXAMPLE_NODES, NO_ID, binary_example, text_example, urls_of
from policyd.core.schema.leaf_values import path_violations, quantity_violations, text_violations, url_violations
from policyd.core.schema.numbers import NumberKind, to_f32
from policyd.core.schema.restrictions import (
    BinaryRestriction,
    Bound,
    NumericRestriction,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.text_wish import MAX_WISHED, NoText, Texts, TextWish
from policyd.core.schema.types import (
    BinaryType,
    NumberType,
    PathType,
    PermissionCardType,
    QuantityType,
    QuotaTokenType,
    SchemaType,
    TextType,
    UrlType,
)
from policyd.core.schema.values import (
    BinaryValue,
    NumberValue,
    PathValue,
    PermissionCardValue,
    QuantityValue,
    QuotaTokenValue,
    SchemaValue,
    TextValue,
    UrlValue,
)


class NoWitness(Enum):
    """Why no value shows that a projection does not exist; the value is the reason in words."""

    UNIT = "units of numbers are compared by name, and values carry none"
    NO_WIDENING = "numbers of different width or sign are different kinds, even where every value would fit"
    IMPLIED_BOUND = "a bound that the width implies does not count, so the types differ although no value does"
    NO_LIFT = "a value is never lifted into an option"
    REGEX_TEXT = "regular expressions are compared as text"
    LETTER_CASE = "the lists are compared with regard to case, the values without"
    UNIT_LIST = "lists of units are compared as written"
    COMPARISON_LIMIT = "the bounds cannot be compared in 128 bits"
    PATH_SPEC = "direction, kind and MIME types of paths are compared, but not checked on values"
    STREAM_ITEM = "items of streams are not looked at"
    FUTURE = "futures never project, and have no values here"
    SECRET_CATEGORY = "the category of a secret is compared, but a type without one takes every value"
    SECRET_PAYLOAD = "the payload of a secret is not part of its value"
    SECRET_REF = "references below a secret are compared by their id"
    QUOTA_RESOURCE = "the resource of a quota is compared, but a type without one takes every value"
    MAP_KEY = "keys of maps must be the same type, even where every key would fit"
    NOMINAL = "order and names are compared, which values do not show"
    TOO_LARGE = "the types are too large or too deep to be compared"
    UNINHABITED = "the source type has no value at this place"
    NOT_FOUND = "no value was found that shows it"


def refused_leaf(source: SchemaType, target: SchemaType, texts: Texts) -> SchemaValue | NoWitness | None:
    """A value of `source` that `target` refuses, why there is none, or None for other kinds of types.

    Both are types without parts of which the first does not fit the second.
    """
    match source, target:
        case NumberType(kind, own), NumberType(other, wanted):
            return refused_number(kind, own, other, wanted)
        case TextType(own), TextType(wanted):
            return refused_text(own, wanted, texts)
        case BinaryType(own), BinaryType(wanted):
            return _refused_binary(own, wanted)
        case PathType(own), PathType(wanted):
            return _refused_path(own, wanted)
        case UrlType(own), UrlType(wanted):
            return _refused_url(own, wanted, texts)
        case QuantityType(own), QuantityType(wanted):
            return _refused_quantity(own, wanted)
        case QuotaTokenType(own), QuotaTokenType(wanted):
            if wanted is None:
                return NoWitness.QUOTA_RESOURCE
            return QuotaTokenValue(NO_ID, own if own is not None else f"{wanted}-other", 0, 0, EPOCH)
        case PermissionCardType(own), PermissionCardType():
            return PermissionCardValue(NO_ID, own)
        case _:
            return None


def refused_number(
    kind: NumberKind, own: NumericRestriction | None, other: NumberKind, wanted: NumericRestriction | None
) -> SchemaValue | NoWitness:
    """The number nearest to zero that the target refuses."""
    low, high = bounds_of(kind, own)
    other_low, other_high = bounds_of(other, wanted)
    found: list[int | float] = []
    if kind.is_float:
        found += [x for x in _beyond(other_low, other_high, kind) if low <= x <= high]
        if not other.is_float and low <= 0.5 <= high:
            found.append(0.5)
    else:
        low_int, high_int = math.ceil(low), math.floor(high)
        for edge, step in ((other_high, 1), (other_low, -1)):
            if not math.isinf(edge):
                near = (math.floor(edge) if step > 0 else math.ceil(edge)) + step
                # what is beyond the edge begins here, or where the source begins
                near = max(near, low_int) if step > 0 else min(near, high_int)
                if low_int <= near <= high_int:
                    found.append(near)
    if found:
        # a short number is easier to read than the next float
        return NumberValue(kind, min(found, key=lambda number: (len(repr(number)), abs(number))))
    if kind is not other:
        return NoWitness.NO_WIDENING
    units = (own.unit if own else None), (wanted.unit if wanted else None)
    return NoWitness.UNIT if units[0] != units[1] else NoWitness.IMPLIED_BOUND


def bounds_of(kind: NumberKind, restriction: NumericRestriction | None) -> tuple[int | float, int | float]:
    """The least and the greatest value: of the width, narrowed by the bounds."""
    low: int | float = -_MAX_FLOAT[kind] if kind.is_float else kind.low
    high: int | float = _MAX_FLOAT[kind] if kind.is_float else kind.high

    def number(bound: Bound | None, default: int | float) -> int | float:
        return default if bound is None else bound.number

    if restriction is None:
        return low, high
    return max(low, number(restriction.low, low)), min(high, number(restriction.high, high))


_MAX_FLOAT = {
    kind: to_f32(3.4028234663852886e38) if kind is NumberKind.F32 else math.nextafter(math.inf, 0.0)
    for kind in (NumberKind.F32, NumberKind.F64)
}


def _beyond(low: int | float, high: int | float, kind: NumberKind) -> Iterator[float]:
    """Numbers just outside of a range: whole ones where that is possible."""
    for edge, away in ((float(high), math.inf), (float(low), -math.inf)):
        step = math.copysign(1.0, away)
        for near in (math.floor(edge) + 1.0 if step > 0 else math.ceil(edge) - 1.0, _next(edge, away, kind)):
            rounded = to_f32(near) if kind is NumberKind.F32 else near
            if not math.isinf(rounded) and (rounded > edge if step > 0 else rounded < edge):
                yield rounded


def _next(value: float, away: float, kind: NumberKind) -> float:
    """The next float of the kind."""
    if kind is NumberKind.F64:
        return math.nextafter(value, away)
    near = math.nextafter(value, away)
    rounded = to_f32(near)
    for _ in range(2):
        if (rounded > value) == (away > 0) and rounded != value:
            return rounded
        near = near + math.copysign(max(abs(near) * 2.0**-24, 2.0**-150), away)
        rounded = to_f32(near)
    return rounded


def refused_text(own: TextRestriction, wanted: TextRestriction, texts: Texts) -> SchemaValue | NoWitness:
    """A shortest text that breaks a length, the language list or the pattern of the target."""
    matches = () if own.regex is None else (own.regex,)
    low, high = own.min_length or 0, own.max_length
    unknown = False
    wishes: list[TextWish] = []
    if wanted.min_length:
        top = wanted.min_length - 1
        wishes.append(TextWish(low, top if high is None else min(top, high), matches))
    if wanted.regex is not None and wanted.regex != own.regex:
        wishes.append(TextWish(low, high, matches, (wanted.regex,)))
    spoken = _outside(own.languages, wanted.languages, ("en", "x-other"))
    example = text_example(own, texts) if spoken is not None else None
    if isinstance(example, TextValue) and not wishes:
        return TextValue(example.text, spoken)
    if wanted.max_length is not None and wanted.max_length < MAX_WISHED:
        wishes.append(TextWish(max(low, wanted.max_length + 1), high, matches))
    for wish in wishes:
        found = texts.find(wish)
        if not isinstance(found, NoText):
            value = TextValue(found)
            if not any(text_violations(own, value, texts.engines)):
                return value
        unknown = unknown or found is NoText.UNKNOWN
    if isinstance(example, TextValue):
        return TextValue(example.text, spoken)
    if wanted.regex is not None and wanted.regex != own.regex:
        return NoWitness.REGEX_TEXT
    if unknown or (spoken is not None and example is None):
        return NoWitness.NOT_FOUND
    return NoWitness.IMPLIED_BOUND


def _outside(own: tuple[str, ...] | None, wanted: tuple[str, ...] | None, invented: tuple[str, ...]) -> str | None:
    """A name that the first list admits and the second does not; None when there is none."""
    if wanted is None:
        return None
    if own is not None:
        names = frozenset(wanted)
        return next((name for name in own if name not in names), None)
    fresh = invented[-1] + "-" * sum(name.startswith(invented[-1]) for name in wanted)
    return next((name for name in (*invented, fresh) if name not in wanted), None)


def _refused_binary(own: BinaryRestriction, wanted: BinaryRestriction) -> SchemaValue | NoWitness:
    low, high = own.min_bytes or 0, own.max_bytes
    if wanted.min_bytes and low < wanted.min_bytes and low <= MAX_EXAMPLE_NODES:
        return BinaryValue(bytes(low))
    kind = _outside(own.mime_types, wanted.mime_types, ("application/octet-stream", "application/x-other"))
    example = binary_example(own)
    if kind is not None and isinstance(example, BinaryValue):
        return BinaryValue(example.data, kind)
    if wanted.max_bytes is not None:
        size = max(low, wanted.max_bytes + 1)
        if (high is None or size <= high) and size <= MAX_WISHED:
            return BinaryValue(bytes(size))
    if wanted.max_bytes is not None and (high is None or high > wanted.max_bytes):
        return NoWitness.NOT_FOUND
    return NoWitness.IMPLIED_BOUND if kind is None else NoWitness.NOT_FOUND


def _refused_path(own: PathSpec, wanted: PathSpec) -> SchemaValue | NoWitness:
    for extension in (*(own.extensions or ()), "bin", "other", "a"):
        path = f"a.{extension}"
        if not any(path_violations(own, path)) and any(path_violations(wanted, path)):
            return PathValue(path)
    same = own.direction is wanted.direction and own.kind is wanted.kind and own.mime_types == wanted.mime_types
    return NoWitness.IMPLIED_BOUND if same else NoWitness.PATH_SPEC


def _refused_url(own: UrlRestriction, wanted: UrlRestriction, texts: Texts) -> SchemaValue | NoWitness:
    wider = [
        UrlRestriction(own.schemes if own.schemes is not None else ("https", "http", "ftp", "x-other"), own.hosts),
        UrlRestriction(own.schemes, own.hosts if own.hosts is not None else ("example.com", "other.example")),
    ]
    for restriction in (own, *wider):
        for value in urls_of(restriction, texts):
            assert isinstance(value, UrlValue)
            if not any(url_violations(own, value.url, texts.engines)) and any(
                url_violations(wanted, value.url, texts.engines)
            ):
                return value
    if next(urls_of(own, texts), None) is None:
        return NoWitness.UNINHABITED if () in (own.schemes, own.hosts) else NoWitness.NOT_FOUND
    folded = _folded(own.schemes, wanted.schemes) and _folded(own.hosts, wanted.hosts)
    return NoWitness.LETTER_CASE if folded else NoWitness.NOT_FOUND


def _folded(own: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> bool:
    """Whether the first list is within the second when case does not matter."""
    if wanted is None:
        return True
    return own is not None and {name.lower() for name in own} <= {name.lower() for name in wanted}


def _refused_quantity(own: QuantitySpec, wanted: QuantitySpec) -> SchemaValue | NoWitness:
    amounts = [(0, 0)]
    for bound in (own.low, own.high, wanted.low, wanted.high):
        if bound is not None:
            amounts += [(bound.mantissa + step, bound.scale) for step in (0, 1, -1)]
            amounts += [(bound.mantissa * 10 + step, bound.scale + 1) for step in (1, -1)]
    for mantissa, scale in sorted(amounts, key=lambda amount: (abs(amount[0]), amount[1])):
        if not -(2**63) <= mantissa < 2**63:
            continue
        for unit in own.suffixes or (own.base_unit,):
            value = QuantityValue(mantissa, scale, unit)
            if not any(quantity_violations(own, value)) and any(quantity_violations(wanted, value)):
                return value
    pairs = ((own.low, wanted.low), (own.high, wanted.high))
    if any(a is not None and b is not None and compare(a, b) is None for a, b in pairs):
        return NoWitness.COMPARISON_LIMIT
    if own.base_unit != wanted.base_unit or not set(own.suffixes) <= set(wanted.suffixes):
        return NoWitness.UNIT_LIST
    return NoWitness.NOT_FOUND
