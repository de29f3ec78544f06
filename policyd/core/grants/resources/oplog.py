"""Ranges of oplog indexes.

Source: cards 2.2 RS-oplog.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants.names import U64_MAX
from policyd.core.grants.resources.exact import Resource


@dataclass(frozen=True, slots=True)
class OplogRange:
    """Indexes `start` to `end`, both inclusive; a start behind the end is accepted.

    Attributes:
        start: first index, None for 0.
        end: last index, None for the greatest 64-bit number.
    """

    start: int | None = None
    end: int | None = None

    @property
    def first(self) -> int:
        """The first index as a number."""
        return 0 if self.start is None else self.start

    @property
    def last(self) -> int:
        """The last index as a number."""
        return U64_MAX if self.end is None else self.end

    def covers(self, narrow: Resource) -> bool:
        """Whether both bounds of `narrow` are inside, tested one by one, so that an inverted range can be."""
        return isinstance(narrow, OplogRange) and self.first <= narrow.first and narrow.last <= self.last

    @property
    def text(self) -> str:
        """The canonical text: start, then end."""
        bounds = (("start", self.start), ("end", self.end))
        return ":".join(f"{name}={value}" for name, value in bounds if value is not None)
