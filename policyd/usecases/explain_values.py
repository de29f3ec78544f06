"""Explanations as values: what was recognised, what the cards say, the causes, the fixes.

Source: questions 2 (explanation); interface, `explain`; host appendix A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.admission import Facet, Verdict
from policyd.core.edition import Rules
from policyd.core.grants import Target
from policyd.core.operations import Operation
from policyd.explain.causes import Cause
from policyd.explain.near_misses import NearMiss
from policyd.syntax.denials.reading import Denial, Reading
from policyd.usecases.answer import Answer
from policyd.usecases.explain_fixes import Fixes


class Outcome(Enum):
    """What came of it; the exit codes follow from it."""

    EXPLAINED = "explained"
    NO_DENIAL = "no denial"
    DIFFERENT = "several readings that differ"


@dataclass(frozen=True, slots=True)
class ExplainedTarget:
    """One target with what the cards say to it.

    Attributes:
        text: in grant syntax, slots folded back.
        target: concrete, except that its owner is `?agent` while only the type of the asker is known.
        answer: with reasons and places.
        near: the grants that come closest, where no card lends it.
        near_ceilings: of the ceilings that do not list it, the grants that come closest.
    """

    text: str
    target: Target
    answer: Answer
    near: tuple[NearMiss, ...] = ()
    near_ceilings: tuple[NearMiss, ...] = ()

    @property
    def is_admitted(self) -> bool:
        """Whether it is."""
        return self.answer.verdict.admitted is Facet.YES


@dataclass(frozen=True, slots=True)
class OperationReading:
    """One operation that it may have been.

    Attributes:
        operation: its id.
        how_sure: `certain`, `likely` or `possible`.
        why: one clause.
        admitted: what these cards say to it; unknown where its targets cannot be told.
        missing: why they cannot be told, or why it is refused whatever its arguments; empty where its targets tell.
        detail: the reading explained by itself, where readings differ.
    """

    operation: str
    how_sure: str
    why: str
    admitted: Facet
    missing: str = ""
    detail: Explained | None = None


MAX_LISTED = 12
"""More readings than this are told in groups by their verdict, except those that are explained in full."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The readings as a person reads them.

    Attributes:
        single: told one by one.
        groups: the others, by what the cards say.
    """

    single: tuple[OperationReading, ...]
    groups: tuple[tuple[str, tuple[str, ...]], ...] = ()


def listing(readings: Sequence[OperationReading]) -> Listing:
    """All readings one by one, or, where they are many, those that are explained and the rest in groups."""
    if len(readings) <= MAX_LISTED:
        return Listing(tuple(readings))
    single = tuple(r for r in readings if r.detail is not None)
    words = ((Facet.NO, "refused"), (Facet.UNKNOWN, "open"), (Facet.YES, "admitted"))
    groups = (
        (word, tuple(r.operation for r in readings if r.detail is None and r.admitted is facet))
        for facet, word in words
    )
    return Listing(single, tuple(group for group in groups if group[1]))


@dataclass(frozen=True, slots=True)
class Explained:
    """One denial, or one question, explained.

    Attributes:
        sentence: the answer.
        kind: of the denial, as `policyd.syntax.denials` names it.
        verdict: the three facets; None where no target is known.
        denial: what was recognised, None where nothing was pasted.
        operations: what it may have been, the surest first.
        targets: of the surest, in the order in which they are asked.
        causes: proved ones first.
        fixes: what would change it.
        notes: what else must be said.
        is_open: whether readings differ, or none can be decided.
    """

    sentence: str
    kind: str
    verdict: Verdict | None
    denial: Denial | None
    operations: tuple[OperationReading, ...]
    targets: tuple[ExplainedTarget, ...]
    causes: tuple[Cause, ...]
    fixes: Fixes
    notes: tuple[str, ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """The whole answer.

    Attributes:
        who: the holder.
        items: one for each denial in the paste, or the one that was asked about.
        unrecognised: why nothing in the paste is a denial, and what to paste instead.
        rules: the edition.
        notes: what was assumed.
    """

    who: str
    items: tuple[Explained, ...]
    unrecognised: str
    rules: Rules
    notes: tuple[str, ...] = ()

    def noted(self, notes: Sequence[str]) -> Explanation:
        """The same with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def outcome(self) -> Outcome:
        """What came of it."""
        if not self.items:
            return Outcome.NO_DENIAL
        return Outcome.DIFFERENT if any(item.is_open for item in self.items) else Outcome.EXPLAINED


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be explained.

    Attributes:
        reading: what was recognised in a paste; None where nothing was pasted.
        target: as typed, empty if none.
        operation: of the catalogue, None if none was named.
        arguments: of the operation.
    """

    reading: Reading | None = None
    target: str = ""
    operation: Operation | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
