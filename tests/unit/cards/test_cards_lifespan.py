"""Lifespans of derived cards, case by case (cards 6.4; G322 to G335)."""

import pytest
from case_files import load_cases

from policyd.core.cards import Timestamp
from policyd.core.cards.lifespan import LifespanRefused, child_expiry, parse_lifespan
from policyd.core.edition import NEXT, SNAPSHOT

NOW = Timestamp.parse("2026-12-24T00:00:00Z")
CASES = [
    pytest.param(case, rules, id=f"{case['id']}-{rules.label}")
    for case in load_cases("cards/lifespan.yaml")
    for rules in (SNAPSHOT, NEXT)
    if case.get("edition", rules.label) == rules.label
]


@pytest.mark.parametrize("case, rules", CASES)
def test_when_a_child_expires(case, rules):
    parent = Timestamp.parse(case["parent"]) if "parent" in case else None
    if "refused" in case:
        with pytest.raises(LifespanRefused) as told:
            child_expiry(NOW, case.get("lifespan"), parent, rules)
        assert told.value.variant == case["refused"]
        assert told.value.text == case.get("text", told.value.text)
        assert told.value.variant != "invalid-pattern" or told.value.text.startswith("invalid ISO-8601 lifespan: ")
        return
    expires = child_expiry(NOW, case.get("lifespan"), parent, rules)
    assert (expires.text if expires else None) == case["expires"]


def test_days_alone_are_whole_days():
    assert parse_lifespan("P3D", NEXT) == 3 * 86_400 * 10**9
