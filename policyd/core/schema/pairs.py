"""Two types side by side: the recursion that equivalence and assignability share.

A relation looks at one pair of types and names the pairs that must hold as well. A pair met before is taken to hold
(coinduction), so recursive types end; nothing recurses in Python, so depth is no limit.

Source: middleware 3.2 to 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from policyd.core.schema.steps import spend
from policyd.core.schema.types import SchemaType

Pair: TypeAlias = tuple[SchemaType, SchemaType]


Proven: TypeAlias = dict[tuple[int, int], Pair]
"""Pairs for which a relation was found to hold, by their objects, which are kept so that no id is used again."""


def all_hold(
    start: Pair, demands: Callable[[SchemaType, SchemaType], Iterable[Pair] | None], proven: Proven | None = None
) -> bool:
    """Whether a relation holds for a pair and for everything it demands.

    Args:
        start: the pair asked about.
        demands: the further pairs that must hold, or None when this one does not.
        proven: pairs for which it was found to hold before, between the same definitions; those found now are added.
    """
    known: Proven = {} if proven is None else proven
    seen: Proven = {}
    pending = [start]
    while pending:
        spend()
        left, right = pending.pop()
        key = (id(left), id(right))
        if key in seen or key in known:
            continue
        seen[key] = (left, right)
        further = demands(left, right)
        if further is None:
            return False
        pending.extend(further)
    # everything that was met is demanded by what holds, so it holds as well
    known.update(seen)
    return True
