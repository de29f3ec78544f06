"""What one wallet admits and another does not: a proof of nothing, or witnesses that cover it.

Grant by grant: whatever is admitted is lent by some grant, so it is enough to look inside every lower
positive of the admitting side, near what overlaps it there. Grants that stand on both sides under the
same conditions need no look at all, so the price follows what changed.

Source: questions 2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.callsets.admitted import Admitted, ClassPart, Lender
from policyd.core.callsets.answer import Undecided
from policyd.core.callsets.budget import MAX_STEPS, Effort, Steps, effort_of
from policyd.core.callsets.callset import NO_CALLS, CallSet, Complement, Intersection, Products
from policyd.core.callsets.index import ClassIndex
from policyd.core.callsets.search import call_or_undecided
from policyd.core.callsets.universe import Universe
from policyd.core.callsets.witness import Witness, confirmed
from policyd.core.grants import ANY_VERB, PermissionClass, Target

MAX_WITNESSES = 20
"""So many witnesses are worked out and confirmed; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The calls that one side admits and the other does not.

    Attributes:
        witnesses: at least one per class, verb and causing grant, smallest first within each class and verb;
            at most as many as asked for.
        more: how many further ones were found.
        undecided: searches that ended early, one reason each.
        classes: over how many classes it was asked.
        left_out: what was not asked about.
    """

    witnesses: tuple[Witness, ...]
    more: int
    undecided: tuple[Undecided, ...]
    classes: int
    left_out: tuple[str, ...] = ()

    @property
    def is_proved_empty(self) -> bool:
        """Whether it is proved that there is no such call."""
        return not self.witnesses and not self.undecided

    @property
    def count(self) -> int:
        """How many kinds of calls were found: different witnesses, shown or not."""
        return len(self.witnesses) + self.more


def difference(
    admitting: Admitted,
    refusing: Admitted,
    universe: Universe | None = None,
    *,
    limit: int = MAX_WITNESSES,
    steps: Steps = MAX_STEPS,
) -> Difference:
    """What `admitting` admits and `refusing` does not.

    Args:
        admitting: the side whose grants cause the witnesses.
        refusing: the other side.
        universe: which calls there are; all calls, seen from the holder of `admitting`, where it is None.
        limit: the most witnesses to return.
        steps: the budget of one search, or an effort shared with other questions.

    Raises:
        InternalDefect: when the plain evaluator does not confirm a witness.
    """
    universe = universe or Universe.of(admitting.surface.holder)
    found: dict[Target, None] = {}
    undecided: list[Undecided] = []
    effort = effort_of(steps)
    for cls in universe.classes:
        calls, notes = _of_class(admitting, refusing, cls, universe, effort)
        found.update(dict.fromkeys(calls))
        undecided += notes
    witnesses = tuple(confirmed(t, admitting, refusing) for t in list(found)[:limit])
    more = max(0, len(found) - limit)
    return Difference(witnesses, more, tuple(dict.fromkeys(undecided)), len(universe.classes), universe.left_out)


def _of_class(
    admitting: Admitted, refusing: Admitted, cls: PermissionClass, universe: Universe, effort: Effort
) -> tuple[list[Target], list[Undecided]]:
    """The witnesses of one class, smallest first within each verb."""
    ours, theirs = admitting.part(cls.name), refusing.part(cls.name)
    if not ours.lenders or ours is theirs or ours.contents == theirs.contents:
        return [], []
    if not all(ours.ceilings):
        return [], []
    search = _Search(admitting, refusing, cls, universe, effort)
    found = [call for lender in ours.lenders for call in search.through(lender)]
    found += search.behind_negatives(found)
    verbs = {verb: place for place, verb in enumerate(cls.verbs)}
    ordered = sorted(dict.fromkeys(found), key=lambda t: (verbs[t.verb], len(t.text), t.text))
    return ordered, search.undecided


class _Search:
    """The searches of one class."""

    def __init__(
        self, admitting: Admitted, refusing: Admitted, cls: PermissionClass, universe: Universe, effort: Effort
    ) -> None:
        self.cls, self.universe, self.effort = cls, universe, effort
        self.ours, self.theirs = admitting.part(cls.name), refusing.part(cls.name)
        self.admitting, self.refusing = admitting, refusing
        self.undecided: list[Undecided] = []
        cuts: list[CallSet] = [Products(ceiling) for ceiling in self.ours.ceilings]
        if self.ours.denied:
            cuts.append(Complement(Products(self.ours.denied)))
        self.cuts = tuple(cuts)
        self.shared = _Shared(self.ours, self.theirs)

    def through(self, lender: Lender) -> Iterator[Target]:
        """A witness for every grant and verb of one card that has any."""
        unchanged = self.shared.grants(lender)
        changed = [t for t in dict.fromkeys(lender.targets) if t not in unchanged]
        if changed:
            own = (Complement(Products(lender.denied)),) if lender.denied else ()
            calls = Intersection((*own, *self.cuts, self._refused()))
            for target in changed:
                yield from self._inside(target, calls)

    def behind_negatives(self, found: list[Target]) -> list[Target]:
        """Witnesses for negatives of the refusing side alone that cover none of those found."""
        ours = {t for x in self.ours.lenders for t in x.denied} | set(self.ours.denied)
        theirs = [t for x in self.theirs.lenders for t in x.denied] + list(self.theirs.denied)
        more: list[Target] = []
        further = [n for n in dict.fromkeys(theirs) if n not in ours]
        calls = Intersection((self.admitting.within(self.cls.name), self._refused())) if further else NO_CALLS
        for negative in further:
            if not any(negative.covers(t) for t in (*found, *more)):
                more += self._inside(negative, calls)
        return more

    def _refused(self) -> CallSet:
        return Complement(self.refusing.within(self.cls.name))

    def _inside(self, target: Target, calls: CallSet) -> Iterator[Target]:
        verbs = self.cls.verbs if target.verb == ANY_VERB else (target.verb,)
        for verb in verbs:
            for found in call_or_undecided(calls, self.cls, verb, target, self.universe, self.effort):
                if isinstance(found, Undecided):
                    self.undecided.append(found)
                else:
                    yield found


class _Shared:
    """Which grants of one side need no look, because the other side has them under the same conditions."""

    def __init__(self, ours: ClassPart, theirs: ClassPart) -> None:
        self._denied = frozenset(ours.denied)
        ceilings = [frozenset(c) for c in ours.ceilings]
        # INVARIANT: what passes all our ceilings passes all of theirs but these.
        self._further = [ClassIndex(c) for c in theirs.ceilings if not any(ceiling.issubset(c) for ceiling in ceilings)]
        self._theirs = [(frozenset(x.targets), {*x.denied, *theirs.denied}) for x in theirs.lenders]

    def grants(self, lender: Lender) -> frozenset[Target]:
        """Grants of `lender` that the other side lends: by one card, inside its ceilings, no further negatives near."""
        cut = self._denied.union(lender.denied)
        kept: set[Target] = set()
        for targets, denied in self._theirs:
            same = [t for t in lender.targets if t in targets and t not in kept and self._passes(t)]
            further = [n for n in denied if n not in cut] if same else []
            if further:
                index = ClassIndex(further)
                same = [t for t in same if next(index.near(t.verb, t), None) is None]
            kept.update(same)
        return frozenset(kept)

    def _passes(self, target: Target) -> bool:
        """Whether one grant of every further ceiling covers the whole of `target`, and so all its calls."""
        return all(any(b.covers(target) for b in c.near(target.verb, target)) for c in self._further)
