"""Whether one restriction is inside another: the rules that assignability and projection share for leaves.

Source: middleware 3.2 (rows of the leaf types), 3.3.
"""

from __future__ import annotations

from policyd.core.schema.decimals import compare
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.restrictions import (
    Amount,
    BinaryRestriction,
    Bound,
    NumericRestriction,
    PathKind,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.wellformed import numeric_fault

_NOTHING = NumericRestriction()


def numbers_fit(kind: NumberKind, narrow: NumericRestriction | None, wide: NumericRestriction | None) -> bool:
    """Whether units are equal and the bounds of `narrow` lie within those of `wide`.

    Bounds that the width implies do not count; an ill-formed side never fits.
    """
    a, b = narrow or _NOTHING, wide or _NOTHING
    if numeric_fault(kind, a) is not None or numeric_fault(kind, b) is not None or a.unit != b.unit:
        return False
    return _not_below(a.low, b.low) and _not_above(a.high, b.high)


def _not_below(low: Bound | None, limit: Bound | None) -> bool:
    return limit is None or (low is not None and low.number >= limit.number)


def _not_above(high: Bound | None, limit: Bound | None) -> bool:
    return limit is None or (high is not None and high.number <= limit.number)


def _range_fits(low: int | None, high: int | None, low_limit: int | None, high_limit: int | None) -> bool:
    return (low_limit is None or (low is not None and low >= low_limit)) and (
        high_limit is None or (high is not None and high <= high_limit)
    )


def _list_fits(narrow: tuple[str, ...] | None, wide: tuple[str, ...] | None) -> bool:
    return wide is None or (narrow is not None and set(narrow) <= set(wide))


def texts_fit(narrow: TextRestriction, wide: TextRestriction) -> bool:
    """Whether lengths and languages are inside, and the regex is the same or `wide` has none."""
    return (
        _range_fits(narrow.min_length, narrow.max_length, wide.min_length, wide.max_length)
        and _list_fits(narrow.languages, wide.languages)
        and (wide.regex is None or narrow.regex == wide.regex)
    )


def binaries_fit(narrow: BinaryRestriction, wide: BinaryRestriction) -> bool:
    """Whether sizes and MIME types are inside."""
    sizes = _range_fits(narrow.min_bytes, narrow.max_bytes, wide.min_bytes, wide.max_bytes)
    return sizes and _list_fits(narrow.mime_types, wide.mime_types)


def paths_fit(narrow: PathSpec, wide: PathSpec) -> bool:
    """Whether the direction is the same, the kind the same or `any`, and the lists are inside."""
    return (
        narrow.direction is wide.direction
        and wide.kind in (PathKind.ANY, narrow.kind)
        and _list_fits(narrow.mime_types, wide.mime_types)
        and _list_fits(narrow.extensions, wide.extensions)
    )


def urls_fit(narrow: UrlRestriction, wide: UrlRestriction) -> bool:
    """Whether schemes and hosts are inside, as written."""
    return _list_fits(narrow.schemes, wide.schemes) and _list_fits(narrow.hosts, wide.hosts)


def quantities_fit(narrow: QuantitySpec, wide: QuantitySpec) -> bool:
    """Whether the base unit is the same, the suffixes as written are inside, and the bounds too.

    What cannot be compared in 128-bit integers does not fit.
    """
    return (
        narrow.base_unit == wide.base_unit
        and set(narrow.suffixes) <= set(wide.suffixes)
        and _amount_fits(narrow.low, wide.low, -1)
        and _amount_fits(narrow.high, wide.high, 1)
    )


def _amount_fits(inner: Amount | None, limit: Amount | None, outward: int) -> bool:
    if limit is None:
        return True
    order = None if inner is None else compare(inner, limit)
    return order is not None and order != outward
