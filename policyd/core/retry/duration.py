"""Durations as integer nanoseconds: their limits, their text, and the arithmetic on them.

Source: retry 1.1, 4.3.
"""

from __future__ import annotations

import math

from policyd.core.retry.errors import Label, Path, RetryFormError

NANOS = 1_000_000_000
U64_MAX = 2**64 - 1
U32_MAX = 2**32 - 1
DMAX_NS = U64_MAX * NANOS + (NANOS - 1)
"""The largest duration of the model; sums saturate here."""

MAX_DURATION_TEXT = 4096
"""Longer texts are refused unread."""

WHITE_SPACE = frozenset("\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000") | frozenset(
    chr(c) for c in range(0x2000, 0x200B)
)
# INVARIANT: exactly the characters with the property White_Space; str.isspace accepts four more.

_SMALL: dict[str, int] = {
    **dict.fromkeys(("ns", "nsec", "nanos"), 1),
    **dict.fromkeys(("us", "µs", "usec"), 1_000),
    **dict.fromkeys(("ms", "msec", "millis"), 1_000_000),
}
_LARGE: dict[str, int] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "wk", "wks", "week", "weeks"), 604_800),
    **dict.fromkeys(("M", "month", "months"), 2_630_016),
    **dict.fromkeys(("y", "yr", "yrs", "year", "years"), 31_557_600),
}
_DIGITS = frozenset("0123456789")
_UNIT_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ")


