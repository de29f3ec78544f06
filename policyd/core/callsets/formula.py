"""Boolean combinations of products, weighed while only a part of a call is chosen.

Bits stand for products. While the parts of a call are chosen one by one, some products are still
possible and some already certain; a formula over them is then impossible, open or certain. This
is Kleene's three-valued logic, so *and* is the least and *or* the greatest of the parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Op(Enum):
    """How the parts of a formula are joined."""

    AND = "and"
    OR = "or"
    NOT = "not"


Formula = int | tuple[Op, tuple["Formula", ...]]
"""A mask (any of these products), or an operation on formulas; `NOT` has one part."""

TRUE: Formula = (Op.AND, ())
FALSE: Formula = (Op.OR, ())
IMPOSSIBLE, OPEN, CERTAIN = 0, 1, 2


def all_of(parts: Iterable[Formula]) -> Formula:
    """The conjunction, without parts that say nothing."""
    kept = []
    for part in parts:
        if part in (FALSE, 0):
            return FALSE
        if part != TRUE:
            kept.append(part)
    return kept[0] if len(kept) == 1 else (Op.AND, tuple(kept))


def any_of(parts: Iterable[Formula]) -> Formula:
    """The disjunction, without parts that never hold."""
    kept = []
    for part in parts:
        if part == TRUE:
            return TRUE
        if part not in (FALSE, 0):
            kept.append(part)
    return kept[0] if len(kept) == 1 else (Op.OR, tuple(kept))


def not_of(part: Formula) -> Formula:
    """The negation."""
    if part in (FALSE, 0):
        return TRUE
    return FALSE if part == TRUE else (Op.NOT, (part,))


def weigh(formula: Formula, possible: int, certain: int) -> int:
    """How the formula stands when the products of `possible` can, and those of `certain` do contain the call.

    >>> weigh(all_of([1, not_of(2)]), 0b11, 0b01)
    1
    """
    if isinstance(formula, int):
        return CERTAIN if formula & certain else OPEN if formula & possible else IMPOSSIBLE
    op, parts = formula
    if op is Op.NOT:
        return CERTAIN - weigh(parts[0], possible, certain)
    stop, value = (IMPOSSIBLE, CERTAIN) if op is Op.AND else (CERTAIN, IMPOSSIBLE)
    for part in parts:
        found = weigh(part, possible, certain)
        if found == stop:
            return stop
        if found == OPEN:
            value = OPEN
    return value
