"""How much work a statement may be to the SQL parser, told before it is parsed.

The parser tries several readings of a call, each of which reads the arguments again, so that nested calls cost it
time exponential in their depth; chains of operators become trees so deep that freeing them can overflow the stack.

Source: host 4.7 (cost).
"""

from __future__ import annotations

import re

MAX_SQL = 65_536
"""Longer statements are not analysed, in characters."""
MAX_PLAIN = 4_096
"""Longer ones are read in a process of their own: an operator chain of this length still fits any stack."""
MAX_COST = 400_000
"""So are costlier ones; this much is read within a few milliseconds."""
_GROWTH = 4
_DEEPEST = 24
_PIECE = re.compile(r"\w+|[^\w\s]")


def is_hazardous(sql: str) -> bool:
    """Whether reading `sql` may take long or deep recursion, so that it must be possible to give it up."""
    return len(sql) > MAX_PLAIN or cost(sql) > MAX_COST


def cost(sql: str) -> int:
    """An upper estimate of the work: every word and sign counts by its depth, cut off soon behind `MAX_COST`.

    Brackets within quotes and comments count, too: the dialects differ in what is quoted. Every `INTERVAL` is taken
    as nested in the one before, which is how the parser goes wrong on them.

    >>> cost("SELECT 1") < cost("SELECT f(f(f(1)))") < MAX_COST < cost("SELECT " + "f(" * 12 + ")" * 12)
    True
    """
    total = depth = intervals = 0
    for found in _PIECE.finditer(sql):
        match piece := found[0]:
            case "(" | "[" | "{":
                depth += 1
            case ")" | "]" | "}":
                depth = max(0, depth - 1)
            case _ if piece.upper() == "INTERVAL":
                intervals += 1
        total += _GROWTH ** min(depth + intervals, _DEEPEST)
        if total > MAX_COST:
            break
    return total
