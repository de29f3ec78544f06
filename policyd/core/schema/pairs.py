"""Two types side by side: the recursion that equivalence and assignability share.

A relation looks at one pair of types and names the pairs that must hold as well. A pair met before is taken to hold
(coinduction), so recursive types end; nothing recurses in Python, so depth is no limit.

Source: middleware 3.2 to 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from policyd.core.schema.types import SchemaType

Pair: TypeAlias = tuple[SchemaType, SchemaType]


def all_hold(start: Pair, demands: Callable[[SchemaType, SchemaType], Iterable[Pair] | None]) -> bool:
    """Whether a relation holds for a pair and for everything it demands.

    Args:
        start: the pair asked about.
        demands: the further pairs that must hold, or None when this one does not.
    """
    seen: set[tuple[int, int]] = set()
    pending = [start]
    while pending:
        left, right = pending.pop()
        key = (id(left), id(right))
        if key in seen:
            continue
        seen.add(key)
        further = demands(left, right)
        if further is None:
            return False
        pending.extend(further)
    return True
