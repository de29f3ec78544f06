"""Middleware lists of manifests and installation parameters, as the specification has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from chains.documents import checked
from ruamel.yaml import YAML

from policyd.analysis.labels import LABELS

CASES = Path(__file__).parents[1] / "cases" / "chains"
LISTS = YAML(typ="safe").load((CASES / "installation.yaml").read_text("utf-8"))
PARAMETERS = YAML(typ="safe").load((CASES / "parameters.yaml").read_text("utf-8"))
LABEL_OF = {row.code: row.label for row in LABELS}


def document(case: dict[str, Any]) -> dict[str, Any]:
    """A document with the lists of a case."""
    definitions = LISTS["definitions"]
    defined = {**definitions["middleware"], **case.get("add", {})}
    tools = {**definitions["tools"], **case.get("tools", {})}
    binding: dict[str, Any] = {}
    if "environment" in case:
        binding["middleware"] = case["environment"]
    if "mode" in case:
        binding["middlewareMergeMode"] = case["mode"]
    environment: dict[str, Any] = {"echo": binding}
    if "wide" in case:
        environment["middleware"] = case["wide"]
    component = {"tools": {"echo": case["component"]}} if "component" in case else {}
    declared = {**{name: {} for name in defined}, **case.get("declared", {})}
    return {
        "profile": case.get("profile", {}),
        "definitions": {"tools": tools, "middleware": defined},
        "tools": {"echo": {}, "middleware": declared},
        "environments": {"prod": {"tools": environment}},
        "components": {"x:y": component},
        "agents": {"X": {"component": "x:y", "tools": {"echo": case["agent"]} if "agent" in case else {}}},
    }


@pytest.mark.parametrize("case", LISTS["cases"], ids=lambda case: case["id"])
def test_lists(case):
    """The chain is folded as the row says, or refused under the label that it names."""
    report = checked(document(case))
    row = next(row for row in report.rows if row.tool == "echo")
    assert row.verdict.value == case.get("verdict", "accept"), [f.message for f in report.findings]
    if "chain" in case:
        assert [layer.name for layer in row.chain.layers] == case["chain"]
    told = {LABEL_OF[finding.code] for finding in report.findings if finding.code in LABEL_OF}
    assert set(case.get("labels", [])) <= told
    if row.verdict.value == "accept":
        assert not report.findings


@pytest.mark.parametrize("case", PARAMETERS, ids=lambda case: case["id"])
def test_parameters(case):
    """Parameters decode untrusted and validate, whether any agent selects the entry or not."""
    entry: dict[str, Any] = {"name": "m"}
    if "parameters" in case:
        entry["parameters"] = case["parameters"]
    written = case.get("type", "record{level: enum(info|debug), limit: u64, note: option<string>}")
    bindings = {"echo": {"middleware": [entry]}}
    report = checked(
        {
            "profile": case.get("profile", {}),
            "definitions": {
                **LISTS["definitions"],
                "middleware": {"m": {"scope": "universal", "version": "1.0.0", "parameters": written}},
            },
            "tools": {"echo": {}, "middleware": {"m": {}}},
            "environments": {"prod": {"tools": bindings if case.get("selected", True) else {"echo": {}}}},
            "components": {"x:y": {}, "x:z": {} if case.get("selected", True) else {"tools": bindings}},
            "agents": {"X": {"component": "x:y", "tools": {"echo": {}}}},
        }
    )
    row = next(row for row in report.rows if row.tool == "echo")
    assert (row.verdict.value == "accept") is case["accepted"], [f.message for f in report.findings]
    told = {LABEL_OF[finding.code] for finding in report.findings}
    assert told == set(case.get("labels", [] if case["accepted"] else ["INVALID_PARAMETERS"]))
    if "path" in case:
        assert f"`{case['path']}`" in report.findings[0].message
    if not case["accepted"]:
        assert report.findings[0].span is not None


def test_the_mode_of_the_environment_counts():
    """I18: each deployment is analysed with the mode that its environment has."""
    wide = {"positionals": [{"name": "n", "type": "u32"}]}
    narrow = {"name": "wide", "positionals": [{"name": "n", "type": "u32(0..9)"}]}

    def verdict(mode: str) -> str:
        return (
            checked(
                {
                    "definitions": {
                        "tools": {"wide": wide, "narrow": narrow},
                        "middleware": {"m": {"presents": "wide", "expects": "wide", "version": "1.0.0"}},
                    },
                    "tools": {"narrow": {}, "middleware": {"m": {}}},
                    "environments": {
                        "prod": {
                            "deployment": {"toolCompatibilityMode": mode},
                            "tools": {"narrow": {"middleware": ["m"]}},
                        }
                    },
                }
            )
            .rows[0]
            .verdict.value
        )

    assert verdict("nominal") == "accept"
    assert verdict("structural-subtype") == "reject"
    assert verdict("strict-equality") == "reject"


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ("nobody", "UNKNOWN_MIDDLEWARE"),
        ("policy@2.0.0", "VERSION_MISMATCH"),
        ({"name": "policy", "parameters": {"a": 1}}, "INVALID_PARAMETERS"),
        ("policy@1.4.0", None),
    ],
)
def test_lists_that_no_agent_selects(entry, label):
    """An entry of a component that implements no agent type is resolved like any other (P15; middleware 2.4)."""
    asked = document({"environment": ["a"]})
    asked["components"]["x:z"] = {"tools": {"echo": {"middleware": [entry]}}}
    report = checked(asked)
    told = [(LABEL_OF[f.code], f.span.path) for f in report.findings]
    place = '$.components["x:z"].tools.echo.middleware[0]'
    assert told == ([] if label is None else [(label, place)])
    row = next(row for row in report.rows if row.tool == "echo")
    assert row.verdict.value == ("accept" if label is None else "reject")
