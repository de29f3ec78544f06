"""Changes of grants: what they are, that tests notice them, and that what is told of the others is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from policyd.cli.main import run
from policyd.core.application import THIS_AGENT
from policyd.core.cards import default_grants
from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext
from policyd.syntax import Form, parse_grant
from policyd.usecases import policy_tests_mutation
from policyd.usecases.policy_tests_mutants import changes_of

CASES = Path(__file__).parents[1] / "cases" / "policytests" / "mutants.yaml"
CONTEXT = AgentContext("a@x.io", "shop", "prod", "shop:cart", "Cart", 'Cart("1")')
GRANTS = [row["grant"] for row in YAML(typ="safe").load(CASES.read_text(encoding="utf-8"))]


def changed(text: str) -> list[str]:
    """The changes of a grant in words, those that drop it aside."""
    return [c.words for c in changes_of(parse_grant(text, Form.MANIFEST, NEXT), NEXT) if c.grant is not None]


@pytest.mark.parametrize("row", YAML(typ="safe").load(CASES.read_text(encoding="utf-8")), ids=lambda row: row["grant"])
def test_the_steps_of_a_grant(row: dict[str, object]) -> None:
    """The listed steps, no others, in their order."""
    assert changed(str(row["grant"])) == [f"{words} `{text}`" for words, text in row["steps"]]  # type: ignore[attr-defined]


@given(st.sampled_from([*GRANTS, *(grant.text for grant in default_grants(THIS_AGENT))]))
def test_a_step_goes_where_it_says(text: str) -> None:
    """Widened covers the grant, narrowed is covered by it, each strictly and as it is written."""
    grant = parse_grant(text, Form.MANIFEST, NEXT)
    old = grant.addressed(CONTEXT).filled(CONTEXT)
    for change in changes_of(grant, NEXT):
        if change.grant is None:
            continue
        assert parse_grant(change.grant.text, Form.MANIFEST, NEXT) == change.grant
        new = change.grant.addressed(CONTEXT).filled(CONTEXT)
        wide, narrow = (new, old) if "widened" in change.words else (old, new)
        assert wide.covers(narrow), change.words
        assert not narrow.covers(wide), change.words


MANIFEST = """manifestVersion: 1.6.0
app: shop
environments:
  local: {server: local, default: true}
  prod: {server: cloud, account: acme@example.com}
