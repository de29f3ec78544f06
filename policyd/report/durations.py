"""Durations in words and numbers, as a person reads them.

Source: style 5; retry 5.7.
"""

from __future__ import annotations

NANOS = 1_000_000_000
_LONG = ((31_557_600, "years"), (86_400, "days"), (3_600, "h"), (60, "min"))
_SECONDS_UP_TO = 600


def duration_words(ns: int | None) -> str:
    """A duration with its unit; None is no end.

    >>> duration_words(200_000_000), duration_words(7_130_000_000), duration_words(90 * 60 * NANOS)
    ('200 ms', '7.13 s', '1.5 h')
    >>> duration_words(0), duration_words(1_500), duration_words(None)
    ('0 s', '1.5 µs', 'no end')
    """
    if ns is None:
        return "no end"
    if ns == 0:
        return "0 s"
    if ns < 1_000:
        return f"{ns} ns"
    if ns < 1_000_000:
        return f"{_number(ns, 1_000)} µs"
    if ns < NANOS:
        return f"{_number(ns, 1_000_000)} ms"
    if ns < _SECONDS_UP_TO * NANOS:
        return f"{_number(ns, NANOS)} s"
    for size, name in _LONG:
        if ns >= size * NANOS:
            return f"{_number(ns, size * NANOS)} {name}"
    return f"{_number(ns, NANOS)} s"


def _number(ns: int, unit: int) -> str:
    """The quotient with at most three decimals, rounded to the nearest."""
    thousandths = (2 * ns * 1_000 + unit) // (2 * unit)
    whole, rest = divmod(thousandths, 1_000)
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".")


def range_words(low_ns: int, high_ns: int) -> str:
    """A range of durations; one duration where both ends are the same.

    >>> range_words(100_000_000, 115_000_000), range_words(NANOS, NANOS)
    ('100 ms to 115 ms', '1 s')
    """
    if low_ns == high_ns:
        return duration_words(low_ns)
    return f"{duration_words(low_ns)} to {duration_words(high_ns)}"


def count_words(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun.

    >>> count_words(1, "retry", "retries"), count_words(2, "wait")
    ('1 retry', '2 waits')
    """
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
