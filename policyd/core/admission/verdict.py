"""Verdicts: three facets, each with the reasons from which it follows.

Source: questions 1, 3, 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.cards import CardId, GrantRef, Timestamp


class Facet(Enum):
    """One of three answers; nothing is ever guessed into a `yes`."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


class FacetName(Enum):
    """What is answered."""

    ADMITTED = "admitted"
    BOUNDED = "bounded"
    REPLAY_STABLE = "replay-stable"


class Why(Enum):
    """Why a facet is as it is; the value is the stable code."""

    NOT_GRANTED = "ADMIT001"
    FORBIDDEN = "ADMIT002"
    WITHHELD = "ADMIT003"
    CEILING_FORBIDS = "ADMIT004"
    ELSEWHERE = "ADMIT005"
    EXPIRED = "ADMIT006"
    REVOKED = "ADMIT007"
    NO_CARDS = "ADMIT008"
    SCOPE_REFUSED = "ADMIT009"
    GRANTED = "ADMIT010"
    LETS_THROUGH = "ADMIT011"
    SOME_INSTANCES = "ADMIT012"
    NAME_DECIDES = "ADMIT013"
    PART_DENIED = "ADMIT014"
    CEILING_BOUNDS = "ADMIT020"
    NO_CEILING = "ADMIT021"
    CEILING_REVOCABLE = "ADMIT022"
    CEILING_EXPIRES = "ADMIT023"
    CEILING_MOVABLE = "ADMIT024"
    CEILING_OWN_INSTALL = "ADMIT025"
    UNCAPPED = "ADMIT026"
    OPERATION_NOT_GIVEN = "ADMIT030"
    NOT_REPLAYED = "ADMIT031"
    TARGET_REFUSED = "ADMIT032"
    NOTHING_ASKED = "ADMIT033"
    NOT_DETERMINABLE = "ADMIT034"
    DENIAL_RECORDED = "ADMIT035"
    DENIAL_NOT_RECORDED = "ADMIT036"
    EVALUATED_AGAIN = "ADMIT037"
    CRASH_DECIDES = "ADMIT038"
    RECORD_DEPENDS = "ADMIT039"
    PART_MISSING = "ADMIT040"
    REPEATED_EFFECT = "ADMIT041"


_REMARKS = {Why.OPERATION_NOT_GIVEN: " (operation not given)", Why.NOT_REPLAYED: " (not replayed)"}
"""What the one-line verdict adds behind a facet."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason of one facet.

    Attributes:
        facet: what it is a reason for.
        why: the kind of reason, with its stable code.
        card: the card it is about, None where it is about none.
        refs: the grants it rests on, the deciding one first.
        detail: a name or text that belongs to the reason (a moment, an instance, a refusal).
        count: how many cards or grants are meant where not all are named.
    """

    facet: FacetName
    why: Why
    card: CardId | None = None
    refs: tuple[GrantRef, ...] = ()
    detail: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question of admission.

    Attributes:
        admitted: may it happen.
        bounded: is the authority used capped.
        replay_stable: does a replay give the same.
        reasons: of all three, in the order in which they are told.
        holds_from: the answer on `admitted` holds from here, None without limit.
        holds_until: and until here (exclusive), None without limit.
    """

    admitted: Facet
    bounded: Facet
    replay_stable: Facet
    reasons: tuple[Reason, ...]
    holds_from: Timestamp | None = None
    holds_until: Timestamp | None = None

    def of(self, name: FacetName) -> Facet:
        """One facet by its name."""
        match name:
            case FacetName.ADMITTED:
                return self.admitted
            case FacetName.BOUNDED:
                return self.bounded
            case FacetName.REPLAY_STABLE:
                return self.replay_stable

    def because(self, name: FacetName) -> tuple[Reason, ...]:
        """The reasons of one facet."""
        return tuple(reason for reason in self.reasons if reason.facet is name)

    @property
    def line(self) -> str:
        """The verdict in one line: `admitted: yes · bounded: no · replay-stable: yes`."""
        return " · ".join(f"{name.value}: {self.of(name).value}{self._remark(name)}" for name in FacetName)

    def _remark(self, name: FacetName) -> str:
        return next((_REMARKS[r.why] for r in self.because(name) if r.why in _REMARKS), "")
