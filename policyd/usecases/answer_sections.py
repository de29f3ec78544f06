"""An answer in the order in which a person reads it: floor, ceilings, exceptions, names, then the other facets.

Source: questions 1, 3.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.admission import Facet, FacetName, Reason, Why
from policyd.usecases.answer import Answer, GrantPlace

_SIDES = (
    ("floor", {Why.GRANTED, Why.NOT_GRANTED, Why.FORBIDDEN, Why.ELSEWHERE, Why.EXPIRED, Why.REVOKED, Why.NO_CARDS}),
    ("ceilings", {Why.LETS_THROUGH, Why.WITHHELD, Why.CEILING_FORBIDS}),
    ("exceptions", {Why.PART_DENIED}),
    ("invocation", {Why.SCOPE_REFUSED}),
    ("names", {Why.SOME_INSTANCES, Why.NAME_DECIDES}),
)


@dataclass(frozen=True, slots=True)
class ToldReason:
    """A reason in words, with the grants it rests on."""

    text: str
    code: str
    places: tuple[GrantPlace, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Reasons that belong together.

    Attributes:
        title: `floor`, `ceilings`, … or the facet.
        facet: `yes`, `no` or `unknown` for a facet of its own, empty for a part of `admitted`.
        remark: what is said where there is no reason.
    """

    title: str
    facet: str
    reasons: tuple[ToldReason, ...]
    remark: str = ""


def sections(answer: Answer) -> tuple[Section, ...]:
    """The reasons of `answer`, grouped and in order."""
    verdict = answer.verdict
    admitted = verdict.because(FacetName.ADMITTED)
    found = []
    for side, kinds in _SIDES:
        reasons = tuple(_told(answer, reason) for reason in admitted if reason.why in kinds)
        if reasons:
            found.append(Section(side, "", reasons))
    if not any(r.why in _SIDES[1][1] for r in admitted) and verdict.admitted is not Facet.UNKNOWN:
        found.append(Section("ceilings", "", (), "none stands in the way"))
    for name in (FacetName.BOUNDED, FacetName.REPLAY_STABLE):
        told = tuple(_told(answer, reason) for reason in verdict.because(name))
        found.append(Section(name.value, verdict.of(name).value, told))
    return tuple(found)


def _told(answer: Answer, reason: Reason) -> ToldReason:
    places = tuple(answer.places[ref] for ref in reason.refs if ref in answer.places)
    return ToldReason(answer.sentence(reason), reason.why.value, places)
