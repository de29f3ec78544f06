"""Every kind of expectation, and every mistake, case by case beside the shipped examples."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from policyd.analysis import page_of
from policyd.cli.main import run

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "cases" / "policytests"
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "policy-tests.schema.json").read_text(encoding="utf-8"))
CODES = ("TEST001", "TEST002", "TEST003", "TEST010", "TEST011", "TEST012", "TEST013")


def read_cases(name: str) -> list[Any]:
    """The cases of a file."""
    return [
        pytest.param(case, id=case["title"])
        for case in YAML(typ="safe").load((CASES / name).read_text(encoding="utf-8"))
    ]


@pytest.fixture
def beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for tests beside the examples."""
    for name in ("shop", "retry", "chain", "wallet"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    shutil.copy(ROOT / "examples" / "shop" / "golem.yaml", tmp_path)  # that of the pages
    (tmp_path / "policies").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "policies"


def asked(path: Path, *flags: str) -> int:
    """The exit code of `policyd test`."""
    return run(["test", str(path), *flags])


@pytest.mark.parametrize("case", read_cases("expectations.yaml"))
def test_expectation(case: dict[str, Any], beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All hold or some fail, as the case says; failures come with the words of the verb; JSON keeps to its schema."""
    path = beside / "a.test.yaml"
    path.write_text(json.dumps(case["file"]), encoding="utf-8")
    code = asked(path)
    told = capsys.readouterr()
    assert code == (0 if case["holds"] else 1), told.out + told.err
    for text in case.get("told", []):
        assert text in told.out
    assert asked(path, "--format", "json", "--coverage", "--mutate", "--budget", "0.3") in (0, 1)
    value = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(SCHEMA).validate(value)
    assert all(row["holds"] for row in value["expectations"]) == case["holds"]
    assert all(row["holds"] or row["answer"] for row in value["expectations"])
    if "count" in case:
        assert len(value["expectations"]) == case["count"]


@pytest.mark.parametrize("case", read_cases("mistakes.yaml"))
def test_mistake(case: dict[str, Any], beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 2, the code, and the place in the file of tests."""
    path = beside / "a.test.yaml"
    path.write_text(case["text"], encoding="utf-8")
    assert asked(path) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"error[{case['code']}" in told.err
    assert f"a.test.yaml:{case['at']}" in told.err


def fences(code: str, mark: str) -> list[str]:
    """The fenced examples of a page."""
    return re.findall(rf"```{mark}\n(.*?)```", page_of(code) or "", re.DOTALL)


@pytest.mark.parametrize("code", CODES)
def test_page(code: str, beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad example gives exactly the code of its page, a good one passes."""
    assert (page_of(code) or "").startswith(f"# {code}: ")
    examples = fences(code, "yaml bad")
    assert bool(examples) == (code < "TEST011")
    for text in examples:
        path = beside / "a.test.yaml"
        path.write_text(text, encoding="utf-8")
        assert asked(path) == (1 if code == "TEST010" else 2)
        told = capsys.readouterr()
        assert set(re.findall(r"TEST\d{3}", told.out + told.err)) == {code}
    for text in fences(code, "yaml good"):
        path = beside / "b.test.yaml"
        path.write_text(text, encoding="utf-8")
        assert asked(path) == 0, capsys.readouterr()


def test_a_test_about_another_environment_is_told(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--env` leaves out what is about another one, and says so; with nothing left it is a mistake."""
    path = beside / "a.test.yaml"
    path.write_text(
        "manifest: ../shop/golem.yaml\ntests:\n"
        '  - {name: here, agent: Cart, env: local, allow: ["env(?agent) : read : A"]}\n'
        '  - {name: there, agent: Cart, env: prod, allow: ["env(?agent) : read : A"]}\n',
        encoding="utf-8",
    )
    assert asked(path, "--env", "prod") == 0
    told = capsys.readouterr().out
    assert "left out: here" in told
    assert "1 of 1 expectations hold" in told
    assert asked(path) == 0
    assert "2 of 2 expectations hold" in capsys.readouterr().out
    path.write_text(path.read_text().replace("prod", "local"))
    assert asked(path, "--env", "prod") == 2
    assert "TEST003" in capsys.readouterr().err


STORED = """snapshot: "{place}"
at: 2026-12-24T00:00:00Z
tests:
  - name: stored
    agent: Cart
    allow: ["network() : connect : api.stripe.com:443"]
    deny: ["kv(?env) : delete : orders.1"]
    never: ["kv(?env) : delete : any"]
    operations: [{{op: kv.get, args: {{bucket: orders, key: "1"}}, expect: {{admitted: yes}}}}]
    reach: [{{to: "secret(?env) : reveal : stripe.key", expect: path}}]
  - name: no policy
    retries: [{{site: http-status-p2, props: {{status-code: 503}}, expect: {{decided: no}}}}]
"""


OWN_WALLET = """snapshot: "@acme@example.com/shop/prod"
at: 2026-12-24T00:00:00Z
tests:
  - name: the wallet of one agent decides, not the card of its type
    agent: Cart("u1")
    calls: [{call: "kv(?env) : read : orders.1", expect: {admitted: yes, bounded: no}}]
    deny: ["network() : connect : api.stripe.com:443"]
  - name: another one holds the card
    agent: Cart("u2")
    allow: ["network() : connect : api.stripe.com:443"]
  - name: a holder in full
    agent: ACME@example.com/shop/prod/shop:cart/Receipt
    allow: ["network() : connect : mail.example.com:25"]
    never: ["secret(any) : any : any"]
    operations: [{op: http.send, args: {url: "https://hooks.example.com/"}, expect: {admitted: no}}]
    reach: [{to: "network() : connect : mail.example.com:25", expect: path}]
"""


def test_a_stored_deployment(
    beside: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By number and by name; its grants count for coverage, are not changed, and `--env` cannot move it."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    assert run(["db", "upgrade"]) == 0
    assert run(["import", "shop/golem.yaml", "--env", "prod"]) == 0
    capsys.readouterr()
    path = beside / "a.test.yaml"
    for place in ("@1", "@acme@example.com/shop/prod"):
        path.write_text(STORED.format(place=place), encoding="utf-8")
        assert asked(path, "--coverage", "--mutate") == 0, capsys.readouterr()
        told = capsys.readouterr().out
        assert "6 of 6 expectations hold" in told
        assert "touched: 10 of 36 grants" in told
        assert "not changed: the cards of @" in told
    assert asked(path, "--format", "json", "--coverage", "--mutate") == 0
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(capsys.readouterr().out))
    words = ("--account", "acme@example.com", "--application", "shop", "--env", "prod")
    assert run(["import", "wallet/wallet.json", *words]) == 0
    capsys.readouterr()
    path.write_text(OWN_WALLET, encoding="utf-8")
    assert asked(path, "--coverage") == 0, capsys.readouterr()
    assert "touched: 8 of 42 grants" in capsys.readouterr().out
    path.write_text(STORED.format(place="@1"), encoding="utf-8")
    assert asked(path, "--env", "prod") == 2
    assert "TEST003" in capsys.readouterr().err
    path.write_text(STORED.format(place="@99"), encoding="utf-8")
    assert asked(path) == 2
    assert "a.test.yaml:1:" in capsys.readouterr().err


def test_a_mistake_in_a_fixture_is_told_where_it_is(beside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The place is the one in the wallet, also where the wallet is YAML or not there."""
    wallet = (beside.parent / "wallet" / "wallet.json").read_text(encoding="utf-8")
    (beside / "bad.json").write_text(wallet.replace("kv(acme@example.com/shop/prod) @ * : read", "kv(acme) @ * : read"))
    (beside / "bad.yaml").write_text("holder: a@x.io/shop/prod/c:c/T\ncards: 1\n")
    for name, place in (("bad.json", "bad.json:28:"), ("bad.yaml", "bad.yaml:1:1"), ("none.json", "`none.json`")):
        path = beside / "a.test.yaml"
        path.write_text(f"given: {{wallet: {name}}}\ntests:\n  - {{name: n, deny: ['env(?agent) : read : A']}}\n")
        assert asked(path) == 2
        assert place in capsys.readouterr().err.replace(f"{beside}/none.json", "none.json")
