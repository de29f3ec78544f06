"""Comparing an answer with a recorded one, rule by rule."""

import pytest

from policyd.conformance.compare import differences, same_value

BIG = 2**63 + 1


@pytest.mark.parametrize(
    "recorded, given, same",
    [
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (None, False, False),
        ("1", 1, False),
        (BIG, BIG, True),
        (BIG, BIG - 1, False),
        (BIG, float(BIG), False),
        ([1, 2], [2, 1], False),
        ([1, 2], (1, 2), True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({}, [], False),
    ],
)
def test_values_compare_by_kind_and_exactly(recorded, given, same):
    assert same_value(recorded, given) is same


@pytest.mark.parametrize(
    "recorded, given, places",
    [
        ({"ok": True, "message": "a"}, {"ok": True, "message": "b"}, []),
        ({"ok": True}, {"ok": True, "more": 1}, []),
        ({"ok": True, "x": 1}, {"ok": True}, ["x"]),
        ({"ok": True}, {"ok": 1}, ["ok"]),
        ({"ok": True}, [], ["answer"]),
        ([{"a": 1}], [{"a": 2}], ["answer"]),
        ({"ok": False, "error": {"detail": "x"}}, {"ok": False}, []),
        ({"ok": False, "error": {"kind": "UnknownVerb"}}, {"ok": False}, ["error"]),
        ({"error": {"kind": "A"}}, {"error": {"kind": "B"}}, ["error.kind"]),
        (
            {"error": {"kind": "Malformed", "detail": "one"}},
            {"error": {"kind": "Malformed", "detail": "two"}},
            [],
        ),
        (
            {"error": {"kind": "UnknownClass", "detail": "one"}},
            {"error": {"kind": "UnknownClass", "detail": "two"}},
            ["error.detail"],
        ),
        (
            {"error": {"kind": "UnknownVerb", "detail": {"class": "kv", "verb": "x"}}},
            {"error": {"kind": "UnknownVerb", "detail": {"class": "kv", "verb": "y"}}},
            ["error.detail.verb"],
        ),
        (
            {"error": {"kind": "UnknownVerb", "detail": {"class": "kv"}}},
            {"error": {"kind": "UnknownVerb", "detail": "kv"}},
            ["error.detail.class"],
        ),
        ({"validate": {"ok": True, "witness": ["a"]}}, {"validate": {"ok": True, "witness": []}}, ["validate.witness"]),
        ({"json": {"a": None}}, {"json": {"a": None, "b": 1}}, ["json"]),
    ],
)
def test_differences_name_the_places_that_count(recorded, given, places):
    assert differences(recorded, given) == places
