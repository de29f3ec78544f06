"""Tool permissions along a chain, as the specification has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from chains.documents import checked
from ruamel.yaml import YAML

from policyd.analysis.labels import LABELS
from policyd.core.edition import SNAPSHOT

FILE = YAML(typ="safe").load((Path(__file__).parents[1] / "cases" / "chains" / "permissions.yaml").read_text("utf-8"))
LABEL_OF = {row.code: row.label for row in LABELS}


def report_of(case, rules=None):
    asked = {
        "profile": case.get("profile", {}),
        "definitions": FILE["definitions"],
        "chain": {"tool": case.get("tool", "grep"), "layers": case.get("layers", []), "leaf": case.get("leaf", "grep")},
        "cards": {"X": case["cards"]},
        "agents": {"X": {"component": "support:app"}},
        "tools": {"grep": {"component": "support:cli"}},
    }
    return checked(asked) if rules is None else checked(asked, rules)


@pytest.mark.parametrize("case", FILE["cases"], ids=lambda case: case["id"])
def test_permissions(case):
    """Each hop is decided as the row says, and the findings are exactly those that it names."""
    row = report_of(case).rows[0]
    for command in ("search", "status"):
        if command in case:
            outer = next(p for p in row.permissions if p.layer is None and p.command == (command,))
            assert outer.decided.value == case[command]
    inward = [p.decided.value for p in row.permissions if p.layer is not None and p.command == ("search",)]
    assert inward == ([case["inward"]] if "inward" in case else inward if case.get("leaf") == "grep-lang" else [])
    told = [LABEL_OF[finding.code] for finding in row.findings]
    assert [
        label for label in told if label in ("PERMISSION_DENIED", "GRANT_ARGS_DRIFT", "UNEXPRESSIBLE_GRANT")
    ] == sorted(case.get("labels", []), key=lambda label: label == "UNEXPRESSIBLE_GRANT")


def test_a_text_that_looks_like_an_option():
    """G16 at the snapshot: a positional can complete an exact grant that nobody meant for it."""
    read = {
        "commands": {"": {"namespace": True}, "read": {"positionals": [{"name": "path", "type": "path(input,file)"}]}}
    }
    asked = {
        "definitions": {"tools": {"cat": read}},
        "chain": {"tool": "cat", "layers": [], "leaf": "cat"},
        "cards": {"X": ["tool(?env/*/*) @ ?agent : invoke : read --force"]},
        "agents": {"X": {"component": "support:app"}},
    }
    labels = [
        [LABEL_OF[f.code] for f in report.rows[0].findings] for report in (checked(asked, SNAPSHOT), checked(asked))
    ]
    assert labels == [["TARGET_CONFUSION"], []]