class _Scanner:
    """One reading of a duration text; `at` is the next character."""

    def __init__(self, text: str, path: Path) -> None:
        self.text = text
        self.path = path
        self.at = 0

    def fail(self, reason: str) -> RetryFormError:
        return RetryFormError.at(
            Label.DURATION_TEXT,
            self.path,
            f"`{self.text[:40]}` is not a duration: {reason}",
            "write numbers with units, such as `1h 30m` or `250ms`",
        )

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in WHITE_SPACE:
            self.at += 1

    def digits(self, *, spaced: bool) -> str:
        """The digits from here; with `spaced`, white space between them is passed over."""
        found: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in _DIGITS:
                found.append(char)
            elif not (spaced and char in WHITE_SPACE):
                break
            self.at += 1
        return "".join(found)

    def unit(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in _UNIT_LETTERS:
            self.at += 1
        if self.at < len(self.text) and self.text[self.at] not in WHITE_SPACE and self.text[self.at] not in _DIGITS:
            raise self.fail(f"unexpected `{self.text[self.at]}`")
        return self.text[start : self.at]


def parse_duration(text: str, path: Path = ()) -> int:
    """Read a duration text into nanoseconds.

    >>> parse_duration("1h 30m") == parse_duration("1.5h") == 5400 * NANOS
    True

    Raises:
        RetryFormError: RETRY108, with the reason in the message.

    Source: retry 1.1.
    """
    scanner = _Scanner(text, path)
    if text == "0":
        return 0
    if len(text) > MAX_DURATION_TEXT:
        raise scanner.fail("it is too long")
    scanner.skip_space()
    if scanner.at == len(text):
        raise scanner.fail("it is empty")
    seconds = nanos = 0
    while scanner.at < len(text):
        seconds, nanos = _add_item(scanner, seconds, nanos)
        scanner.skip_space()
    return seconds * NANOS + nanos


def _add_item(scanner: _Scanner, seconds: int, nanos: int) -> tuple[int, int]:
    """Read one number with its unit and add it to what was summed so far."""
    if scanner.text[scanner.at] not in _DIGITS:
        raise scanner.fail(f"a number must start at `{scanner.text[scanner.at]}`")
    whole = int(scanner.digits(spaced=True))
    if whole > U64_MAX:
        raise scanner.fail("a number is too large")
    fraction = None
    if scanner.at < len(scanner.text) and scanner.text[scanner.at] == ".":
        scanner.at += 1
        fraction = scanner.digits(spaced=True)
        if not fraction:
            raise scanner.fail("a digit must follow the point")
    unit = scanner.unit()
    if not unit:
        raise scanner.fail("a number has no unit")
    if unit in _SMALL:
        add_seconds, add_nanos = 0, _small_item(scanner, whole, fraction, unit)
    elif unit in _LARGE:
        add_seconds, add_nanos = _large_item(scanner, whole, fraction, unit)
    else:
        raise scanner.fail(f"unknown unit `{unit}`")
    total_nanos = nanos + add_nanos
    if total_nanos > U64_MAX:
        raise scanner.fail("it is too large")
    total_seconds = seconds + add_seconds + total_nanos // NANOS
    if total_seconds > U64_MAX:
        raise scanner.fail("it is too large")
    return total_seconds, total_nanos % NANOS


def _small_item(scanner: _Scanner, whole: int, fraction: str | None, unit: str) -> int:
    """The nanoseconds of an item in `ns`, `µs` or `ms`."""
    scale = _SMALL[unit]
    value = whole * scale
    if value > U64_MAX:
        raise scanner.fail("it is too large")
    if fraction is not None:
        if scale == 1:
            raise scanner.fail("nanoseconds take no fraction")
        value += _fraction_of(scanner, fraction, scale)
    return value


def _large_item(scanner: _Scanner, whole: int, fraction: str | None, unit: str) -> tuple[int, int]:
    """The seconds and nanoseconds of an item in seconds or a larger unit."""
    scale = _LARGE[unit]
    value = whole * scale
    if value > U64_MAX:
        raise scanner.fail("it is too large")
    if fraction is None:
        return value, 0
    if scale > 60:
        return value + _fraction_of(scanner, fraction, scale), 0
    return value, _fraction_of(scanner, fraction, scale * NANOS)


def _fraction_of(scanner: _Scanner, digits: str, scale: int) -> int:
    """`0.digits` of `scale` as a whole number."""
    denominator: int = 10 ** len(digits)
    numerator = int(digits) * scale
    if denominator > U64_MAX or numerator > U64_MAX:
        raise scanner.fail("a fraction has too many digits")
    value, rest = divmod(numerator, denominator)
    if rest:
        raise scanner.fail("a fraction is finer than its unit can express")
    return value


_SHOWN = (("d", 86_400 * NANOS), ("h", 3_600 * NANOS), ("m", 60 * NANOS), ("s", NANOS))
_SHOWN_SMALL = (("ms", 1_000_000), ("us", 1_000), ("ns", 1))


def duration_text(ns: int) -> str:
    """A duration as the shortest exact text that `parse_duration` reads back.

    >>> duration_text(5_400 * NANOS), duration_text(1_600_000_000), duration_text(0)
    ('1h 30m', '1s 600ms', '0s')
    """
    parts = []
    for unit, size in (*_SHOWN, *_SHOWN_SMALL):
        count, ns = divmod(ns, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts) or "0s"


def add_durations(left: int, right: int) -> int:
    """The sum of two durations, at most `DMAX_NS`."""
    return min(DMAX_NS, left + right)


def scale_duration(ns: int, factor: float) -> int:
    """`ns` times `factor` as the platform computes it, by way of binary64 seconds.

    A factor that is not a positive finite number gives 0; what does not fit gives `DMAX_NS`; the
    nearest nanosecond is taken on the exact binary value, ties to even.

    >>> scale_duration(3, 0.5), scale_duration(5, 0.5)
    (1, 3)

    Source: retry 4.3.
    """
    if not math.isfinite(factor) or factor <= 0:
        return 0
    seconds, nanos = divmod(ns, NANOS)
    product = (float(seconds) + float(nanos) / 1e9) * factor
    if not math.isfinite(product):
        return DMAX_NS
    numerator, denominator = product.as_integer_ratio()
    quotient, rest = divmod(numerator * NANOS, denominator)
    if rest * 2 > denominator or (rest * 2 == denominator and quotient % 2):
        quotient += 1
    return quotient if quotient <= DMAX_NS else DMAX_NS


def power(base: float, exponent: int) -> float:
    """IEEE `pow(base, exponent)`; infinite where binary64 overflows."""
    try:
        return math.pow(base, float(exponent))
    except OverflowError:
        return math.inf if base > 0 or exponent % 2 == 0 else -math.inf
