"""Where two types part under relations that only say yes or no: the innermost place, and no way round to it."""

from __future__ import annotations

import pytest
from schema.shorthand import graph

from policyd.usecases.schema_compare import Relation, compare_schemas

CASES = {
    "past a part that is the type itself": (
        ("&T", {"T": "record{a: list<&T>, b: u8}"}),
        ("&T", {"T": "record{a: list<&T>, b: string}"}),
        ".b",
    ),
    "back out of a part that only leads round": (
        ("&A", {"A": "record{x: &B, y: u8}", "B": "record{z: list<&A>}"}),
        ("&A", {"A": "record{x: &B, y: string}", "B": "record{z: list<&A>}"}),
        ".y",
    ),
    "inside a part that leads round and parts itself": (
        ("&A", {"A": "record{x: &B, y: u8}", "B": "record{z: list<&A>, w: u8}"}),
        ("&A", {"A": "record{x: &B, y: u8}", "B": "record{z: list<&A>, w: string}"}),
        ".x.w",
    ),
    "the first of two": (("record{a: u8, b: u8}", {}), ("record{a: s8, b: s8}", {}), ".a"),
    "at the root": (("enum(a|b)", {}), ("enum(b|a)", {}), ""),
}


@pytest.mark.parametrize("relation", [Relation.ASSIGN, Relation.EQUIVALENT], ids=lambda relation: relation.value)
@pytest.mark.parametrize("name", CASES)
def test_place(name, relation):
    """The path is the one by which a person would find it."""
    one, other, path = CASES[name]
    answer = compare_schemas(graph(*one), graph(*other), relation)
    assert (answer.holds, answer.path) == (False, path)
