"""The structural procedure agrees with trying every call of small worlds."""

from __future__ import annotations

import random

import pytest
from reference.callsets_brute import WORLDS, Brute, changed_surface, random_surface

from policyd.core.callsets.admitted import admitted_by
from policyd.core.callsets.difference import difference
from policyd.core.callsets.universe import Universe

SHARE = 5_000
"""A fortieth of the full count."""


def disagreements(count: int, seed: int) -> list[str]:
    """Questions on which structure and brute force differ, over `count` random pairs of wallets."""
    rng = random.Random(seed)
    brutes = [Brute(make()) for make in WORLDS]
    found = []
    for number in range(count):
        brute = brutes[number % len(brutes)]
        left = random_surface(brute.world, rng)
        right = changed_surface(left, brute.world, rng) if rng.random() < 0.5 else random_surface(brute.world, rng)
        expected = brute.admitted(left) & ~brute.admitted(right)
        answer = difference(admitted_by(left), admitted_by(right), Universe(), limit=1000)
        if answer.undecided:
            found.append(f"{number} {brute.world.cls.name}: undecided {answer.undecided[0].reason}")
        causes = {(w.target.verb, ref.card, ref.bound, ref.index) for w in answer.witnesses for ref in w.causes}
        for call in brute.calls(expected):
            lent = [
                (call.verb, ref.card, ref.bound, ref.index)
                for part in left.lower
                if part.denying(call) is None
                for ref in part.positive
                if ref.grant.target.covers(call)
            ]
            missing = [ref for ref in lent if ref not in causes]
            if missing:
                found.append(f"{number} {brute.world.cls.name}: no witness like `{call.text}` for {missing}")
                break
        shown = [w.target for w in answer.witnesses if w.target.verb in brute.world.verbs]
        if shown and not expected:
            found.append(f"{number} {brute.world.cls.name}: `{shown[0].text}` lies outside the world")
    return found


def test_structure_agrees_with_brute_force() -> None:
    """A difference is proved empty exactly when no call shows it, and every causing grant has a witness."""
    assert disagreements(SHARE, 1) == []


@pytest.mark.acceptance
def test_structure_agrees_with_brute_force_on_the_full_count() -> None:
    """The same on two hundred thousand pairs."""
    assert disagreements(200_000, 2) == []
