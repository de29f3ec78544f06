"""Policy tests from the command line: what holds, what fails and why, what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from policyd.cli.main import run

MANIFEST = """manifestVersion: 1.6.0
app: shop
environments: {prod: {server: local, default: true}}
components: {"shop:cart": {dir: cart, templates: rust}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive: ["network() @ ?agent : connect : a.example.com:443", "secret(?env) @ ?agent : reveal : key"]
      upperBound:
        positive: ["network() @ ?agent : connect : a.example.com:443", "secret(?env) @ ?agent : reveal : key"]
"""

CALL = "network() : connect : a.example.com:443"


def written(folder: Path, body: str, head: str = "manifest: ../golem.yaml") -> str:
    """A file of tests beside a manifest."""
    (folder / "golem.yaml").write_text(MANIFEST)
    (folder / "policies").mkdir()
    path = folder / "policies" / "a.test.yaml"
    path.write_text(f"{head}\ntests:\n  - name: n\n    agent: Cart\n{body}")
    return str(path)


@pytest.mark.parametrize(
    ("body", "code", "told"),
    [
        (f'    allow: ["{CALL}"]\n', 0, "1 of 1 expectations hold"),
        (f'    deny: ["{CALL}"]\n', 1, "admitted is yes, expected no"),
        ('    allow: ["network() : connect : b.example.com:443"]\n', 1, "admitted is no, expected yes"),
        ('    never: ["secret(any) : any : any"]\n', 1, "fails: never admitted"),
        ('    never: ["kv(any) : any : any"]\n', 0, "1 of 1"),
        (f'    calls: [{{call: "{CALL}", expect: {{admitted: yes}}}}]\n', 0, "1 of 1"),
        (f'    calls: [{{call: "{CALL}", because: nonsense}}]\n', 1, "expected `nonsense`"),
    ],
)
def test_expectations(tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, code: int, told: str) -> None:
    """The exit code says whether all hold; a failure says what was expected."""
    assert run(["test", written(tmp_path, body)]) == code
    assert told in capsys.readouterr().out


def test_a_failure_names_the_grant_and_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The deciding grant is told with line and column of the manifest."""
    assert run(["test", written(tmp_path, f'    deny: ["{CALL}"]\n')]) == 1
    assert "golem.yaml:9:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "head", "told"),
    [
        ('    allwo: ["x"]\n', "manifest: ../golem.yaml", ":5:"),
        ("    allow: []\n", "manifest: ../golem.yaml", "expects nothing"),
        (f'    calls: [{{call: "{CALL}", expect: {{admitted: maybe}}}}]\n', "manifest: ../golem.yaml", "one of `yes`"),
        (f'    allow: ["{CALL}"]\n', "manifest: ../../golem.yaml", "lies outside"),
        (f'    allow: ["{CALL}"]\n', "manifest: /golem.yaml", "lies outside"),
        ('    allow: ["nonsense"]\n', "manifest: ../golem.yaml", "a.test.yaml:5:"),
    ],
)
def test_what_cannot_be_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, head: str, told: str
) -> None:
    """Exit 2 with the place of the mistake."""
    assert run(["test", written(tmp_path, body, head)]) == 2
    assert told in capsys.readouterr().err


def test_junit_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both count one failure of two."""
    path, out = written(tmp_path, f'    allow: ["{CALL}"]\n    deny: ["{CALL}"]\n'), tmp_path / "out.xml"
    assert run(["test", path, "--format", "junit", "--output", str(out)]) == 1
    suite = ElementTree.parse(out).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert run(["test", path, "--format", "json"]) == 1
    assert [row["holds"] for row in json.loads(capsys.readouterr().out)["expectations"]] == [True, False]


def test_the_shipped_example_holds() -> None:
    """The shop keeps what its tests expect."""
    assert run(["test", str(Path(__file__).parents[2] / "examples/shop/policies/shop.test.yaml")]) == 0


GUARDED = """    allow: ["network() : connect : a.example.com:443"]
    deny: ["network() : connect : b.example.com:443", "network() : connect : a.example.com:80"]
"""
NOBODY = """    never:
      - "secret(any) : any : other"
      - "secret(any) : hold : any"
      - "network(any) : any : b.example.com:443"
"""


def test_coverage_names_the_grant_that_no_test_touches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The secret is in no call and in no query."""
    assert run(["test", written(tmp_path, GUARDED), "--coverage"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("untouched")]
    assert told
    assert all(("secret(?env)" in line and "golem.yaml:9:" in line) or "golem.yaml:11:" in line for line in told)
    assert not [line for line in told if "network()" in line]


def test_a_query_touches_the_grants_of_its_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a proof about secrets nothing is left untouched."""
    assert run(["test", written(tmp_path, GUARDED + NOBODY), "--coverage"]) == 0
    assert "untouched" not in capsys.readouterr().out


def test_mutation_finds_an_unguarded_grant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nobody tests the secret: without it the file passes all the same, and the change is named with a call."""
    path = written(tmp_path, GUARDED)
    assert run(["test", path, "--mutate", "--format", "json"]) == 1
    mutants = json.loads(capsys.readouterr().out)["mutation"]["mutants"]
    dropped = [m for m in mutants if m["change"] == "dropped" and m["grant"].startswith("secret")]
    assert dropped
    assert all(m["what"] == "survives" and m["witness"].startswith("secret(") for m in dropped)
    assert not [m for m in mutants if m["change"] == "dropped" and m["grant"].startswith("network")]


def test_no_mutant_survives_a_file_that_guards_every_grant(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Calls that need each grant, and proofs against each widening."""
    body = GUARDED.replace("    allow: [", '    allow: ["secret(?env) : reveal : key", ') + NOBODY
    assert run(["test", written(tmp_path, body), "--mutate"]) == 0, capsys.readouterr().out


def test_mutants_that_were_not_tried_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Out of time is neither noticed nor unnoticed."""
    path = written(tmp_path, GUARDED)
    assert run(["test", path, "--mutate", "--budget", "0.001"]) in (1, 2)
    out = capsys.readouterr()
    assert "not tried" in out.out or "budget" in out.err
