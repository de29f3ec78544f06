"""The rows of the specification on types, values and JSON, and cases of our own in the same form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from schema.shorthand import graph

from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.engines import NO_ENGINES, Engines
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.json_decode import decode_text
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.json_faults import JsonFault, JsonForm
from policyd.core.schema.json_schema import Policy, json_schema
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.project import Plan, project
from policyd.core.schema.type_read import read_graph
from policyd.core.schema.type_write import graph_json
from policyd.core.schema.uuids import parse_uuid
from policyd.core.schema.validate import validity
from policyd.core.schema.wellformed import faults_of
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.urls import WhatwgUrls

CASES = Path(__file__).parents[1] / "cases" / "schema"
ENGINES = Engines(Re2Patterns(), WhatwgUrls())


def rows(name: str) -> list[Any]:
    read = YAML(typ="safe", pure=True).load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(*row[1:], id=str(row[0])) for row in read]


def accepted(holds: bool) -> str:
    return "A" if holds else "R"


@pytest.mark.parametrize("expected, inner, equivalent, as_input, as_result", rows("pairs"))
def test_pairs_of_types(expected, inner, equivalent, as_input, as_result):
    """Equivalence and projection in both directions say what the row says."""
    outer, below = graph(expected), graph(inner)
    assert accepted(are_equivalent(outer, below)) == equivalent
    assert accepted(isinstance(project(outer, below), Plan)) == as_input
    assert accepted(isinstance(project(below, outer), Plan)) == as_result


@pytest.mark.parametrize("expected, inner, equivalent, as_input, as_result", rows("pairs"))
def test_types_read_as_they_are_written(expected, inner, equivalent, as_input, as_result):
    """The JSON form gives the type back."""
    for text in (expected, inner):
        assert read_graph(graph_json(graph(text))) == graph(text)


@pytest.mark.parametrize("type_text, texts, verdict", rows("json"))
def test_canonical_json(type_text, texts, verdict):
    """A text decodes, or fails with the kind of the row; restrictions are looked at afterwards."""
    schema = graph(type_text)
    for text in texts:
        value = decode_text(text, schema, ENGINES, trusted=False)
        if verdict not in ("accept", "invalid"):
            assert isinstance(value, JsonFault)
            assert value.kind.value == verdict, text
            continue
        assert not isinstance(value, JsonFault), value
        assert validity(value, schema, ENGINES) is (Validity.VALID if verdict == "accept" else Validity.INVALID)
        assert isinstance(encode(value, schema, ENGINES), Encoded)


@pytest.mark.parametrize("type_text, types, kinds", rows("wellformed"))
def test_faults(type_text, types, kinds):
    """A schema has exactly the faults of the row."""
    assert sorted(f.kind.value for f in faults_of(graph(type_text, types), ENGINES)) == sorted(kinds)


@pytest.mark.parametrize("type_text, types, kinds", rows("wellformed"))
def test_without_engines_nothing_is_guessed(type_text, types, kinds):
    """Without an engine a regular expression is neither right nor wrong."""
    found = [f.kind.value for f in faults_of(graph(type_text, types), NO_ENGINES)]
    needs = [kind for kind in found if kind == "NeedsPatterns"]
    assert sorted(set(found) - {"NeedsPatterns"}) == sorted(set(kinds) - ({"InvalidTextRegex"} if needs else set()))


def test_values_that_need_a_missing_engine_are_undecided():
    """A regular expression or a URL without an engine gives neither yes nor no."""
    for type_text, text in (('text(regex="^a")', '{"text":"abc"}'), ("url", '"https://example.com/"')):
        schema = graph(type_text)
        value = decode_text(text, schema, NO_ENGINES)
        assert not isinstance(value, JsonFault)
        assert validity(value, schema, NO_ENGINES) is Validity.UNDECIDED
        assert validity(value, schema, ENGINES) is Validity.VALID


def test_a_broken_rule_outweighs_a_missing_engine():
    """A length that does not fit decides, whatever the regular expression would say."""
    schema = graph('text(regex="^a",max=1)')
    value = decode_text('{"text":"abc"}', schema, NO_ENGINES)
    assert not isinstance(value, JsonFault)
    assert validity(value, schema, NO_ENGINES) is Validity.INVALID


def test_older_spellings_are_read_when_asked_for():
    """64-bit integers as numbers and durations as text are the older form."""
    older = JsonForm(wide_ints_as_text=False, durations_as_objects=False)
    for type_text, old, new in (("u64", "5", '"5"'), ("duration", '"PT1.5S"', '{"nanoseconds":"1500000000"}')):
        schema = graph(type_text)
        value = decode_text(old, schema, ENGINES, form=older)
        assert value == decode_text(new, schema, ENGINES)
        assert isinstance(decode_text(new, schema, ENGINES, form=older), JsonFault)
        assert not isinstance(value, JsonFault)
        encoded = encode(value, schema, ENGINES, form=older)
        assert isinstance(encoded, Encoded)
        assert encoded.json == (5 if type_text == "u64" else old.strip('"'))


ASSIGNABLE = [
    ("record{a: u8(0..9)}", "record{a: u8}", True, False),
    ("record{a: u8, b: u8}", "record{a: u8}", False, False),
    ("enum(a|b)", "enum(b|a)", False, False),
    ("variant(a: u8(0..9))", "variant(a: u8)", False, False),
    ("map<u8(0..9), u8>", "map<u8, u8>", True, False),
    ("future<u8(0..9)>", "future<u8>", True, False),
    ("future", "future<u8>", False, False),
    ("stream<u8(0..9)>", "stream<u8>", True, False),
    ("secret<&A>", "secret<&B>", True, True),
    ("&Gone", "&Gone", True, True),
    ("&Gone", "&Lost", False, False),
    ("&L", "&M", True, True),
]


@pytest.mark.parametrize("one, other, forward, backward", ASSIGNABLE)
def test_assignability(one, other, forward, backward):
    """Depth only: exact records, enums and variants; references by what they mean."""
    types = {"A": "string", "B": "&A", "L": "list<option<&L>>", "M": "list<option<&M>>"}
    shared = graph(one, types)
    assert is_assignable(shared.root, graph(other).root, shared.definitions) is forward
    assert is_assignable(graph(other).root, shared.root, shared.definitions) is backward


@pytest.mark.parametrize("policy", [Policy.CANONICAL, Policy.EMBEDDED, Policy.EXTERNAL_INPUT, Policy.EXTERNAL_OUTPUT])
def test_json_schema_policies(policy):
    """The draft marker belongs to one policy; capabilities are refused, redacted or shown in their trusted form."""
    document = json_schema(graph("record{a: option<u8>, s: secret}"), policy)
    assert ("$schema" in document) is (policy is Policy.CANONICAL)
    assert document["required"] == ["s"]
    shown = document["properties"]["s"]
    kinds = {Policy.EXTERNAL_INPUT: "not", Policy.EXTERNAL_OUTPUT: "const"}
    assert kinds.get(policy, "properties") in shown


def test_branches_that_want_one_name():
    """Equal branches share an entry; different ones are told apart by what surrounds them."""
    one, other = 'union(a: string if prefix("x"))', 'union(a: string if prefix("y"))'
    shared = json_schema(graph(f"tuple({one}, {one})"), Policy.EMBEDDED)
    assert sorted(shared["$defs"]) == ["A"]
    apart = json_schema(graph(f"record{{p: {one}, q: list<{other}>}}"), Policy.EMBEDDED)
    assert sorted(apart["$defs"]) == ["ItemA", "PA"]
    taken = json_schema(graph(f"record{{p: {one}}}", {"A": "u8"}), Policy.EMBEDDED)
    assert sorted(taken["$defs"]) == ["A", "PA"]


@pytest.mark.parametrize(
    "text", ["123e4567-e89b-12d3-a456-426614174000", "123E4567E89B12D3A456426614174000",
             "urn:uuid:123e4567-e89b-12d3-a456-426614174000", "{123e4567-e89b-12d3-a456-426614174000}"]
)  # fmt: skip
def test_uuids(text):
    """Every spelling stands for the hyphenated one."""
    assert parse_uuid(text) == "123e4567-e89b-12d3-a456-426614174000"


@pytest.mark.parametrize("text", ["", "x", "123e4567-e89b-12d3-a456-42661417400", "{123e4567e89b12d3a456426614174000}"])
def test_no_uuids(text):
    """Anything else is none."""
    assert parse_uuid(text) is None
