"""What one holder is admitted to, as a set of calls, class by class.

Source: cards 5.1, 5.2, 5.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policyd.core.callsets.callset import (
    CallSet,
    Complement,
    Intersection,
    Products,
    Union,
    within_class,
)
from policyd.core.cards import CardId, GrantRef, Part, Surface
from policyd.core.grants import Target


@dataclass(frozen=True, slots=True)
class Lender:
    """The lower part of one card in one class.

    Attributes:
        card: whose.
        grants: its positives, in order.
        targets: what they cover.
        denials: its negatives, in order.
        denied: what they cover.
    """

    card: CardId
    grants: tuple[GrantRef, ...]
    targets: tuple[Target, ...]
    denials: tuple[GrantRef, ...]
    denied: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class ClassPart:
    """All that decides about one class.

    Attributes:
        lenders: cards that have positives or negatives in this class.
        ceilings: per positive ceiling its targets in this class; an empty one withholds the whole class.
        denied: all upper negatives.
    """

    lenders: tuple[Lender, ...]
    ceilings: tuple[tuple[Target, ...], ...]
    denied: tuple[Target, ...]

    @property
    def contents(self) -> tuple[object, ...]:
        """What the part says, without its places: equal contents admit the same calls."""
        return (tuple((x.targets, x.denied) for x in self.lenders), self.ceilings, self.denied)


@dataclass(frozen=True, slots=True, eq=False)
class Admitted:
    """The calls that a surface admits.

    Attributes:
        surface: the plain evaluator, which confirms every witness.
        calls: the same as a set.
    """

    surface: Surface
    calls: CallSet
    _parts: dict[str, ClassPart] = field(default_factory=dict, repr=False)
    _within: dict[str, CallSet] = field(default_factory=dict, repr=False)
    _surfaces: dict[str, Surface] = field(default_factory=dict, repr=False)

    def part(self, name: str) -> ClassPart:
        """What decides about the class of this name."""
        if not self._parts:
            self._parts.update(_sorted_out(self.surface))
        found = self._parts.get(name)
        return found if found is not None else self._parts[""]

    def of_class(self, name: str) -> Surface:
        """The surface as calls of one class see it, for telling which of its grants are at work.

        A ceiling that says nothing of the class keeps its first grant, because it still withholds the class (E3).
        """
        found = self._surfaces.get(name)
        if found is None:

            def kept(refs: tuple[GrantRef, ...], *, ceiling: bool = False) -> tuple[GrantRef, ...]:
                same = tuple(r for r in refs if r.grant.target.cls.name == name)
                return same or (refs[:1] if ceiling else ())

            surface = self.surface
            lower = tuple(Part(p.card, kept(p.positive), kept(p.negative)) for p in surface.lower)
            upper = tuple(Part(p.card, kept(p.positive, ceiling=True), kept(p.negative)) for p in surface.upper)
            found = self._surfaces[name] = Surface(surface.holder, lower, upper, surface.sources)
        return found

    def within(self, name: str) -> CallSet:
        """The calls of the class of this name."""
        found = self._within.get(name)
        if found is None:
            found = self._within[name] = within_class(self.calls, name)
        return found


def admitted_by(surface: Surface) -> Admitted:
    """The set of calls that `surface` admits; no call is looked at yet.

    The lower bounds join, each without its own negatives; all ceilings and all upper negatives cut.
    """
    lent = Union(tuple(_cut(p) for p in surface.lower if p.positive))
    ceilings = tuple(_targets(p.positive) for p in surface.upper if p.positive)
    denied = tuple(ref for p in surface.upper for ref in p.negative)
    return Admitted(surface, Intersection((lent, *ceilings, Complement(_targets(denied)))))


def _targets(refs: tuple[GrantRef, ...]) -> Products:
    return Products(tuple(ref.grant.target for ref in refs))


def _cut(part: Part) -> CallSet:
    lent = _targets(part.positive)
    return Intersection((lent, Complement(_targets(part.negative)))) if part.negative else lent


def _sorted_out(surface: Surface) -> dict[str, ClassPart]:
    """The parts of all classes that occur; the empty name stands for the others."""
    names = {""}
    lower = [(p.card, _by_class(p.positive), _by_class(p.negative)) for p in surface.lower]
    upper = [(_by_class(p.positive), _by_class(p.negative), bool(p.positive)) for p in surface.upper]
    for _, positive, negative in lower:
        names.update(positive, negative)
    for positive, negative, _ in upper:
        names.update(positive, negative)
    return {
        name: ClassPart(
            tuple(
                Lender(card, tuple(pos.get(name, ())), _plain(pos.get(name, ())), tuple(neg[name]), _plain(neg[name]))
                if name in neg
                else Lender(card, tuple(pos[name]), _plain(pos[name]), (), ())
                for card, pos, neg in lower
                if name in pos or name in neg
            ),
            tuple(_plain(pos.get(name, ())) for pos, _, has in upper if has),
            tuple(t for _, neg, _ in upper for t in _plain(neg.get(name, ()))),
        )
        for name in names
    }


def _by_class(refs: tuple[GrantRef, ...]) -> dict[str, list[GrantRef]]:
    found: dict[str, list[GrantRef]] = {}
    for ref in refs:
        found.setdefault(ref.grant.target.cls.name, []).append(ref)
    return found


def _plain(refs: list[GrantRef] | tuple[GrantRef, ...]) -> tuple[Target, ...]:
    return tuple(ref.grant.target for ref in refs)
