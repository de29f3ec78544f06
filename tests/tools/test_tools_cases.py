"""The rows of the specification on tools, and cases of our own in the same form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from tools.building import ENGINES, tool

from policyd.core.tools.compat import compatibility
from policyd.core.tools.compat_errors import ErrorRule
from policyd.core.tools.modes import Mode
from policyd.core.tools.tool_faults import ToolFault
from policyd.core.tools.tool_read import read_tool
from policyd.core.tools.tool_write import tool_json
from policyd.core.tools.validate import tool_faults

CASES = Path(__file__).parents[1] / "cases" / "tools"


def cases(name: str) -> list[Any]:
    read = YAML(typ="safe", pure=True).load((CASES / f"{name}.yaml").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in read]


def told(fault: ToolFault) -> str:
    about = (fault.name, fault.value, fault.short, fault.position)
    return " ".join([fault.kind.value, *[part for part in about if part is not None][:1]])


@pytest.mark.parametrize("case", cases("pairs"))
def test_pairs_of_tools(case):
    """Each mode says what the row says, at the place that it names."""
    expected, inner = tool(case["expected"]), tool(case["inner"])
    found = [compatibility(expected, inner, mode, ENGINES) for mode in Mode]
    verdicts = ["A!" if f.is_accepted and f.discarded else "A" if f.is_accepted else "R" for f in found]
    assert verdicts == case["verdicts"].split()
    if "places" in case:
        assert [f.errors[0].where if f.errors else "" for f in found] == case["places"]


@pytest.mark.parametrize("case", cases("pairs"))
def test_tools_read_as_they_are_written(case):
    """The metadata JSON gives the tool back."""
    for side in ("expected", "inner"):
        assert read_tool(tool_json(tool(case[side]))) == tool(case[side])


@pytest.mark.parametrize("case", cases("faults"))
def test_faults(case):
    """A tool has exactly the faults of the case."""
    assert sorted(told(fault) for fault in tool_faults(tool(case["tool"]), ENGINES)) == sorted(case["faults"])


@pytest.mark.parametrize("case", [c for c in cases("pairs") if "invalid" not in c.values[0]["id"]])
def test_a_tool_stands_for_itself(case):
    """Every valid tool with inputs is compatible with itself in strict and nominal mode."""
    for side in ("expected", "inner"):
        same = tool(case[side])
        found = [compatibility(same, same, mode, ENGINES) for mode in (Mode.STRICT_EQUALITY, Mode.NOMINAL)]
        assert len({f.is_accepted for f in found}) == 1
        assert all(f.is_accepted or f.errors[0].kind.value == "NO_CANONICAL_INPUT" for f in found)


def test_the_older_error_rule():
    """Before, an expected error had to exist below, and one known only below was let through."""
    bare, failing = tool({}), tool({"errors": [{"name": "busy"}]})
    for expected, inner, newer, older in ((bare, failing, False, True), (failing, bare, True, False)):
        for mode in (Mode.STRUCTURAL_SUBTYPE, Mode.NOMINAL):
            assert compatibility(expected, inner, mode, ENGINES).is_accepted is newer
            legacy = compatibility(expected, inner, mode, ENGINES, error_rule=ErrorRule.INHERIT_LEGACY)
            assert legacy.is_accepted is older


def test_unwrapped_inputs_of_the_snapshot():
    """Without wrapping, an optional input has the written type, so that a required one fits it."""
    expected = tool({"options": [{"long": "q", "type": "string", "required": True}]})
    inner = tool({"options": [{"long": "q", "type": "string"}]})
    assert not compatibility(expected, inner, Mode.STRUCTURAL_SUBTYPE, ENGINES).is_accepted
    assert compatibility(expected, inner, Mode.STRUCTURAL_SUBTYPE, ENGINES, wraps_optional=False).is_accepted
