"""What a pair of tools is told beside its verdict, and the payloads that show why it is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from tools.building import tool

from policyd.core.schema.graph import Graph
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.witness import Shown
from policyd.core.tools.caller_edge import caller_remarks
from policyd.core.tools.compat import compatibility
from policyd.core.tools.modes import Mode
from policyd.core.tools.remarks import pair_remarks
from policyd.core.tools.tool_witness import tool_witness
from policyd.usecases.tool_documents import ENGINES, TEXTS

CASES = Path(__file__).parents[1] / "cases" / "tools"


def cases(name):
    read = YAML(typ="safe", pure=True).load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in read]


def built(short):
    found = tool({key: value for key, value in short.items() if key != "requires_filesystem"})
    return replace(found, requires_filesystem=short.get("requires_filesystem", False))


@pytest.mark.parametrize("case", cases("remarks"))
def test_remarks(case):
    """Exactly the labels of the row, in the mode that accepts the pair."""
    expected, inner = built(case["expected"]), built(case["inner"])
    for mode, key in ((Mode.STRUCTURAL_SUBTYPE, "structural"), (Mode.NOMINAL, "nominal")):
        accepted = compatibility(expected, inner, mode, ENGINES).is_accepted
        assert accepted is (key in case)
        if accepted:
            told = [remark.label for remark in pair_remarks(expected, inner, mode, TEXTS)]
            assert sorted(told) == sorted(case[key])
    assert pair_remarks(expected, inner, Mode.STRICT_EQUALITY, TEXTS) == ()


@pytest.mark.parametrize("case", cases("payloads"))
def test_payloads(case):
    """The smallest payload, or the reason why none shows it."""
    expected, inner = built(case["expected"]), built(case["inner"])
    found = compatibility(expected, inner, Mode.STRUCTURAL_SUBTYPE, ENGINES)
    assert not found.is_accepted
    shown = tool_witness(expected, inner, found.errors[0], TEXTS)
    if "part" not in case:
        assert shown is None
        return
    assert shown is not None
    assert shown.part.value == case["part"]
    if "none" in case:
        assert isinstance(shown.witness, NoWitness)
        assert shown.witness.name.lower().replace("_", "-") == case["none"]
        return
    assert isinstance(shown.witness, Shown)
    encoded = encode(shown.witness.value, shown.graph, ENGINES)
    assert isinstance(encoded, Encoded)
    assert encoded.json == json.loads(case["payload"])


@pytest.mark.parametrize(
    ("caller", "met", "labels"),
    [
        ({}, {}, []),
        ({"positionals": [{"name": "a", "type": "u8"}]}, {"positionals": [{"name": "a", "type": "u8"}]}, []),
        ({}, {"options": [{"long": "x", "type": "u8", "default": 1}]}, ["CALLER_INPUT_NOT_EQUIVALENT"]),
        (
            {"positionals": [{"name": "a", "type": "u8(0..9)"}]},
            {"positionals": [{"name": "a", "type": "u8"}]},
            ["CALLER_INPUT_NOT_EQUIVALENT"],
        ),
        ({"commands": {"x": {}}}, {}, ["CALLER_COMMAND_MISSING"]),
        ({"result": "u8"}, {}, ["CALLER_RESULT_PRESENCE"]),
        ({"result": "u8"}, {"result": "u8(0..9)"}, ["CALLER_RESULT_DRIFT"]),
        ({"result": "u8(0..9)"}, {"result": "u8"}, ["CALLER_RESULT_MISMATCH"]),
        ({}, {"errors": [{"name": "bad"}]}, ["CALLER_UNKNOWN_ERROR"]),
        ({"errors": [{"name": "bad"}]}, {}, []),
        ({"errors": [{"name": "bad"}]}, {"errors": [{"name": "bad", "payload": "u8"}]}, ["CALLER_ERROR_DRIFT"]),
    ],
)
def test_callers(caller, met, labels):
    """There is no slack at the edge of a caller (E14 among others)."""
    assert [remark.label for remark in caller_remarks(tool(caller), tool(met), ENGINES)] == labels


def test_a_caller_of_some_commands_only():
    """Commands that a caller does not use do not count."""
    caller = tool({"commands": {"x": {}, "y": {"positionals": [{"name": "a", "type": "u8"}]}}})
    met = tool({"commands": {"x": {}}})
    assert caller_remarks(caller, met, ENGINES, [("x",)]) == ()
    assert caller_remarks(caller, met, ENGINES, [("y",)])[0].label == "CALLER_COMMAND_MISSING"


def test_a_witness_has_the_type_that_it_is_a_value_of():
    expected, inner = (
        tool({"positionals": [{"name": "n", "type": "u8"}]}),
        tool({"positionals": [{"name": "n", "type": "u8(0..9)"}]}),
    )
    reason = compatibility(expected, inner, Mode.STRUCTURAL_SUBTYPE, ENGINES).errors[0]
    shown = tool_witness(expected, inner, reason, TEXTS)
    assert shown is not None
    assert isinstance(shown.graph, Graph)
