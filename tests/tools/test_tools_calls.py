"""One call of a tool: its input record, its constraints, its arguments, and values on their way through a pair."""

from __future__ import annotations

from typing import Any

import pytest
from schema.shorthand import graph
from tools.building import ENGINES, literal, tool

from policyd.core.schema.reshape import Reshaped, Stage, Unshaped
from policyd.core.schema.type_write import type_json
from policyd.core.schema.types import RecordType
from policyd.core.schema.values import RecordValue, StreamValue
from policyd.core.tools.arguments import MAX_COUNT, NoArguments, canonical_arguments
from policyd.core.tools.canonical_input import CanonicalInput, canonical_input
from policyd.core.tools.compat import CommandLink, compatibility
from policyd.core.tools.constraints import Given, first_broken
from policyd.core.tools.middleware import EmbeddedFaults, middleware_faults, read_middleware
from policyd.core.tools.modes import Mode
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind
from policyd.core.tools.tool_read import read_tool
from policyd.findings import InputError

GREP = tool(
    {
        "name": "grep",
        "globals": {"flags": [{"long": "verbose", "count": 3}], "options": [{"long": "color", "type": "string"}]},
        "commands": {
            "search": {
                "aliases": ["s"],
                "positionals": [{"name": "pattern", "type": "string"}, {"name": "n", "type": "u32", "required": False}],
                "tail": {"name": "files", "item": "path(input,any)", "separator": "--"},
                "options": [
                    {"long": "max", "type": "u32", "default": 100},
                    {"long": "tag", "list": "string", "separator": ","},
                    {"long": "define", "map": "map<string, u8>"},
                ],
                "flags": [{"long": "color", "default": True, "negatable": True}],
                "constraints": [
                    {"requires-any": ["pattern", "files"]},
                    {"forbids": {"if-any": ["max"], "then": ["tag"]}},
                    {"implies": {"if-all": [{"name": "tag", "is": "x", "type": "string"}], "then-any": ["define"]}},
                    {"mutex-groups": [["verbose"], ["n"], []]},
                    {"all-or-none": ["define", "n"]},
                ],
            }
        },
    }
)


def record(**given: Any) -> RecordValue:
    """An input record of `grep search`, from canonical JSON."""
    wanted = {"verbose": 0, "pattern": "p", "n": None, "files": [], "max": 100, "tag": [], "define": [], "color": True}
    found = canonical_input(GREP, ("search",), ENGINES)
    assert isinstance(found, CanonicalInput)
    root = found.graph.root
    assert isinstance(root, RecordType)
    value = literal({**wanted, **given}, root, {})
    assert isinstance(value, RecordValue)
    return value


def test_the_record_is_in_canonical_order():
    """Globals from the root down, positionals, tail, options, flags; a global hidden by the body is left out."""
    found = canonical_input(GREP, ("s",), ENGINES)
    assert isinstance(found, CanonicalInput)
    names = [field.name for field in found.fields]
    assert names == ["verbose", "pattern", "n", "files", "max", "tag", "define", "color"]
    kinds = [type_json(field.type)["kind"] for field in found.fields]
    assert kinds == ["u32", "string", "option", "list", "u32", "list", "map", "bool"]


@pytest.mark.parametrize("path", [("gone",), ("search", "gone"), ("search", "search")])
def test_paths_that_lead_nowhere(path):
    """A path is resolved step by step, by name or alias."""
    found = canonical_input(GREP, path, ENGINES)
    assert isinstance(found, ToolFault)
    assert found.kind is ToolFaultKind.INVALID_COMMAND_PATH


@pytest.mark.parametrize(
    "given, broken",
    [
        ({}, None),
        ({"pattern": ""}, None),
        ({"max": 7, "tag": ["a"]}, 1),
        ({"tag": ["x"]}, 2),
        ({"verbose": 1, "n": 1, "define": [["a", 1]]}, 3),
        ({"n": 1}, 3),
        ({"define": [["a", 1]]}, 4),
        ({"verbose": 1}, 3),
    ],
)
def test_constraints(given, broken):
    """The first constraint that does not hold is told; an empty group counts as holding."""
    found = canonical_input(GREP, ("search",), ENGINES)
    assert isinstance(found, CanonicalInput)
    body = GREP.commands[found.node].body
    assert body is not None
    assert first_broken(body.constraints, Given.of(found.fields, record(**given))) == broken


@pytest.mark.parametrize(
    "given, words",
    [
        ({}, ['"p"', "--max=100"]),
        ({"verbose": 2, "n": 3}, ["--verbose", "--verbose", '"p"', "3", "--max=100"]),
        ({"files": ["a", "b c"]}, ['"p"', "--", "a", "b c", "--max=100"]),
        ({"tag": ["x", "y"], "define": [["k", 1], ["l", 2]]}, None),
        ({"color": False}, ['"p"', "--max=100", "--no-color"]),
    ],
)
def test_arguments(given, words):
    """Absent inputs are left out, defaults are written, flags only where they differ from theirs."""
    wanted = words or ['"p"', "--max=100", '--tag="x","y"', '--define="k"=1', '--define="l"=2']
    assert canonical_arguments(GREP, ("search",), record(**given)) == tuple(wanted)


def test_arguments_of_the_snapshot():
    """Everything is written through its type there."""
    echo = tool({"options": [{"long": "o", "type": "option<u8>"}]})
    for json, by_type, by_definition in ((None, ("--o=none",), ()), (3, ("--o=some(3)",), ("--o=3",))):
        value = RecordValue((literal(json, graph("option<u8>").root, {}),))
        old = canonical_arguments(echo, (), value, wraps_optional=False, by_definition=False)
        assert old == by_type
        assert canonical_arguments(echo, (), value) == by_definition


