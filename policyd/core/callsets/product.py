"""Finds a call in a Boolean combination of products, or proves that there is none.

The parts of a call are chosen axis by axis: owner, then the parts of the resource. On every axis one
value of each class is tried (`axes`), and a choice is followed only while the formula is not
impossible. Which products still contain the call is all that later steps depend on, so a set of
products that failed once is not tried again. The search ends, because every axis has finitely many classes.

Source: style 10; questions 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policyd.core.callsets.axes import ALL, Axis, Group, Situation
from policyd.core.callsets.budget import Budget
from policyd.core.callsets.callset import CallSet, formula_of
from policyd.core.callsets.formula import FALSE, IMPOSSIBLE, Formula, all_of, weigh
from policyd.core.callsets.frame import Frame
from policyd.core.callsets.owners import owner_component
from policyd.core.callsets.spaces import frames
from policyd.core.callsets.universe import Universe
from policyd.core.grants import Owner, PermissionClass, Target

BOXES_PER_STEP = 32
"""Laying out so many products costs about as much as one step of a search."""


def find_call(
    calls: CallSet, cls: PermissionClass, verb: str, inside: Target | None, universe: Universe, budget: Budget
) -> Target | None:
    """A call of `verb` that belongs to `calls` and to `inside`, or None when it is proved that there is none.

    Args:
        calls: as `within_class` gives it for `cls`.
        cls: the class.
        verb: one of its verbs, never `*`.
        inside: a product in which the call must lie, None for any.
        universe: which calls there are.
        budget: the effort.

    Raises:
        ExhaustedError: when the budget ends first.
    """
    boxes: list[Target] = [] if inside is None else [inside]
    formula = formula_of(calls, cls.name, verb, inside, boxes)
    if inside is not None:
        formula = all_of((1, formula))
    if formula in (FALSE, 0):
        return None
    budget.spend(len(boxes) // BOXES_PER_STEP)
    # A pattern that covers the whole of `inside` contains every call that can still be an answer.
    settled = 0
    if inside is not None:
        settled = sum(1 << n for n, box in enumerate(boxes) if n and box.covers(inside))
        if weigh(formula, (1 << len(boxes)) - 1, settled) == IMPOSSIBLE:
            return None
    resources = [box.resource for box in boxes]
    for shape in universe.shapes(cls, verb):
        owner_axis = universe.owners(cls, shape.owner)
        for frame in frames(universe, cls, verb, shape.resources, resources):
            if inside is not None and frame.project(inside.resource) is None:
                continue
            search = _Search(formula, frame, owner_axis, boxes, inside is not None, settled, budget)
            values = search.descend(0, search.alive, ())
            if values is not None:
                owner, resource = values[0], frame.build(values[1:])
                assert isinstance(owner, Owner)
                assert resource is not None
                return Target(cls, owner, verb, resource)
    return None


@dataclass(slots=True)
class _Search:
    """One frame of one question."""

    formula: Formula
    frame: Frame
    owner_axis: Axis
    boxes: list[Target]
    has_inside: bool
    settled: int
    budget: Budget
    alive: int = 0
    axes: tuple[Axis, ...] = ()
    groups: list[list[Group]] = field(default_factory=list)
    everywhere: list[int] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    within: tuple[object, ...] = ()
    failed: set[tuple[int, int, object]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.axes = (self.owner_axis, *self.frame.axes)
        size = len(self.axes)
        groups: list[dict[object, int]] = [{} for _ in range(size)]
        self.everywhere = [0] * size
        self.closed = [0] * (size + 1)
        project = self.frame.project
        for number, box in enumerate(self.boxes):
            rest = project(box.resource)
            if rest is None:
                continue
            bit = 1 << number
            self.alive |= bit
            parts = (owner_component(box.owner), *rest)
            last = 0
            for place, part in enumerate(parts):
                if part is ALL:
                    self.everywhere[place] |= bit
                else:
                    groups[place][part] = groups[place].get(part, 0) | bit
                    last = place + 1
            for place in range(0 if self.settled & bit else last, size + 1):
                self.closed[place] |= bit
            if number == 0 and self.has_inside:
                self.within = parts
        self.groups = [list(found.items()) for found in groups]
        if not self.within:
            self.within = (ALL,) * size

    def descend(self, place: int, alive: int, chosen: tuple[object, ...]) -> tuple[object, ...] | None:
        """Values for all axes from `place` on behind those chosen, or None."""
        self.budget.spend()
        if weigh(self.formula, alive, alive & self.closed[place]) == IMPOSSIBLE:
            return None
        if place == len(self.axes):
            return chosen if self.frame.build(chosen[1:]) is not None else None
        key = (place, alive, self.frame.memory(chosen[1:]))
        if key in self.failed:
            return None
        everywhere, closed = self.everywhere[place], self.closed[place + 1]

        def viable(possible: int, certain: int) -> bool:
            now = alive & (possible | everywhere)
            sure = now & (((certain | everywhere) & closed) | self.settled)
            return weigh(self.formula, now, sure) != IMPOSSIBLE

        groups = [(part, mask & alive) for part, mask in self.groups[place] if mask & alive]
        situation = Situation(chosen, self.within[place], viable, self.budget)
        for value, mask in self.axes[place].choices(groups, situation):
            found = self.descend(place + 1, alive & (mask | everywhere), (*chosen, value))
            if found is not None:
                return found
        self.failed.add(key)
        return None
