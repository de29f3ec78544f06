"""Moments with nanoseconds: reading RFC 3339 as the platform does, and writing it.

The calendar is the proleptic Gregorian one over all years, because an offset may lead out of 0 to 9999.

Source: middleware 5.4 (`datetime`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?"
    r"(?:([Zz])|([+-])([0-9]{2}):([0-9]{2}))"
)
_SECOND = 1_000_000_000
_DAY = 86_400
_DAYS_BEFORE_EPOCH = 719_468
"""Days from the first of March of the year 0 to 1970-01-01."""
MAX_TEXT = 128
"""Longer texts are no timestamps; a fraction beyond that many digits is refused."""


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A moment in UTC.

    Attributes:
        seconds: since 1970-01-01T00:00:00Z.
        nanos: 0 up to 1,999,999,999; from 1,000,000,000 on within a leap second.
    """

    seconds: int
    nanos: int = 0

    @property
    def year(self) -> int:
        """The year in UTC; 0 is the year before 1."""
        return _civil(self.seconds // _DAY)[0]

    @property
    def is_writable(self) -> bool:
        """Whether the canonical text can carry it: UTC years 0 to 9999."""
        return 0 <= self.year <= 9999


def _days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01; the year is counted from March, so that leap days come last."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - _DAYS_BEFORE_EPOCH


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970-01-01."""
    era, day_of_era = divmod(days + _DAYS_BEFORE_EPOCH, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def parse_instant(text: str) -> Instant | None:
    """The moment that an RFC 3339 text names, or None.

    A small `t` or `z`, a space for the `T`, second 60 and more than nine digits of a second are accepted; what is
    beyond nanoseconds is cut off.

    >>> parse_instant("1970-01-01T01:00:00.5+01:00")
    Instant(seconds=0, nanos=500000000)
    """
    found = _RFC3339.fullmatch(text) if len(text) <= MAX_TEXT else None
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    if not 1 <= month <= 12 or not 1 <= day <= _days_in_month(year, month) or hour > 23 or minute > 59 or second > 60:
        return None
    nanos = int((found[7] or "0")[:9].ljust(9, "0"))
    offset = 0
    if found[8] is None:
        hours, minutes = int(found[10]), int(found[11])
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 60 + minutes) * 60 * (-1 if found[9] == "-" else 1)
    if second == 60:
        second, nanos = 59, nanos + _SECOND
    return Instant(_days(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - offset, nanos)


def _date_and_time(instant: Instant) -> tuple[str, int]:
    days, within = divmod(instant.seconds, _DAY)
    year, month, day = _civil(days)
    extra, nanos = divmod(instant.nanos, _SECOND)
    sign = "" if 0 <= year <= 9999 else "-" if year < 0 else "+"
    clock = f"{within // 3600:02}:{within // 60 % 60:02}:{within % 60 + extra:02}"
    return f"{sign}{abs(year):04}-{month:02}-{day:02}T{clock}", nanos


def _fraction(nanos: int) -> str:
    """No digits, or as many groups of three as are needed."""
    if nanos == 0:
        return ""
    digits = f"{nanos:09}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f".{digits}"


def shortest_text(instant: Instant, zone: str = "Z") -> str:
    """The text with 0, 3, 6 or 9 digits of a second, as schema values write it.

    >>> shortest_text(Instant(0, 500_000_000))
    '1970-01-01T00:00:00.500Z'
    """
    text, nanos = _date_and_time(instant)
    return f"{text}{_fraction(nanos)}{zone}"


def canonical_text(instant: Instant) -> str:
    """The text with nine digits of a second, as canonical JSON writes it.

    >>> canonical_text(Instant(0))
    '1970-01-01T00:00:00.000000000Z'
    """
    text, nanos = _date_and_time(instant)
    return f"{text}.{nanos:09}Z"
