"""Differences, proofs, effects and slips, case by case."""

from __future__ import annotations

from typing import Any

import pytest
from callsets.reading import HOLDER, asked, card, cards, filled, grant, surface, titles
from callsets.reading import cases as read

from policyd.core.callsets import (
    Fails,
    Holds,
    Universe,
    admitted_by,
    always,
    ceiling_effects,
    difference,
    effects,
    implies,
    never,
    query,
    slips,
)
from policyd.core.cards import Attenuates, Bound, attenuate
from policyd.core.edition import NEXT
from policyd.core.grants import ANY_VERB, class_named
from policyd.syntax import parse_owner, parse_recipient, parse_target

UNIVERSE = Universe.of(HOLDER)
_LISTS = {
    Bound.LOWER_POSITIVE: "l+",
    Bound.LOWER_NEGATIVE: "l-",
    Bound.UPPER_POSITIVE: "u+",
    Bound.UPPER_NEGATIVE: "u-",
}


@pytest.mark.parametrize("case", read("differences"), ids=titles("differences"))
def test_difference(case: dict[str, Any]) -> None:
    """The witnesses that start and stop are exactly those of the case, each readable and confirmed."""
    before, after = admitted_by(surface(case["before"])), admitted_by(surface(case["after"]))
    for key, new, old in (("started", after, before), ("stopped", before, after)):
        answer = difference(new, old)
        shown = [w.target.text for w in answer.witnesses]
        expected = [filled(text) for text in case.get(key, ())]
        assert shown == expected
        assert answer.is_proved_empty is not bool(expected)
        for witness in answer.witnesses:
            assert parse_target(witness.target.text) == witness.target
            assert witness.causes
            assert witness.obstacles
        assert isinstance(implies(new, old, UNIVERSE), Fails if expected else Holds)


@pytest.mark.parametrize("case", read("proofs"), ids=titles("proofs"))
def test_proof(case: dict[str, Any]) -> None:
    """The question holds, or fails with the call of the case."""
    words = case.get("never", case.get("always"))
    cls = class_named(words["class"], NEXT) if "class" in words else None
    verb = words.get("verb", ANY_VERB)
    owner = parse_owner(filled(words["owner"]), cls.owner) if cls and "owner" in words else None
    resource = asked(words["resource"], cls, verb) if cls and "resource" in words else None
    calls = query(UNIVERSE, cls, owner, verb, resource)
    ask = never if "never" in case else always
    answer = ask(admitted_by(surface(case["cards"])), calls, UNIVERSE)
    if case["expect"] == "holds":
        assert isinstance(answer, Holds)
    else:
        assert isinstance(answer, Fails)
        assert answer.witness.text == filled(case["expect"]["fails"])


@pytest.mark.parametrize("case", read("effects"), ids=titles("effects"))
def test_effects(case: dict[str, Any]) -> None:
    """Every grant has the standing of the case, and every ceiling binds or not as it says."""
    admitted = admitted_by(surface(case["cards"]))
    found = {f"{e.ref.card}.{_LISTS[e.ref.bound]}.{e.ref.index}": e.standing.value for e in effects(admitted)}
    assert found == case["expect"]
    if "binding" in case:
        assert {int(e.card): e.binds for e in ceiling_effects(admitted)} == case["binding"]


@pytest.mark.parametrize("case", read("slips"), ids=titles("slips"))
def test_slips(case: dict[str, Any]) -> None:
    """What slips through a delegation, for whom, and which negatives would stop it."""
    parents, child = cards(case["parents"]), card(case["child"], 9)
    if case.get("accepted"):
        assert isinstance(attenuate(parents, child.bounds), Attenuates)
    found = slips(parents, child)
    expected = {filled(k): [filled(t) for t in v] for k, v in case.get("slips", {}).items()}
    for text, calls in expected.items():
        slip = next(s for s in found if parse_recipient(text) == s.holder)
        assert [w.target.text for w in slip.calls.witnesses] == calls
        assert {r.grant for r in slip.restate} == {grant(t) for t in case.get("restate", ())}
        assert slip.is_stopped is case.get("stopped", "restate" in case)
    assert bool(found) is bool(expected)
