"""Moments as the platform reads and writes them.

Source: vectors of `card_json`; cards 5.5, 6.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

NANOS = 1_000_000_000
_DAY = 86_400

_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]|[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+)"
    r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2}))",
    re.ASCII,
)


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A moment in UTC.

    Attributes:
        seconds: since the epoch.
        nanos: 0 to 999,999,999; 1,000,000,000 more during a leap second, which is kept as it is.
    """

    seconds: int
    nanos: int = 0

    @classmethod
    def parse(cls, text: str) -> Timestamp:
        """The moment that `text` writes: date, time with seconds, and an offset.

        >>> Timestamp.parse("2025-03-01T10:00:00.5+02:00").text
        '2025-03-01T08:00:00.500Z'

        Raises:
            ValueError: if it is none.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError("not a date, a time with seconds and an offset")
        year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
        if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month)):
            raise ValueError("there is no such day")
        if hour > 23 or minute > 59 or second > 60:
            raise ValueError("there is no such time of day")
        fraction, sign, off_hours, off_minutes = found.groups()[6:]
        shift = 0
        if sign:
            if int(off_hours) > 23 or int(off_minutes) > 59:
                raise ValueError("there is no such offset")
            shift = (int(off_hours) * 60 + int(off_minutes)) * 60 * (1 if sign == "+" else -1)
        nanos = int((fraction or "0")[:9].ljust(9, "0"))
        if second == 60:
            second, nanos = 59, nanos + NANOS
        return cls(_days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - shift, nanos)

    def plus(self, nanos: int) -> Timestamp:
        """The moment `nanos` nanoseconds later."""
        total = self.nanos + nanos
        return Timestamp(self.seconds + total // NANOS, total % NANOS)

    @property
    def text(self) -> str:
        """UTC with `Z` and the fewest of no, three, six or nine digits that hold the fraction."""
        days, rest = divmod(self.seconds, _DAY)
        year, month, day = _civil(days)
        hour, rest = divmod(rest, 3600)
        minute, second = divmod(rest, 60)
        nanos = self.nanos
        if nanos >= NANOS:
            second, nanos = second + 1, nanos - NANOS
        digits = f"{nanos:09d}"
        while digits.endswith("000"):
            digits = digits[:-3]
        shown = f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}"
        fraction = f".{digits}" if digits else ""
        return f"{shown}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}{fraction}Z"


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return 28 + _is_leap(year) if month == 2 else 30 + (month + month // 8) % 2


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    """The inverse of `_days`."""
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day
