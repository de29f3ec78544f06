"""Every claim of docs/security.md names tests that exist, and every test of this folder shows a claim."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NODE = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows():
    """The rows of the tables with claims."""
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE):
        if section.startswith(("Claims", "Recovery")):
            lines = [line for line in section.splitlines() if line.startswith("|")]
            yield from lines[2:]


def functions_of(path):
    """The names of the test functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


@pytest.mark.parametrize("row", list(rows()))
def test_a_claim_has_its_tests(row):
    """The last column names at least one test, and each is there."""
    named = NODE.findall(row.rstrip(" |").rpartition("|")[2])
    assert named, row
    for path, name in named:
        assert name.startswith("test_")
        assert name in functions_of(path), (path, name)


def test_there_are_claims_for_every_boundary():
    assert len(list(rows())) >= 35
    assert set(re.findall(r"^## (.*)$", PAGE, re.MULTILINE)) >= {
        *("What is protected", "Who is there", "Where trust ends", "Out of scope", "Recovery"),
        *(f"Claims: {of}" for of in ("tenants and access", "browsers and the network", "values", "hostile input")),
    }


def test_every_attack_shows_a_claim():
    """The tests of attacks and of recovery all stand in a table."""
    told = set(NODE.findall(PAGE))
    for file in ("test_tenants.py", "test_values.py", "test_surface.py", "test_recovery.py"):
        path = f"tests/security/{file}"
        mine = {name for name in functions_of(path) if name.startswith("test_")}
        assert {name for name in mine if (path, name) not in told} == set()
