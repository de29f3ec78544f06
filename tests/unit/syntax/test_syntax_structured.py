"""The structured form: golden cases G052 to G055, and the order of its checks (cards 1.5 P9)."""

import json
from pathlib import Path

import pytest

from policyd.core.cards import Bound, Bounds, Refused
from policyd.core.edition import SNAPSHOT
from policyd.syntax import GrantSyntaxError, parse_fields, parse_grant
from policyd.syntax.wanted import wanted_bounds

LINES = (Path(__file__).parents[2] / "cases" / "grants" / "structured.jsonl").read_text(encoding="ascii").splitlines()


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in map(json.loads, LINES)])
def test_golden(case):
    if "rendered" in case["expect"]:
        assert parse_fields(*case["fields"], SNAPSHOT).text == case["expect"]["rendered"]
        return
    with pytest.raises(GrantSyntaxError) as told:
        parse_fields(*case["fields"], SNAPSHOT)
    assert told.value.kind.value == case["expect"]["kind"]
    assert told.value.detail == case["expect"]["detail"]


def test_the_slot_guard_comes_first():
    with pytest.raises(GrantSyntaxError) as told:
        parse_fields("warp", "x", "?agent", "z", "q")
    assert (told.value.kind.value, told.value.detail) == ("SlotVariableInConcreteGrant", "?agent")


def test_the_place_counts_from_the_text_put_together():
    with pytest.raises(GrantSyntaxError) as told:
        parse_fields("kv", "a/b/c", "*", "raed", "s.k")
    assert "kv(a/b/c) @ * : raed : s.k"[told.value.start : told.value.end] == "raed"


def test_lists_may_mix_texts_and_fields():
    wanted = wanted_bounds(
        {
            Bound.LOWER_POSITIVE: ["kv(a/b/c) @ * : read : s.k", ("kv", "a/b/c", "*", "list", "s.k")],
            Bound.UPPER_NEGATIVE: ["agent(a/b/c/d/*) @ * : debug : *"],
        }
    )
    assert isinstance(wanted, Bounds)
    assert [g.target.verb for g in wanted.lower_positive] == ["read", "list"]
    assert len(wanted.upper_negative) == 8
    assert wanted.lower_positive[0] == parse_grant("kv(a/b/c) @ * : read : s.k")


def test_the_first_list_that_is_wrong_decides():
    """Lists are read in the order L+, L-, U+, U-, whatever the order in which they are given."""
    wanted = wanted_bounds({Bound.UPPER_POSITIVE: ["kv(x) @ * : a : b"], Bound.LOWER_NEGATIVE: ["warp() @ * : a : b"]})
    assert wanted == Refused("unknown-resource-class", "warp")
