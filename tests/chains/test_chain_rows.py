"""Rows of the worked examples that need a form of their own, and that no row of the others is forgotten."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from chains.documents import checked
from ruamel.yaml import YAML
from schema.shorthand import schema
from tools.building import tool

from policyd.analysis.labels import LABELS
from policyd.core.edition import NEXT
from policyd.core.schema.types import Metadata, RecordType
from policyd.core.tools.compat import compatibility
from policyd.core.tools.modes import Mode
from policyd.core.tools.tool import Formatter, ResultContract
from policyd.manifest import describe, load_text, resolve_environment
from policyd.usecases import reflect
from policyd.usecases.tool_documents import ENGINES

TESTS = Path(__file__).parents[1]
ROWS = YAML(typ="safe").load((TESTS / "cases" / "chains" / "reflection.yaml").read_text("utf-8"))
SIZES = {"T": 80, "B": 54, "C": 38, "I": 18, "P": 19, "E": 18, "G": 17, "Q": 25, "J": 47, "F": 12}
FILES = {
    "T": ["cases/schema/pairs.yaml"],
    "B": ["cases/tools/pairs.yaml", "cases/tools/remarks.yaml", "chains/test_chain_rows.py"],
    "C": ["cases/chains/layers.yaml", "chains/test_chain_layers.py"],
    "I": ["cases/chains/installation.yaml", "chains/test_chain_rows.py", "contract/test_stored_chains.py"],
    "P": ["cases/chains/parameters.yaml"],
    "E": ["cases/chains/calls.yaml", "cases/chains/sequences.yaml", "tools/test_tools_remarks.py"],
    "G": ["cases/chains/permissions.yaml", "chains/test_chain_permissions.py"],
    "Q": ["cases/chains/reflection.yaml"],
    "J": ["cases/schema/json.yaml"],
    "F": ["chains/test_chain_features.py", "chains/test_chain_rows.py", "cases/chains/reflection.yaml"],
}
RUN = re.compile(r"\b([A-Z])([0-9]{1,2})(?: to [A-Z]?([0-9]{1,2}))?\b")


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["id"])
def test_reflection(case):
    """The table says who answers, and in which words."""
    approach = reflect.approach_of(case["client"]) if "client" in case else None
    answer = reflect.answer_question(case["key"], approach)
    if approach is None:
        assert case["says"] in answer["validatedBy"]
        return
    (cell,) = answer["answers"]
    assert cell["by"] == case["by"]
    assert case["says"] in f"{cell['words']}; {answer['host']}"


@pytest.mark.parametrize(
    ("row", "metadata", "strict"),
    [("B53", Metadata(doc="what it is"), True), ("B54", Metadata(deprecated="no longer"), False)],
)
def test_metadata_of_a_field(row, metadata, strict):
    """Of the metadata of a field only the documentation is erased before the strict comparison."""
    plain = schema("record{a: string}")
    assert isinstance(plain, RecordType)
    told = replace(plain, fields=(replace(plain.fields[0], metadata=metadata),))
    above, below = (with_result(found) for found in (plain, told))
    accepted = [compatibility(above, below, mode, ENGINES).is_accepted for mode in Mode]
    assert accepted == [strict, True, True], row


def with_result(found):
    base = tool({"result": "string"})
    assert base.commands[0].body is not None
    body = replace(base.commands[0].body, result=ResultContract(found, (Formatter("text"),), "text"))
    return replace(base, commands=(replace(base.commands[0], body=body),))


def test_denied_access_to_files_wins():
    """I17: whichever binding denies, the tool has no files, and the chain is as it was."""
    text = """
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: local, defaultTools: [], tools: {echo: {filesystemAccess: %s}}}}
components: {"s:c": {dir: c}}
tools: {echo: {component: "s:c"}}
agents: {X: {tools: {echo: {filesystemAccess: %s}}}}
"""
    for above, below, settled in (
        ("allowed", "denied", "denied"),
        ("denied", "allowed", "denied"),
        ("allowed", "allowed", "allowed"),
    ):
        loaded = load_text(text % (above, below), "golem.yaml", rules=NEXT)
        assert not loaded.findings
        resolved = resolve_environment(loaded.application, "prod", rules=NEXT)
        agent = describe(loaded.application, resolved, NEXT).agent("X")
        assert agent is not None
        assert [bound.filesystem_access for bound in agent.tools] == [settled]


def test_parameters_that_need_a_feature():
    """F3: the deployment is valid, and the guest without the feature fails when it decodes its parameters."""
    report = checked(
        {
            "profile": {"guestFeatures": {"regex": False}},
            "definitions": {
                "tools": {"echo": {}},
                "middleware": {
                    "m": {"scope": "universal", "version": "1", "parameters": 'record{p: text(regex="^a")}'},
                },
            },
            "chain": {"tool": "echo", "leaf": "echo", "layers": [{"name": "m", "parameters": {"p": {"text": "abc"}}}]},
        }
    )
    labels = {row.code: row.label for row in LABELS}
    assert report.rows[0].verdict.value == "accept"
    assert {labels[finding.code] for finding in report.findings} == {"FEATURE_REQUIRED"}


@pytest.mark.parametrize("letter", SIZES)
def test_no_row_is_forgotten(letter):
    """Every row of the worked examples stands in the tests of its section."""
    named = set()
    for name in FILES[letter]:
        for kind, first, last in RUN.findall((TESTS / name).read_text(encoding="utf-8")):
            if kind == letter:
                named |= set(range(int(first), int(last or first) + 1))
    assert set(range(1, SIZES[letter] + 1)) - named == set()
