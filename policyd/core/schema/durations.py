"""Durations as ISO 8601 text, down to nanoseconds.

Source: middleware 0.3 (`duration_json`), 4.6.
"""

from __future__ import annotations

import re

_SECOND = 1_000_000_000
_ISO = re.compile(
    r"(-)?P(?:([0-9]{1,19})D)?(?:T(?:([0-9]{1,19})H)?(?:([0-9]{1,19})M)?(?:([0-9]{1,19})(?:\.([0-9]{1,9}))?S)?)?"
)
_LIMIT = 1 << 63


def iso_text(nanoseconds: int) -> str:
    """The duration in days, hours, minutes and seconds.

    >>> iso_text(5_400_500_000_000), iso_text(0)
    ('PT1H30M0.5S', 'PT0S')
    """
    seconds, nanos = divmod(abs(nanoseconds), _SECOND)
    days, hours, minutes, seconds = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60, seconds % 60
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    clock = "".join(f"{amount}{unit}" for amount, unit in ((hours, "H"), (minutes, "M")) if amount)
    if seconds or nanos or not (days or clock):
        clock += f"{seconds}{fraction}S"
    sign = "-" if nanoseconds < 0 else ""
    return f"{sign}P{f'{days}D' if days else ''}{f'T{clock}' if clock else ''}"


def parse_iso(text: str) -> int | None:
    """The nanoseconds of a duration in days, hours, minutes and seconds, or None.

    >>> parse_iso("PT1.5S")
    1500000000
    """
    found = _ISO.fullmatch(text)
    if found is None or text.endswith("T") or not any(found.groups()[1:5]):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:5])
    total = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * _SECOND + int((found[6] or "0").ljust(9, "0"))
    signed = -total if found[1] else total
    return signed if -_LIMIT <= signed < _LIMIT else None
