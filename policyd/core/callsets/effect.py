"""What each grant of a wallet is good for: needed, without effect, shadowed, never usable, never binding.

Every answer is a proof over all calls, or shows a call that hangs on the grant.

Source: cards 5.2; questions 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from policyd.core.callsets.admitted import Admitted, ClassPart, Lender
from policyd.core.callsets.answer import Undecided
from policyd.core.callsets.budget import MAX_STEPS, Effort, Steps, effort_of
from policyd.core.callsets.callset import ALL_CALLS, CallSet, Complement, Intersection, Products, Union, minus
from policyd.core.callsets.search import call_or_undecided
from policyd.core.callsets.universe import Universe
from policyd.core.cards import Bound, CardId, GrantRef
from policyd.core.grants import ANY_VERB, PermissionClass, Target


class Standing(Enum):
    """What a grant does for a holder."""

    NEEDED = "needed"
    NO_EFFECT = "no effect"
    SHADOWED = "shadowed by"
    NEVER_USABLE = "never usable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Effect:
    """What one grant does, with the reason.

    Attributes:
        ref: the grant.
        standing: what it does.
        reason: one line, lower-case.
        related: the grants that shadow or withhold it, in wallet order; empty where none alone does.
        witness: for `NEEDED` a call that is decided otherwise without the grant.
    """

    ref: GrantRef
    standing: Standing
    reason: str
    related: tuple[GrantRef, ...] = ()
    witness: Target | None = None


@dataclass(frozen=True, slots=True)
class CeilingEffect:
    """Whether the positive ceiling of a card withholds anything that the wallet would otherwise admit.

    Attributes:
        card: whose ceiling.
        binds: whether it does; None while undecided.
        witness: a call that it withholds.
        reason: why it is undecided, else empty.
    """

    card: CardId
    binds: bool | None
    witness: Target | None = None
    reason: str = ""


def effects(admitted: Admitted, universe: Universe | None = None, *, steps: Steps = MAX_STEPS) -> tuple[Effect, ...]:
    """What every grant that applies to the holder does, in the order of classes, cards and lists.

    Each is judged alone: of two grants that say the same, both are without effect, but not both together.
    """
    universe = universe or Universe.of(admitted.surface.holder)
    effort = effort_of(steps)
    return tuple(
        effect for cls in universe.classes for effect in _ClassEffects(admitted, cls, universe, effort).effects()
    )


def effect_of(
    admitted: Admitted, ref: GrantRef, universe: Universe | None = None, *, steps: Steps = MAX_STEPS
) -> Effect | None:
    """What one grant does, None where it does not apply to the holder.

    Args:
        admitted: what the wallet admits, the grant among its own.
        ref: the grant, as the surface has it.
        universe: which calls there are; all calls, seen from the holder, where it is None.
        steps: the budget of one search, or an effort shared with other questions.
    """
    universe = universe or Universe.of(admitted.surface.holder)
    found = _ClassEffects(admitted, ref.grant.target.cls, universe, effort_of(steps)).effects(ref)
    return next(found, None)


def ceiling_effects(
    admitted: Admitted, universe: Universe | None = None, *, steps: Steps = MAX_STEPS
) -> tuple[CeilingEffect, ...]:
    """Whether each positive ceiling binds, in wallet order."""
    universe = universe or Universe.of(admitted.surface.holder)
    surface = admitted.surface
    places = [n for n, part in enumerate(surface.upper) if part.positive]
    effort = effort_of(steps)
    return tuple(
        _ceiling_effect(admitted, surface.upper[n].card, position, universe, effort)
        for position, n in enumerate(places)
    )


def _ceiling_effect(
    admitted: Admitted, card: CardId, position: int, universe: Universe, effort: Effort
) -> CeilingEffect:
    undecided = ""
    for cls in universe.classes:
        part = admitted.part(cls.name)
        sets = _ClassEffects(admitted, cls, universe, effort)
        others = [c for n, c in enumerate(sets.ceilings) if n != position]
        calls = Intersection((*others, sets.not_denied, Complement(sets.ceilings[position])))
        for number, lender in enumerate(part.lenders):
            own = minus(calls, sets.negatives[number])
            for target in lender.targets:
                for found in sets.search(target, own):
                    if isinstance(found, Undecided):
                        undecided = undecided or found.reason
                    else:
                        return CeilingEffect(card, True, found)
    return CeilingEffect(card, None if undecided else False, None, undecided)


class _ClassEffects:
    """The grants of one class."""

    def __init__(self, admitted: Admitted, cls: PermissionClass, universe: Universe, effort: Effort) -> None:
        self.admitted, self.cls, self.universe, self.effort = admitted, cls, universe, effort
        self.part: ClassPart = admitted.part(cls.name)
        self.positives = [Products(x.targets) for x in self.part.lenders]
        self.negatives = [Products(x.denied) for x in self.part.lenders]
        self.ceilings = [Products(c) for c in self.part.ceilings]
        self.denied = Products(self.part.denied)
        self.not_denied = Complement(self.denied)
        self.cuts: CallSet = Intersection((*self.ceilings, self.not_denied))
        self.upper = [p for p in admitted.surface.upper if p.positive]
        self.upper_negatives = [
            r for p in admitted.surface.upper for r in p.negative if r.grant.target.cls.name == cls.name
        ]

    def effects(self, only: GrantRef | None = None) -> Iterator[Effect]:
        """Lower grants card by card, then ceilings, then upper negatives; or `only` one of them."""
        for number, lender in enumerate(self.part.lenders):
            for place, ref in enumerate(lender.grants):
                if only in (None, ref):
                    yield self._positive(number, lender, place, ref)
            for place, ref in enumerate(lender.denials):
                if only in (None, ref):
                    yield self._negative(number, lender, place, ref)
        for number, part in enumerate(self.upper):
            refs = [r for r in part.positive if r.grant.target.cls.name == self.cls.name]
            for place, ref in enumerate(refs):
                if only in (None, ref):
                    yield self._ceiling(number, len(part.positive) == 1, place, ref, refs)
        for place, ref in enumerate(self.upper_negatives):
            if only in (None, ref):
                yield self._upper_negative(place, ref)

    def search(self, target: Target, calls: CallSet) -> Iterator[Target | Undecided]:
        """Calls of the set inside a grant, verb by verb."""
        for verb in self.cls.verbs if target.verb == ANY_VERB else (target.verb,):
            yield from call_or_undecided(calls, self.cls, verb, target, self.universe, self.effort)

    def _first(self, target: Target, calls: CallSet) -> Target | Undecided | None:
        undecided: Undecided | None = None
        for found in self.search(target, calls):
            if not isinstance(found, Undecided):
                return found
            undecided = undecided or found
        return undecided

    def _lent(self, *, without: int | None = None, instead: CallSet | None = None) -> CallSet:
        """What all cards lend, one of them replaced or left out."""
        lent = [
            minus(p, n) for k, (p, n) in enumerate(zip(self.positives, self.negatives, strict=True)) if k != without
        ]
        return Union((*lent, *((instead,) if instead is not None else ())))

    def _judged(
        self, ref: GrantRef, hangs: CallSet, applies: CallSet, idle: str, others: Iterable[GrantRef], verb: str
    ) -> Effect:
        """The effect of a grant, from the calls that hang on it and those to which it applies at all."""
        target = ref.grant.target
        found = self._first(target, hangs)
        if isinstance(found, Undecided):
            return Effect(ref, Standing.UNDECIDED, found.reason)
        if found is not None:
            return Effect(ref, Standing.NEEDED, "a call hangs on it", (), found)
        if self._first(target, ALL_CALLS) is None:
            return Effect(ref, Standing.NEVER_USABLE, "no operation can ask for what it names")
        usable = self._first(target, applies)
        if isinstance(usable, Undecided):
            return Effect(ref, Standing.UNDECIDED, usable.reason)
        if usable is None:
            return Effect(ref, Standing.NEVER_USABLE, idle, self._withholding(ref))
        shadows = tuple(o for o in others if o is not ref and o.grant.target.covers(target))
        if shadows:
            return Effect(ref, Standing.SHADOWED, f"another grant alone {verb} everything that it does", shadows)
        return Effect(ref, Standing.NO_EFFECT, "the other grants together decide all of it in the same way")

    def _withholding(self, ref: GrantRef) -> tuple[GrantRef, ...]:
        """The negatives that alone stop everything of a lower positive."""
        if ref.bound is not Bound.LOWER_POSITIVE:
            return ()
        own = [r for x in self.part.lenders if x.card == ref.card for r in x.denials]
        return tuple(r for r in (*own, *self.upper_negatives) if r.grant.target.covers(ref.grant.target))

    def _positive(self, number: int, lender: Lender, place: int, ref: GrantRef) -> Effect:
        own = minus(self.cuts, self.negatives[number])
        rest = self._lent(without=number, instead=minus(self.positives[number].lacking(place), self.negatives[number]))
        # A grant of another card takes this one's place only as far as that card's own negatives let it.
        free = (r for k, x in enumerate(self.part.lenders) for r in x.grants if k == number or not x.denials)
        idle = "its card, a ceiling or an upper negative withholds all of it"
        return self._judged(ref, minus(own, rest), own, idle, free, "lends")

    def _negative(self, number: int, lender: Lender, place: int, ref: GrantRef) -> Effect:
        positives, negatives = self.positives[number], self.negatives[number]
        freed = Intersection((self.cuts, minus(positives, negatives.lacking(place))))
        hangs = minus(freed, self._lent())
        idle = "its card grants nothing that it denies"
        effect = self._judged(ref, hangs, positives, idle, lender.denials, "denies")
        if effect.standing is Standing.NO_EFFECT and isinstance(self._first(ref.grant.target, freed), Target):
            return replace(effect, reason="other cards lend everything that it takes from its own")
        return effect

    def _ceiling(self, number: int, is_last: bool, place: int, ref: GrantRef, refs: Sequence[GrantRef]) -> Effect:
        others = tuple(c for k, c in enumerate(self.ceilings) if k != number)
        lent = self._lent()
        base = Intersection((lent, *others, self.not_denied))
        idle = "the wallet lends nothing that it lets through"
        if is_last:
            return self._lifted(ref, number)
        hangs = minus(base, self.ceilings[number].lacking(place))
        return self._judged(ref, hangs, lent, idle, refs, "lets through")

    def _lifted(self, ref: GrantRef, number: int) -> Effect:
        """The only positive of a ceiling: without it there is no ceiling at all."""
        whole = _ceiling_effect(self.admitted, ref.card, number, self.universe, self.effort)
        if whole.binds is None:
            return Effect(ref, Standing.UNDECIDED, whole.reason)
        if whole.binds:
            return Effect(ref, Standing.NEEDED, "without it there is no ceiling", (), whole.witness)
        return Effect(ref, Standing.NO_EFFECT, "the ceiling that it makes never binds")

    def _upper_negative(self, place: int, ref: GrantRef) -> Effect:
        hangs = Intersection((self._lent(), *self.ceilings, Complement(self.denied.lacking(place))))
        idle = "the wallet lends nothing that it denies"
        return self._judged(ref, hangs, self._lent(), idle, self.upper_negatives, "denies")