components: {"shop:cart": {dir: cart, templates: rust}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "network() @ ?agent : connect : a.example.com:443"
          - "kv(?env) @ ?agent : * : orders.*"
        negative:
          - "kv(?env) @ ?agent : delete : orders.*"
      upperBound:
        positive:
          - "network() @ ?agent : connect : *.example.com:443"
          - "kv(?env) @ ?agent : * : orders.*"
"""
NETWORK = """manifest: ../golem.yaml
envs: [local, prod]
account: acme@example.com
tests:
  - name: n
    agent: Cart
    allow: ["network() : connect : a.example.com:443"]
    deny: ["network() : connect : b.example.com:443", "network() : connect : a.example.com:80"]
"""
KEYS = """manifest: ../golem.yaml
env: prod
account: acme@example.com
tests:
  - name: n
    agent: Cart
    always: ["kv(?env) : read : under(orders)", "kv(?env) : write : under(orders)", "kv(?env) : list : under(orders)"]
    never: ["kv(any) : delete : any", "kv(?env) : any : other.*", "kv(?app/local) : any : any"]
"""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A folder for tests beside the manifest."""
    (tmp_path / "golem.yaml").write_text(MANIFEST, encoding="utf-8")
    folder = tmp_path / "policies"
    folder.mkdir()
    return folder


def mutation(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    """What `--mutate` says."""
    run(["test", *words, "--mutate", "--format", "json"])
    found = json.loads(capsys.readouterr().out)["mutation"]
    assert isinstance(found, dict)
    return found


def test_files_of_one_manifest_are_weighed_together(policies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What one file leaves unnoticed the other notices; a test in one environment notices for all."""
    one, two = policies / "a.test.yaml", policies / "b.test.yaml"
    one.write_text(NETWORK, encoding="utf-8")
    two.write_text(KEYS, encoding="utf-8")
    alone = mutation(capsys, str(one))
    assert {m["grant"].partition("(")[0] for m in alone["mutants"]} == {"kv"}  # type: ignore[attr-defined]
    assert run(["test", str(one), str(two), "--mutate", "--coverage"]) == 0, capsys.readouterr()
    told = capsys.readouterr().out
    assert "touched: 5 of 5 grants" in told
    assert "not noticed" not in told


def test_a_survivor_is_a_call_that_the_change_decides_otherwise(
    policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The witness of every change of a whole line is decided otherwise by `check` once the line is changed."""
    path = policies / "a.test.yaml"
    path.write_text(NETWORK.replace("envs: [local, prod]", "env: prod"), encoding="utf-8")
    manifest = policies.parent / "golem.yaml"
    survivors = mutation(capsys, str(path))["mutants"]
    assert len(survivors) > 5  # type: ignore[arg-type]
    for found in survivors:  # type: ignore[attr-defined]
        assert found["what"] == "survives"
        words = ["check", str(manifest), "--env", "prod", "--agent", "Cart", found["witness"]]
        before = run(words)
        lines = MANIFEST.split("\n")
        at = found["place"]["line"] - 1
        assert found["grant"] in lines[at]
        other = [] if found["change"] == "dropped" else [f"          - '{found['change'].split('`')[1]}'"]
        manifest.write_text(
            "\n".join([*lines[:at], *other, *lines[at + 1 :]]).replace(
                "negative:\n      upper", "negative: []\n      upper"
            )
        )
        assert {before, run(words)} == {0, 1}, found
        manifest.write_text(MANIFEST, encoding="utf-8")
        capsys.readouterr()


def test_effort_is_counted_and_what_is_left_is_told(policies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same budget leaves the same grants untried, and the exit code is no pass."""
    path = policies / "a.test.yaml"
    path.write_text(NETWORK + KEYS.partition("tests:\n")[2].replace("name: n", "name: k"), encoding="utf-8")
    first, again = (mutation(capsys, str(path), "--budget", "0.05") for _ in range(2))
    assert first == again
    assert 0 < int(str(first["notTriedGrants"])) <= 5
    assert run(["test", str(path), "--mutate", "--budget", "0.05"]) == 1
    assert "not tried: not every change of" in capsys.readouterr().out
    assert mutation(capsys, str(path))["notTriedGrants"] == 0


def test_the_shipped_example_has_no_survivor(capsys: pytest.CaptureFixture[str]) -> None:
    """Every grant of the shop is touched, and every change of one that makes a difference is noticed."""
    files = sorted(str(p) for p in (Path(__file__).parents[2] / "examples/shop/policies").glob("*.test.yaml"))
    assert run(["test", *files, "--coverage", "--mutate", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    counts = found["mutation"]["counts"]
    assert found["coverage"]["untouched"] == []
    assert (counts["survives"], counts["undecided"], found["mutation"]["notTriedGrants"]) == (0, 0, 0)
    assert counts["noticed"] > 100
    assert counts["equivalent"] > 0


FACETS = """manifest: ../golem.yaml
env: prod
account: acme@example.com
tests:
  - name: facets
    agent: Cart
    calls:
      - {call: "network() : connect : a.example.com:443", expect: {bounded: yes}, because: ADMIT011}
  - name: another class than any grant, which only the ceiling withholds
    agent: Cart
    calls: [{call: "secret(?env) : reveal : key", expect: {admitted: no}, because: ADMIT003}]
    operations: [{op: kv.get, args: {bucket: orders, key: a}, expect: {admitted: yes}}]
"""


@pytest.mark.parametrize("texts", [(NETWORK,), (KEYS,), (FACETS,), (NETWORK, FACETS), (NETWORK, KEYS, FACETS)])
def test_leaving_out_what_a_change_cannot_concern_changes_nothing(
    texts: tuple[str, ...], policies: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asking every expectation again after every change comes to the same."""
    files = []
    for number, text in enumerate(texts):
        files.append(policies / f"{number}.test.yaml")
        files[-1].write_text(text, encoding="utf-8")
    quick = mutation(capsys, *map(str, files))
    monkeypatch.setattr(policy_tests_mutation._Plan, "about", lambda plan, line, *, ends_ceiling: iter(plan._listed))
    assert mutation(capsys, *map(str, files), "--budget", "60") == quick
