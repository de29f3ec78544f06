"""Values that show why a pair does not project, the fate of values in nominal mode, and the notation of types."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.test_schema_relations import graphs, pairs
from ruamel.yaml import YAML
from schema.shorthand import graph
from schema.shorthand import schema as short

from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.examples import Examples
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.nominal import fate
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.project import Plan, project
from policyd.core.schema.schema_risks import schema_risks
from policyd.core.schema.text_wish import NoText, Texts, TextWish
from policyd.core.schema.type_text import type_text
from policyd.core.schema.types import StringRule, TextRule
from policyd.core.schema.validate import validity
from policyd.core.schema.witness import Shown, witness
from policyd.findings import InputError
from policyd.solver.texts import SolverTexts
from policyd.syntax.patterns import Re2Patterns
from policyd.syntax.type_text import parse_type
from policyd.syntax.urls import WhatwgUrls
from policyd.usecases.tool_documents import ENGINES, TEXTS

CASES = Path(__file__).parents[1] / "cases" / "schema"
PAIRS = YAML(typ="safe").load((CASES / "pairs.yaml").read_text("utf-8"))
WITNESSES = YAML(typ="safe").load((CASES / "witnesses.yaml").read_text("utf-8"))
NOMINAL = YAML(typ="safe").load((CASES / "nominal.yaml").read_text("utf-8"))
TYPES = {row[0]: (row[1], row[2]) for row in PAIRS}


@pytest.mark.parametrize("case", WITNESSES, ids=lambda case: f"{case[0]} into {case[1]}")
def test_witness(case):
    """The smallest value is found, or the reason why there is none."""
    source, target = graph(case[0]), graph(case[1])
    found = witness(source, target, TEXTS)
    if isinstance(found, NoWitness):
        assert found.name.lower().replace("_", "-") == case[2]
        return
    assert isinstance(found, Shown)
    encoded = encode(found.value, source, ENGINES)
    assert isinstance(encoded, Encoded)
    assert encoded.json == json.loads(case[2])


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row[0])
def test_rows_have_a_witness_exactly_where_they_do_not_project(row):
    """A witness is valid in the source and refused by the target; a pair that projects has none."""
    for source, target in ((graph(row[1]), graph(row[2])), (graph(row[2]), graph(row[1]))):
        found = witness(source, target, TEXTS)
        assert (found is None) is isinstance(project(source, target), Plan)
        if isinstance(found, Shown):
            assert validity(found.value, source, ENGINES) is Validity.VALID
            assert isinstance(carry(found.value, source, target, ENGINES), Refused)
        else:
            assert found is not NoWitness.NOT_FOUND


@pytest.mark.parametrize("row", NOMINAL, ids=lambda row: row[0])
def test_nominal_fate(row):
    """What the table says of both directions."""
    expected, inner = (graph(text) for text in TYPES[row[0]])
    assert [fate(expected, inner, TEXTS).value, fate(inner, expected, TEXTS).value] == row[1:]


@pytest.mark.parametrize("row", PAIRS, ids=lambda row: row[0])
def test_notation_is_read_as_it_is_written(row):
    """The text of a type gives the type back."""
    for text in row[1:3]:
        schema = short(text)
        assert parse_type(text) == schema
        assert parse_type(type_text(schema)) == schema


@given(graphs())
def test_every_type_survives_its_text(graph):
    """The notation loses nothing but metadata."""
    for schema in (graph.root, *(item.body for item in graph.definitions.items)):
        assert parse_type(type_text(schema)) == schema


@given(graphs())
def test_examples_are_valid(graph):
    """A type of the generator has a smallest value, which is valid."""
    value = Examples(graph.definitions, Texts(ENGINES)).of(graph.root)
    assert value is not None
    assert validity(value, graph, ENGINES) is Validity.VALID


@given(pairs())
def test_witnesses_are_confirmed(pair):
    """A pair projects and has no witness, or has one that both validators confirm, or a reason of the closed list."""
    source, target = pair
    found = witness(source, target, Texts(ENGINES))
    assert (found is None) is isinstance(project(source, target), Plan)
    if isinstance(found, Shown):
        assert validity(found.value, source, ENGINES) is Validity.VALID
        assert isinstance(carry(found.value, source, target, ENGINES), Refused)
    else:
        assert found is not NoWitness.NOT_FOUND


@pytest.mark.parametrize(
    ("source", "target", "risk"),
    [
        ("list<quantity(base=kg)>", "list<quantity(base=kg,suffixes=[g])>", "RISK_QUANTITY_UNITS"),
        ('union(a: string if prefix("x"))', 'union(a: string if prefix("z"))', "RISK_UNION_DISCRIMINATOR"),
        ("option<secret<&a>>", "option<secret<&a>>", "RISK_SECRET_REF"),
    ],
)
def test_risks(source, target, risk):
    """A pair that is accepted and may fail says so."""
    types = {"a": "u8"}
    assert [found.kind.value for found in schema_risks(graph(source, types), graph(target, types))] == [risk]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", 1),
        ("recrd{}", 1),
        ("list<u8", 8),
        ("u8(5..x)", 7),
        ("u8(-1..)", 4),
        ("u8 u8", 4),
        ("path(input)", 12),
        ('union(a: string if like("x"))', 20),
        ("text(min=1, min=2)", 13),
        ("text(size=1)", 6),
        ("quantity(suffixes=[g])", 23),
        ("enum(a|b", 9),
    ],
)
def test_mistakes_in_the_notation_have_a_place(text, where):
    with pytest.raises(InputError) as refused:
        parse_type(text)
    finding = refused.value.findings[0]
    assert finding.code == "SCHEMA010"
    assert finding.span is not None
    assert finding.span.column == where


def test_deep_notation_is_refused():
    with pytest.raises(InputError):
        parse_type("list<" * 5000 + "u8" + ">" * 5000)


@given(st.text('record{}<>|:u8(),."&enum=[]0-', max_size=40))
def test_no_text_breaks_the_reader(text):
    """Whatever is written is read or refused with a place."""
    spans = []
    try:
        parse_type(text)
    except InputError as refused:
        spans = [finding.span for finding in refused.findings]
    assert None not in spans


@pytest.mark.parametrize(
    ("wish", "found"),
    [
        (TextWish(matches=("^a{3}$",)), "aaa"),
        (TextWish(matches=("^[a-c]+$",), avoids=("a", "b")), "c"),
        (TextWish(matches=("^a+$",), avoids=("^a*$",)), NoText.NONE),
        (TextWish(2, 1), NoText.NONE),
        (TextWish(matches=("(?i)^x$",), avoids=("^[xX]$",)), NoText.UNKNOWN),
        (TextWish(matches=(r"^\d{2}-\w$",)), "00-0"),
        (TextWish(low=4, matches=("^(ab)+$",)), "abab"),
        (TextWish(rules=(StringRule(TextRule.PREFIX, "https://"),), avoids=("^https://$",)), "https://a"),
    ],
)
def test_finding_texts(wish, found):
    """A shortest text, the proof that there is none, or neither; texts are confirmed by the pattern engine."""
    texts = Texts(ENGINES, SolverTexts())
    answer = texts.find(wish)
    if isinstance(found, str):
        assert isinstance(answer, str)
        assert len(answer) == len(found)
        assert texts.fulfils(answer, wish)
    else:
        assert answer is found


def test_engines_of_the_use_cases_are_complete():
    """Hosts have both features."""
    assert isinstance(ENGINES.patterns, Re2Patterns)
    assert isinstance(ENGINES.urls, WhatwgUrls)


def deep(count: int, last: str):
    """A chain of named records, each inside the next; only the innermost one is told by `last`."""
    types = {f"t{i}": f"record{{a: u8, next: &t{i + 1}}}" for i in range(count)}
    return graph("&t0", {**types, f"t{count}": last})


@pytest.mark.parametrize("count", [10, 100, 3000])
def test_deep_types_end(count):
    """However deep types are nested by name, comparing them ends, and what was not followed is never called safe."""
    one, other = deep(count, "record{x: u8}"), deep(count, "record{x: string}")
    assert fate(one, one, TEXTS).value == "ok"
    assert fate(one, other, TEXTS).value == ("fails" if count <= 100 else "partial")
    found = witness(one, other, TEXTS)
    assert isinstance(found, Shown) if count <= 100 else found is NoWitness.TOO_LARGE
    assert schema_risks(one, other) == ()


def test_types_that_share_their_parts_are_compared_once():
    """A type that doubles itself at every name has no more places than names."""
    types = {f"t{i}": f"tuple(&t{i + 1}, &t{i + 1})" for i in range(60)}
    one, other = graph("&t0", {**types, "t60": "u8"}), graph("&t0", {**types, "t60": "u8(0..9)"})
    assert fate(other, one, TEXTS).value == "ok"
    assert fate(one, other, TEXTS).value == "partial"
    assert witness(other, one, TEXTS) is None
    assert isinstance(witness(one, other, TEXTS), NoWitness)
