"""The rows of the specification on chains, in all three modes."""

from __future__ import annotations

from pathlib import Path

import pytest
from chains.documents import WORDS, checked, middleware
from ruamel.yaml import YAML

from policyd.analysis.labels import LABELS
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import Profile

FILE = YAML(typ="safe").load((Path(__file__).parents[1] / "cases" / "chains" / "layers.yaml").read_text("utf-8"))
LABEL_OF = {row.code: row.label for row in LABELS}
REJECTED_ONLY = {"NAME_DRIFT"}


def asked(case):
    names = [f"m{i}" for i, _ in enumerate(case["layers"])]
    defined = {name: middleware(layer) for name, layer in zip(names, case["layers"], strict=True)}
    used = {case["over"], *(word for layer in case["layers"] for word in layer.split() if word not in "U?")}
    tools = {name: tool for name, tool in FILE["tools"].items() if name in used}
    tool = FILE["tools"][case["over"]]["name"]
    return {
        "definitions": {"tools": tools, "middleware": defined},
        "chain": {"tool": tool, "layers": names, "leaf": case["over"]},
    }


@pytest.mark.parametrize("case", FILE["chains"], ids=lambda case: case["id"])
def test_chain(case):
    """Each mode says what the row says; an accepted chain presents what the row says."""
    reports = {mode: checked(asked(case), profile=Profile(compatibility_mode=mode)) for mode in Mode}
    verdicts = [report.rows[0].verdict.value for report in reports.values()]
    assert verdicts == [WORDS[word] for word in case["verdicts"].split()]
    row = reports[Mode.STRUCTURAL_SUBTYPE].rows[0]
    effective = row.chain.effective
    assert effective is not None
    if "effective" in case:
        assert effective.name == case["effective"]
    if "errors" in case:
        root = effective.commands[callable_paths(effective)[()].index].body
        assert root is not None
        assert [error.name for error in root.errors] == case["errors"]
    told = sorted(LABEL_OF[finding.code] for finding in row.findings)
    if "labels" in case:
        assert [label for label in told if label not in REJECTED_ONLY or label in case["labels"]] == case["labels"]
    assert len(row.chain.edges) == len(case["layers"])


def test_an_invalid_definition_refuses_chains_that_do_not_use_it():
    """C37: everything registered is validated."""
    unused = {"name": "odd", "positionals": [{"name": "v", "type": "variant(a)"}]}
    report = checked(
        {
            "definitions": {"tools": {"echo": FILE["tools"]["echo"], "odd": unused}},
            "chain": {"tool": "echo", "layers": [], "leaf": "echo"},
        }
    )
    assert report.rows[0].verdict.value == "reject"
    assert any("VariantInInputPosition" in finding.message for finding in report.findings)


def test_a_chain_without_its_definitions_is_not_analysable():
    """Neither a middleware nor a tool that is known by name only is passed over."""
    report = checked(
        {
            "definitions": {"tools": {"echo": FILE["tools"]["echo"]}, "middleware": {"m": middleware("U")}},
            "chain": {"tool": "grep", "layers": ["m"], "leaf": "grep"},
        }
    )
    assert report.rows[0].verdict.value == "undecided"
    assert report.rows[0].not_analysed == ("the definition of tool `grep` was not given",)


def test_adding_a_universal_layer_changes_nothing():
    """Whatever the chain, a universal layer at any place leaves verdict and effective definition as they are."""
    for case in FILE["chains"]:
        bare = checked(asked(case)).rows[0]
        for at in range(len(case["layers"]) + 1):
            layers = [*case["layers"][:at], "U", *case["layers"][at:]]
            more = checked(asked({**case, "layers": layers})).rows[0]
            assert (more.verdict, more.chain.effective) == (bare.verdict, bare.chain.effective)


def test_a_layer_that_stands_twice_is_told_at_both_places():
    """The comparison is remembered, and position, name and neighbour are those of each place."""
    wide = {"result": "variant(a | b)"}
    asked = {
        "definitions": {
            "tools": {"t": {"name": "t", **wide}, "narrow": {"name": "t", "result": "variant(a)"}},
            "middleware": {"m": {"presents": "t", "expects": "narrow", "version": "1", "aliases": ["n"]}},
        },
        "chain": {"tool": "t", "leaf": "t", "layers": ["m", "n", "m"]},
    }
    row = checked(asked).rows[0]
    assert [(edge.layer, edge.name, edge.below) for edge in row.chain.edges] == [
        (1, "m", 2),
        (2, "n", 3),
        (3, "m", None),
    ]
    assert [finding.message.partition(":")[0] for finding in row.findings if "reject" in finding.message] == [
        "layer 1 (m) → layer 2 (n)",
        "layer 2 (n) → layer 3 (m)",
        "layer 3 (m) → t",
    ]
