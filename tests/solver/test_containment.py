"""The structural procedure and the solver's finite encoding say the same."""

from __future__ import annotations

import random

import pytest
from reference.callsets_brute import WORLDS, changed_surface, random_surface

from policyd.core.callsets import Universe, admitted_by, difference
from policyd.solver.answer import Fails, Holds
from policyd.solver.questions import contained, cross_check

SHARE = 160
"""The share of the full count that runs every time."""
TIMEOUT_MS = 20_000


def disagreements(count: int, seed: int) -> list[str]:
    """Pairs of wallets on which structure and solver differ, or on which one of them is undecided."""
    rng = random.Random(seed)
    worlds = [make() for make in WORLDS]
    found = []
    for number in range(count):
        world = worlds[number % len(worlds)]
        left = random_surface(world, rng)
        right = changed_surface(left, world, rng) if rng.random() < 0.5 else random_surface(world, rng)
        answer = difference(admitted_by(left), admitted_by(right), Universe(), limit=1000)
        verb = rng.choice(world.verbs)
        shown = [w.target for w in answer.witnesses if w.target.verb == verb]
        verdict = contained(left, right, world.cls, verb, Universe(), TIMEOUT_MS)
        if answer.undecided or not isinstance(verdict, Fails if shown else Holds):
            found.append(f"{number} {world.cls.name} {verb}: {shown[:1]} against {verdict}")
    return found


def test_solver_agrees_with_structure() -> None:
    """Random wallets of all resource kinds: containment holds for both or for neither."""
    assert disagreements(SHARE, 21) == []


@pytest.mark.acceptance
def test_solver_agrees_with_structure_on_the_full_count() -> None:
    """The same on twenty thousand pairs."""
    assert disagreements(20_000, 22) == []


def test_cross_check_finds_a_wrong_answer() -> None:
    """A right difference passes, an empty one in its place is contradicted class by class."""
    rng = random.Random(23)
    world = WORLDS[2]()
    left, right = random_surface(world, rng), random_surface(world, rng)
    while not difference(admitted_by(left), admitted_by(right), Universe()).witnesses:
        left, right = random_surface(world, rng), random_surface(world, rng)
    good = difference(admitted_by(left), admitted_by(right), Universe(), limit=1000)
    empty = difference(admitted_by(left), admitted_by(left), Universe())
    assert cross_check(good, left, right, Universe(), TIMEOUT_MS) == ((), ())
    wrong, unknown = cross_check(empty, left, right, Universe(), TIMEOUT_MS)
    assert {(w.cls, w.verb) for w in wrong} == {(w.target.cls.name, w.target.verb) for w in good.witnesses}
    assert unknown == ()
    assert wrong[0].structure == "no difference"
