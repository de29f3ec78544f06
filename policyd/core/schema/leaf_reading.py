"""Values of one leaf type read as values of another, without any reshaping: which pass, and whether they mean the same.

Source: middleware 3.7, 8.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from policyd.core.schema.decimals import compare
from policyd.core.schema.equivalent import same_leaf
from policyd.core.schema.leaf_witness import bounds_of
from policyd.core.schema.restrictions import (
    BinaryRestriction,
    PathKind,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.text_wish import NoText, Texts, TextWish
from policyd.core.schema.types import (
    BinaryType,
    EnumType,
    FlagsType,
    NumberType,
    PathType,
    PermissionCardType,
    PlainType,
    QuantityType,
    QuotaTokenType,
    SchemaType,
    TextType,
    UrlType,
    kind_of,
)


class Passes(IntEnum):
    """How many values pass."""

    NONE = 0
    SOME = 1
    ALL = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What becomes of the values.

    Attributes:
        passes: how many are valid for the target.
        is_misread: whether some that pass mean something else there.
    """

    passes: Passes
    is_misread: bool = False

    def within(self) -> Reading:
        """The same inside of something that can also be empty."""
        return self if self.passes is not Passes.NONE else Reading(Passes.SOME)


ALL = Reading(Passes.ALL)
SOME = Reading(Passes.SOME)
NONE = Reading(Passes.NONE)


def together(parts: Iterable[Reading]) -> Reading:
    """Parts that must all pass."""
    found = list(parts)
    passes = min((part.passes for part in found), default=Passes.ALL)
    return Reading(passes, passes is not Passes.NONE and any(part.is_misread for part in found))


def one_of(parts: Iterable[Reading]) -> Reading:
    """Alternatives, of which a value takes one."""
    found = list(parts)
    if all(part.passes is Passes.ALL for part in found):
        passes = Passes.ALL
    elif all(part.passes is Passes.NONE for part in found):
        passes = Passes.NONE
    else:
        passes = Passes.SOME
    return Reading(passes, any(part.is_misread for part in found))


def leaf_reading(source: SchemaType, target: SchemaType, texts: Texts) -> Reading:
    """What becomes of values of a type without parts."""
    match source, target:
        case NumberType(kind, own), NumberType(other, wanted) if kind is other:
            low, high = bounds_of(kind, own)
            other_low, other_high = bounds_of(other, wanted)
            units = (own.unit if own else None) == (wanted.unit if wanted else None)
            found = _ranges(low, high, other_low, other_high)
            return Reading(found.passes, found.passes is not Passes.NONE and not units)
        case EnumType(a), EnumType(b):
            passing = Passes.ALL if len(a) <= len(b) else Passes.SOME
            return Reading(passing, any(x != y for x, y in zip(a, b, strict=False)))
        case FlagsType(a), FlagsType(b):
            return NONE if len(a) != len(b) else Reading(Passes.ALL, a != b)
        case TextType(own), TextType(wanted):
            return _texts(own, wanted, texts)
        case BinaryType(own), BinaryType(wanted):
            return _binaries(own, wanted)
        case PathType(own), PathType(wanted):
            return _paths(own, wanted)
        case UrlType(own), UrlType(wanted):
            return _urls(own, wanted)
        case QuantityType(own), QuantityType(wanted):
            return _quantities(own, wanted)
        case QuotaTokenType(own), QuotaTokenType(wanted):
            return category_reading(own, wanted)
        case PermissionCardType(own), PermissionCardType(wanted):
            return ALL if own == wanted else NONE
        case PlainType(), PlainType():
            return ALL if same_leaf(source, target) else NONE
        case _:
            assert kind_of(source) != kind_of(target) or isinstance(source, NumberType)
            return NONE


def category_reading(own: str | None, wanted: str | None) -> Reading:
    """A name that the target compares when it has one itself."""
    if wanted is None or own == wanted:
        return ALL
    return SOME if own is None else NONE


def _ranges(low: float, high: float, other_low: float, other_high: float) -> Reading:
    if low >= other_low and high <= other_high:
        return ALL
    return NONE if high < other_low or low > other_high else SOME


def _sizes(low: int | None, high: int | None, other_low: int | None, other_high: int | None) -> Reading:
    infinity = float("inf")
    top, other_top = (infinity if end is None else end for end in (high, other_high))
    return _ranges(low or 0, top, other_low or 0, other_top)


def _carried_list(own: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> Reading:
    """A list that is only looked at where the value carries the property."""
    return ALL if wanted is None or (own is not None and set(own) <= set(wanted)) else SOME


def _texts(own: TextRestriction, wanted: TextRestriction, texts: Texts) -> Reading:
    lengths = _sizes(own.min_length, own.max_length, wanted.min_length, wanted.max_length)
    return together((lengths, _carried_list(own.languages, wanted.languages), _patterns(own, wanted, texts)))


def _patterns(own: TextRestriction, wanted: TextRestriction, texts: Texts) -> Reading:
    if wanted.regex is None or wanted.regex == own.regex:
        return ALL
    matches = () if own.regex is None else (own.regex,)
    low, high = own.min_length or 0, own.max_length
    outside = texts.find(TextWish(low, high, matches, (wanted.regex,)))
    if outside is NoText.NONE:
        return ALL
    inside = texts.find(TextWish(low, high, (*matches, wanted.regex)))
    return NONE if inside is NoText.NONE else SOME


def _binaries(own: BinaryRestriction, wanted: BinaryRestriction) -> Reading:
    sizes = _sizes(own.min_bytes, own.max_bytes, wanted.min_bytes, wanted.max_bytes)
    return together((sizes, _carried_list(own.mime_types, wanted.mime_types)))


def _paths(own: PathSpec, wanted: PathSpec) -> Reading:
    same = own.direction is wanted.direction and wanted.kind in (PathKind.ANY, own.kind)
    mime = _carried_list(own.mime_types, wanted.mime_types).passes is Passes.ALL
    return Reading(_carried_list(own.extensions, wanted.extensions).passes, not (same and mime))


def _urls(own: UrlRestriction, wanted: UrlRestriction) -> Reading:
    return together((_folded_list(own.schemes, wanted.schemes), _folded_list(own.hosts, wanted.hosts)))


def _folded_list(own: tuple[str, ...] | None, wanted: tuple[str, ...] | None) -> Reading:
    """A list of names that are compared without regard to case; every value has the property."""
    if wanted is None:
        return ALL
    if own is None:
        return SOME if wanted else NONE
    mine, theirs = {name.lower() for name in own}, {name.lower() for name in wanted}
    if mine <= theirs:
        return ALL
    return SOME if mine & theirs else NONE


def _quantities(own: QuantitySpec, wanted: QuantitySpec) -> Reading:
    mine, theirs = set(own.suffixes or (own.base_unit,)), set(wanted.suffixes or (wanted.base_unit,))
    units = ALL if mine <= theirs else SOME if mine & theirs else NONE
    bounds = ALL
    for limit, bound, opposite, outward in (
        (wanted.low, own.low, own.high, -1),
        (wanted.high, own.high, own.low, 1),
    ):
        if limit is None:
            continue
        if opposite is not None and compare(opposite, limit) == outward:
            bounds = NONE
        elif bounds is not NONE and (bound is None or compare(bound, limit) in (None, outward)):
            bounds = SOME
    return together((units, bounds))
