"""A rule with the place it is written at, and what a deployment makes of it.

Source: retry 1.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.retry.api_form import through_manifest
from policyd.core.retry.policy import NamedPolicy
from policyd.core.retry.resolve import Overlay
from policyd.findings import Span

MAX_RULES = 1_000
"""Rules of one environment, or of all that one audit looks at; the questions compare rules with each other."""


@dataclass(frozen=True, slots=True)
class PlacedPolicy:
    """A rule of one environment.

    Attributes:
        rule: as it is in force.
        written: as it is written; another than `rule` where durations are floored.
        span: where it stands, None where no document is at hand.
    """

    rule: NamedPolicy
    written: NamedPolicy
    span: Span | None = None

    @classmethod
    def of_manifest(cls, written: NamedPolicy, span: Span | None) -> PlacedPolicy:
        """The rule that a deployment creates, every duration in whole milliseconds."""
        return cls(through_manifest(written), written, span)


_NO_OVERLAY = Overlay()


@dataclass(frozen=True, slots=True)
class RetryFacts:
    """What is known of retry policies beside a manifest.

    Attributes:
        existing: the policies that the environment already has; None where that is not known.
        overlay: what agents set and remove at run time.
    """

    existing: tuple[NamedPolicy, ...] | None = None
    overlay: Overlay = _NO_OVERLAY


NO_FACTS = RetryFacts()
