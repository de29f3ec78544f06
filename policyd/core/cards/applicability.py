"""Whether a card can be installed on a holder at all.

Source: cards 6.6.
"""

from __future__ import annotations

from policyd.core.cards.card import Bounds
from policyd.core.grants import Recipient


def applies_to(bounds: Bounds, holder: Recipient) -> bool:
    """Whether a card with these (concrete) bounds can be installed on `holder` (T3).

    Lower negatives do not count, so an empty card and one of only lower negatives never apply.
    """
    return any(
        grant.recipient.covers(holder)
        for grants in (bounds.lower_positive, bounds.upper_positive, bounds.upper_negative)
        for grant in grants
    )