def test_arguments_that_cannot_be_written():
    """Unknown commands, records of another shape, counts beyond the maximum."""
    assert isinstance(canonical_arguments(GREP, ("gone",), record()), NoArguments)
    assert isinstance(canonical_arguments(GREP, ("search",), RecordValue(())), NoArguments)
    assert isinstance(canonical_arguments(GREP, ("search",), record(verbose=4)), NoArguments)
    endless = tool({"flags": [{"long": "v", "count": None}]})
    count = RecordValue((literal(MAX_COUNT + 1, graph("u32").root, {}),))
    assert isinstance(canonical_arguments(endless, (), count), NoArguments)


def link(expected: dict[str, Any], inner: dict[str, Any], mode: Mode) -> CommandLink:
    found = compatibility(tool(expected), tool(inner), mode, ENGINES)
    assert found.is_accepted, found.errors
    return found.commands[0]


def test_an_input_is_rebuilt_by_name():
    """Reordered, defaults put in, the rest thrown away together with its streams."""
    expected = {"positionals": [{"name": n, "type": t} for n, t in (("b", "u8"), ("s", "stream"), ("a", "u8"))]}
    inner = {"positionals": [{"name": "a", "type": "u8"}, {"name": "b", "type": "u8"}],
             "options": [{"long": "c", "type": "u8", "default": 9}]}  # fmt: skip
    one, two, nine = (literal(n, graph("u8").root, {}) for n in (1, 2, 9))
    for mode in (Mode.STRUCTURAL_SUBTYPE, Mode.NOMINAL):
        carried = link(expected, inner, mode).input.carry(RecordValue((one, StreamValue(7), two)), ENGINES)
        assert carried == Reshaped(RecordValue((two, one, nine)), (), (7,))


def test_results_are_reshaped_in_structural_mode_only():
    """Nominal mode passes a value on as it is, if it fits both sides."""
    expected, inner = {"result": "enum(b|a)"}, {"result": "enum(a|b)"}
    first = literal("a", graph("enum(a|b)").root, {})
    second = literal("b", graph("enum(a|b)").root, {})
    structural = link(expected, inner, Mode.STRUCTURAL_SUBTYPE).result
    nominal = link(expected, inner, Mode.NOMINAL).result
    assert structural is not None
    assert nominal is not None
    assert structural.carry(first, ENGINES) == Reshaped(second)
    assert nominal.carry(first, ENGINES) == Reshaped(first)


def test_values_fail_at_their_stage():
    """Before the way, on it in nominal mode, behind it where discriminators differ."""
    narrow = link({"result": "u8(0..9)"}, {"result": "u8"}, Mode.NOMINAL).result
    assert narrow is not None
    big, text = literal(10, graph("u8").root, {}), literal("x", graph("string").root, {})
    assert isinstance(found := narrow.carry(text, ENGINES), Unshaped)
    assert found.stage is Stage.SOURCE
    assert isinstance(found := narrow.carry(big, ENGINES), Unshaped)
    assert found.stage is Stage.VALUE
    union = 'union(a: string if prefix("{}"))'
    other = link({"result": union.format("z")}, {"result": union.format("x")}, Mode.STRUCTURAL_SUBTYPE).result
    assert other is not None
    value = literal("x1", graph(union.format("x")).root, {})
    assert isinstance(found := other.carry(value, ENGINES), Unshaped)
    assert found.stage is Stage.TARGET


BARE = {"version": "1", "commands": {"nodes": [{"name": "t"}]}}


@pytest.mark.parametrize(
    "json, place",
    [
        (1, "$"),
        ({"version": "1"}, "$"),
        ({"version": 1, "commands": {"nodes": []}}, "$.version"),
        ({"version": "1", "commands": {"nodes": [{"name": "t", "subcommands": ["x"]}]}}, "nodes[0].subcommands[0]"),
        ({"version": "1", "commands": {"nodes": [{"name": "t", "body": {}}]}}, "nodes[0].body"),
        (
            {"version": "1", "commands": {"nodes": [{"name": "t", "body": {"flags": [{"long": "f", "shape": {}}]}}]}},
            "nodes[0].body.flags[0].shape",
        ),
        ({**BARE, "schema": {"defs": [{"id": "a", "body": {"kind": "u9", "value": {}}}]}}, "$.schema.defs[0].body"),
    ],
)
def test_unreadable_tools_name_the_place(json, place):
    """A slip in the JSON is told with its place."""
    with pytest.raises(InputError) as caught:
        read_tool(json)
    assert place in caught.value.findings[0].message


def test_middleware():
    """Names, aliases and the tools inside are judged; the schema of the parameters is only read."""
    parameters = {"root": {"kind": "list", "value": {"element": {"kind": "ref", "value": {"id": "Gone"}}}}}
    json = {
        "name": "audit",
        "version": " ",
        "aliases": ["audit", "B"],
        "scope": {"kind": "monomorphic", "value": {"presented": {**BARE, "version": ""}, "expected": BARE}},
        "parameter_schema": parameters,
    }
    found = middleware_faults(read_middleware(json), ENGINES)
    kinds = [fault.part if isinstance(fault, EmbeddedFaults) else fault.kind.value for fault in found]
    assert kinds == ["EmptyVersion", "DuplicateIdentity", "InvalidIdentifier", "presented"]
    sound = {**json, "version": "1", "aliases": [], "scope": {"kind": "universal"}}
    assert not middleware_faults(read_middleware(sound), ENGINES)
    with pytest.raises(InputError):
        read_middleware({**json, "scope": {"kind": "other"}})
