"""Depth and size: everything ends in an answer or a diagnostic, never in a crash."""

from __future__ import annotations

import pytest
from schema.shorthand import graph

from policyd.core.schema.engines import NO_ENGINES
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.json_decode import decode_json, decode_text
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.json_faults import JsonFault, JsonFaultKind
from policyd.core.schema.json_schema import Policy, json_schema
from policyd.core.schema.json_text import MAX_JSON_NESTING, parse_json
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.project import MAX_PLAN_DEPTH, MAX_PLAN_NODES, Mismatch, MismatchKind, Plan, project
from policyd.core.schema.reading import MAX_NESTING
from policyd.core.schema.reshape import Reshaped, reshape
from policyd.core.schema.steps import within
from policyd.core.schema.type_read import read_type
from policyd.core.schema.types import U32, ListType, RefType
from policyd.core.schema.validate import validity
from policyd.core.schema.value_json import read_value, value_json
from policyd.core.schema.wellformed import faults_of
from policyd.core.schema.witness import Shown, witness
from policyd.findings import InputError
from policyd.usecases.tool_documents import TEXTS


def nested_type(depth: int) -> dict[str, object]:
    json: dict[str, object] = {"kind": "u32", "value": {}}
    for _ in range(depth):
        json = {"kind": "list", "value": {"element": json}}
    return json


def chain(length: int, prefix: str = "L") -> Graph:
    """`length` lists inside each other, by references."""
    items = [Definition(f"{prefix}{i}", ListType(RefType(f"{prefix}{i + 1}"))) for i in range(length)]
    return Graph(RefType(f"{prefix}0"), Definitions((*items, Definition(f"{prefix}{length}", U32))))


def test_types_nested_to_the_limit_are_read_and_worked_with():
    """What is read can be checked, written and compared."""
    schema = Graph(read_type(nested_type(MAX_NESTING - 1)))
    assert not faults_of(schema, NO_ENGINES)
    assert are_equivalent(schema, schema)
    assert json_schema(schema, Policy.EMBEDDED)
    assert isinstance(project(schema, schema), Plan)


@pytest.mark.parametrize("depth", [MAX_NESTING, 400, 30_000])
def test_types_nested_deeper_are_refused(depth):
    """One level too many is a diagnostic."""
    with pytest.raises(InputError, match="nested"):
        read_type(nested_type(depth))


def test_values_nested_too_deeply_are_refused():
    """The same for values."""
    json: dict[str, object] = {"kind": "bool", "value": True}
    for _ in range(5000):
        json = {"kind": "option", "value": {"inner": json}}
    with pytest.raises(InputError, match="nested"):
        read_value(json)


def test_json_text_nested_to_the_limit():
    """127 arrays are read, 128 are not, as by the platform."""
    assert parse_json("[" * MAX_JSON_NESTING + "]" * MAX_JSON_NESTING)
    for depth in (MAX_JSON_NESTING + 1, 1_000_000):
        fault = decode_text("[" * depth, graph("string"), NO_ENGINES)
        assert isinstance(fault, JsonFault)
        assert fault.kind is JsonFaultKind.SYNTAX


def test_brackets_in_strings_do_not_nest():
    """Only brackets outside of strings count."""
    assert parse_json('"' + "[" * 1000 + '\\"]"') == "[" * 1000 + '"]'


def test_a_long_linked_list_is_decoded_and_validated():
    """As deep as JSON can be, through records and options."""
    schema = graph("&Node", {"Node": "record{next: option<&Node>}"})
    text = '{"next":' * 120 + "null" + "}" * 120
    value = decode_text(text, schema, NO_ENGINES)
    assert not isinstance(value, JsonFault)
    assert validity(value, schema, NO_ENGINES) is Validity.VALID
    assert encode(value, schema, NO_ENGINES) == Encoded(parse_json(text))
    assert value_json(value)["kind"] == "record"
    plan = project(schema, schema)
    assert isinstance(plan, Plan)
    assert reshape(value, plan, schema, schema, NO_ENGINES) == Reshaped(value)


def test_a_union_of_itself_ends_in_a_diagnostic():
    """An ill-formed type that never consumes anything does not loop."""
    schema = graph("&U", {"U": 'union(a: &U if prefix("x"))'})
    fault = decode_json("x", schema, NO_ENGINES)
    assert isinstance(fault, JsonFault)
    assert fault.kind is JsonFaultKind.TOO_DEEP


@pytest.mark.parametrize("length, fits", [(MAX_PLAN_DEPTH, True), (MAX_PLAN_DEPTH + 1, False), (5000, False)])
def test_projection_stops_at_its_depth(length, fits):
    """127 constructors above a leaf are compared, one more is refused as too large; equivalence has no limit."""
    found = project(chain(length), chain(length, "M"))
    assert isinstance(found, Plan) is fits
    if isinstance(found, Mismatch):
        assert found.kind is MismatchKind.TOO_LARGE
        assert found.path == "[]" * (MAX_PLAN_DEPTH + 1)
    assert are_equivalent(chain(length), chain(length, "M"))


def test_projection_stops_at_its_size():
    """4096 nodes are compared, more are refused."""
    wide = graph("tuple(" + ", ".join(["u8"] * (MAX_PLAN_NODES - 1)) + ")")
    assert isinstance(project(wide, wide), Plan)
    wider = graph("tuple(" + ", ".join(["u8"] * MAX_PLAN_NODES) + ")")
    found = project(wider, wider)
    assert isinstance(found, Mismatch)
    assert found.kind is MismatchKind.TOO_LARGE


def test_recursion_out_of_step_ends():
    """Two spellings of one infinite type whose names never meet are still equivalent."""
    one = graph("&A", {"A": "list<list<&A>>"})
    other = graph("list<&B>", {"B": "list<list<&B>>"})
    assert are_equivalent(one, other)


@pytest.mark.parametrize(("lengths", "shown"), [((100, 100), True), ((200, 200), False), ((1000, 1000, 1000), False)])
def test_lists_of_fixed_length_within_each_other(lengths, shown):
    """The value that shows a difference has as many parts as all lengths together; past the bound none is made."""
    source, target = "u8", "u8(..3)"
    for length in lengths:
        source, target = f"list<{source}; {length}>", f"list<{target}; {length}>"
    with within(200_000):
        found = witness(graph(source), graph(target), TEXTS)
    assert isinstance(found, Shown) if shown else found is NoWitness.TOO_LARGE
