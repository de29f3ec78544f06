"""Comparing decimals exactly, with the platform's limit of 128-bit integers.

Source: middleware 3.2 (`quantity`), 1.3, 8.2.
"""

from __future__ import annotations

from policyd.core.schema.restrictions import Amount
from policyd.core.schema.values import QuantityValue

_MAX_SHIFT = 38
"""Ten to a greater power does not fit into a signed 128-bit integer."""
_LIMIT = 1 << 127


def compare(left: Amount | QuantityValue, right: Amount | QuantityValue) -> int | None:
    """The sign of `left - right`, units not looked at; None where the platform's integers overflow.

    Both are brought to the larger scale, whatever the true order is.

    >>> compare(Amount(15, 1, "kg"), Amount(1, 0, "kg"))
    1
    >>> compare(Amount(1, 0, "kg"), Amount(1, 39, "kg")) is None
    True
    """
    scale = max(left.scale, right.scale)
    if scale - min(left.scale, right.scale) > _MAX_SHIFT:
        return None
    a, b = (amount.mantissa * int(10 ** (scale - amount.scale)) for amount in (left, right))
    if not (-_LIMIT <= a < _LIMIT and -_LIMIT <= b < _LIMIT):
        return None
    return (a > b) - (a < b)
