"""Resources that compare by equality, and the two that need no value.

Source: cards 2.2 RS-env, RS-agent, RS-empty, RS-app, RS-rev, RS-plan, RS-uuid, RS-id, RS-domain, RS-oauth, RS-name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class Resource(Protocol):
    """What all resources can do; comparing across classes never happens."""

    def covers(self, narrow: Resource) -> bool:
        """Whether everything that `narrow` describes is inside this."""

    @property
    def text(self) -> str:
        """The canonical text."""


@dataclass(frozen=True, slots=True)
class AnyResource:
    """The value of `*`: covers every value of the class, and nothing else covers it.

    Attributes:
        text: `*` in every class that has it.
    """

    text: str = "*"

    def covers(self, narrow: Resource) -> bool:
        """Always."""
        return True


@dataclass(frozen=True, slots=True)
class NoResource:
    """The only resource of a class that has none (accounts, applications, system); rendered empty."""

    text: str = ""

    def covers(self, narrow: Resource) -> bool:
        """Always: there is one value."""
        return True


@dataclass(frozen=True, slots=True)
class Exact:
    """A value that covers its equal only; kinds never cross.

    Attributes:
        kind: what the value is within its class (`method`, `plugin`, `name`, `uuid`, `revision`, …).
        text: the canonical text; empty for the kind `empty` of agent operations.
    """

    kind: str
    text: str

    def covers(self, narrow: Resource) -> bool:
        """Whether `narrow` is the equal value of the same kind."""
        return self == narrow


ANY = AnyResource()
NOTHING = NoResource()
EMPTY = Exact("empty", "")
"""The empty resource of agent operations, which only itself and `*` cover (RS-agent)."""
