"""'Did you mean': the nearest known word, only within a small edit distance."""

from __future__ import annotations

from collections.abc import Iterable

MAX_WORD = 64
"""Words longer than this get no suggestion: the comparison is quadratic."""


def _distance(left: str, right: str, limit: int) -> int:
    """The edit distance with neighbouring swaps, or `limit + 1` when it is larger."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    last = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        now = [i]
        for j, b in enumerate(right, 1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, last = last, now
        if min(last) > limit:
            return limit + 1
    return last[-1]


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to `word`, or None when none is near enough.

    Near means one edit for words up to four characters, two for longer ones; ties go to the first by text.

    >>> nearest("conect", ["connect", "read"])
    'connect'
    >>> nearest("x", ["connect", "read"]) is None
    True
    """
    if not 0 < len(word) <= MAX_WORD:
        return None
    limit = 1 if len(word) <= 4 else 2
    scored = sorted((_distance(word.lower(), k.lower(), limit), k) for k in set(known) if k != word)
    return scored[0][1] if scored and scored[0][0] <= min(limit, len(word) - 1) else None
