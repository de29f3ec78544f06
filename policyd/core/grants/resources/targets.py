"""The holders on which a card may be installed.

Source: cards 2.2 RS-card.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants.recipient import Recipient
from policyd.core.grants.resources.exact import Resource


@dataclass(frozen=True, slots=True)
class CardTarget:
    """A recipient pattern as the resource of a card operation; only `install` uses it."""

    recipient: Recipient

    def covers(self, narrow: Resource) -> bool:
        """Whether the recipient here covers that of `narrow` (R4)."""
        return isinstance(narrow, CardTarget) and self.recipient.covers(narrow.recipient)

    @property
    def text(self) -> str:
        """The canonical text."""
        return self.recipient.text
