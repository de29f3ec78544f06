"""Durations as ISO 8601 text, down to nanoseconds.

Source: middleware 0.3 (`duration_json`), 4.6.
"""

from __future__ import annotations

import re

_SECOND = 1_000_000_000
_ISO = re.compile(r"(-)?PT(?:([0-9]{1,19})H)?(?:([0-9]{1,19})M)?(?:([0-9]{1,19})(?:\.([0-9]{1,9}))?S)?")
_LIMIT = 1 << 63


def iso_text(nanoseconds: int) -> str:
    """The duration in hours, minutes and seconds.

    >>> iso_text(5_400_500_000_000), iso_text(0)
    ('PT1H30M0.5S', 'PT0S')
    """
    seconds, nanos = divmod(abs(nanoseconds), _SECOND)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    parts = [f"{hours}H" if hours else "", f"{minutes}M" if minutes else ""]
    parts.append(f"{seconds}{fraction}S" if seconds or nanos or not any(parts) else "")
    return f"{'-' if nanoseconds < 0 else ''}PT{''.join(parts)}"


def parse_iso(text: str) -> int | None:
    """The nanoseconds of a duration in hours, minutes and seconds, or None.

    >>> parse_iso("PT1.5S")
    1500000000
    """
    found = _ISO.fullmatch(text)
    if found is None or not any(found.groups()[1:4]):
        return None
    hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:4])
    total = (hours * 3600 + minutes * 60 + seconds) * _SECOND + int((found[5] or "0").ljust(9, "0"))
    signed = -total if found[1] else total
    return signed if -_LIMIT <= signed < _LIMIT else None
