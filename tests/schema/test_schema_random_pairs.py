"""Random pairs: what projects carries every value, what does not has a confirmed witness or a named reason."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from schema.random_types import pair, value

from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.equivalent import SameTypes, are_equivalent
from policyd.core.schema.graph import Graph
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.nominal import Fate, fate
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.project import Plan, project
from policyd.core.schema.reshape import Reshaped, pass_unchanged, reshape
from policyd.core.schema.schema_risks import schema_risks
from policyd.core.schema.validate import validity
from policyd.core.schema.wellformed import faults_of
from policyd.core.schema.witness import Shown, witness
from policyd.usecases.schema_compare import merged
from policyd.usecases.tool_documents import ENGINES, TEXTS

VALUES = 6
"""Values that are sent through each pair that projects."""


def judged(seed: int) -> str:
    """One pair, checked; the word under which it is counted."""
    rng = Random(seed)
    source, target = pair(rng)
    if faults_of(source, ENGINES) or faults_of(target, ENGINES):
        return "not well-formed"
    plan = project(source, target)
    found = witness(source, target, TEXTS)
    assert (found is None) is isinstance(plan, Plan)
    passing = fate(source, target, TEXTS)
    if are_equivalent(source, target):
        assert passing in (Fate.OK, Fate.NO_VALUES)
        assert is_assignable(source.root, source.root, source.definitions)
    for _ in range(VALUES):
        made = value(rng, source.root, source.definitions, TEXTS)
        if made is None or validity(made, source, ENGINES) is not Validity.VALID:
            continue
        if isinstance(plan, Plan) and not schema_risks(source, target):
            shaped = reshape(made, plan, source, target, ENGINES)
            assert isinstance(shaped, Reshaped)
            assert validity(shaped.value, target, ENGINES) is Validity.VALID
        unchanged = pass_unchanged(made, source, target, ENGINES)
        assert not (passing is Fate.OK and not isinstance(unchanged, Reshaped))
        assert not (passing is Fate.FAILS and isinstance(unchanged, Reshaped))
    if isinstance(plan, Plan):
        return "projects"
    if isinstance(found, Shown):
        assert validity(found.value, source, ENGINES) is Validity.VALID
        assert isinstance(carry(found.value, source, target, ENGINES), Refused)
        return "refused with a witness"
    assert isinstance(found, NoWitness)
    assert found is not NoWitness.NOT_FOUND
    return f"refused, {found.name.lower()}"


def shares(seeds: range) -> Counter[str]:
    counted = Counter(judged(seed) for seed in seeds)
    assert counted["projects"] > len(seeds) / 10
    assert counted["refused with a witness"] > len(seeds) / 10
    assert counted["not well-formed"] < len(seeds) / 3
    return counted


def test_a_twentieth_of_the_pairs():
    """A thousand pairs from fixed seeds."""
    shares(range(1000))


@pytest.mark.acceptance
def test_twenty_thousand_pairs():
    """The full count, with the share of each reason printed."""
    counted = shares(range(20_000))
    total = sum(counted.values())
    for word, count in counted.most_common():
        print(f"{count / total:7.2%} {word}")


def test_remembered_equivalence_agrees():
    """Many questions about one set of definitions are answered as each of them alone."""
    for seed in range(300):
        rng = Random(seed)
        source, target = pair(rng)
        both = merged(source, target)
        same = SameTypes(both[0])
        roots = [both[1], both[2], *(item.body for item in both[0].items)]
        for one in roots:
            for other in roots:
                alone = are_equivalent(Graph(one, both[0]), Graph(other, both[0]))
                assert same.holds(one, other) is alone
