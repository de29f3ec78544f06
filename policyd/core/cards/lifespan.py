"""Lifespans of derived cards.

Source: cards 6.4.
"""

from __future__ import annotations

import re

from policyd.core.cards.timestamp import NANOS, Timestamp
from policyd.core.edition import Rules

_I64_MAX = 2**63 - 1
_MAX_DIGITS = 20
_FORM = re.compile(
    r"P(?:([0-9]+)D)?(?:T(?=[0-9.])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]*)(?:\.([0-9]{1,9}))?S)?)?", re.ASCII
)


class LifespanRefused(Exception):  # noqa: N818 - the platform's own word for the outcome
    """A derivation is refused because of time.

    Attributes:
        variant: the guest error: `invalid-pattern` or `card-expired`.
        text: what the platform says.
    """

    def __init__(self, variant: str, text: str) -> None:
        self.variant, self.text = variant, text
        super().__init__(text)


def parse_lifespan(text: str, rules: Rules) -> int:
    """The nanoseconds that an ISO 8601 lifespan writes (L1, L2).

    Raises:
        LifespanRefused: `invalid-pattern` if it is none.
    """
    lead = "invalid ISO-8601 lifespan: "
    if not text.startswith("P"):
        raise LifespanRefused("invalid-pattern", f"{lead}duration must start with the 'P' designator")
    found = _FORM.fullmatch(text)
    if found is None or not any(found.groups()):
        raise LifespanRefused("invalid-pattern", f"{lead}write days, then `T` and hours, minutes, seconds")
    days, hours, minutes, seconds, fraction = found.groups()
    if any(part and len(part.lstrip("0")) > _MAX_DIGITS for part in (days, hours, minutes, seconds)):
        raise LifespanRefused("invalid-pattern", f"{lead}it does not fit 64-bit nanoseconds")
    whole = ((int(days or 0) * 24 + int(hours or 0)) * 60 + int(minutes or 0)) * 60 + int(seconds or 0)
    nanos = whole * NANOS + int((fraction or "").ljust(9, "0") or 0)
    if nanos > _I64_MAX:
        raise LifespanRefused("invalid-pattern", f"{lead}it does not fit 64-bit nanoseconds")
    if nanos == 0 and rules.is_next("zero_lifespan"):
        raise LifespanRefused("invalid-pattern", f"{lead}it must be positive")
    return nanos


def child_expiry(
    now: Timestamp, lifespan: str | None, parent_expires: Timestamp | None, rules: Rules
) -> Timestamp | None:
    """When a derived card expires, None for never.

    Raises:
        LifespanRefused: `card-expired` or `invalid-pattern`, in the platform's order of checks.
    """
    if parent_expires is not None and parent_expires <= now:
        raise LifespanRefused("card-expired", "cannot derive from an expired parent card")
    if lifespan is None:
        if parent_expires is not None:
            raise LifespanRefused("card-expired", "an indefinite child card would outlive its parent card")
        return None
    expires = now.plus(parse_lifespan(lifespan, rules))
    if parent_expires is not None and expires > parent_expires:
        raise LifespanRefused("card-expired", "child card expiry would exceed its parent card expiry")
    return expires
