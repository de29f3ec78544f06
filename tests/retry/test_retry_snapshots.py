"""Questions about stored deployments: the same answers as about their documents, and what a deployment changes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from retry_notation import CASES

from policyd.cli.main import run

QUESTIONS = CASES / "questions"
LABEL = "shop@example.com/shop/prod"
PLACE = ("--account", "shop@example.com", "--application", "shop", "--env", "prod")


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs a command among the documents of the cases, with a database of its own that holds @1 and @2."""
    monkeypatch.chdir(QUESTIONS)
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")

    def asked(*words: object) -> tuple[int, str, str]:
        code = run([os.fspath(word) if isinstance(word, Path) else str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, err

    assert asked("db", "upgrade")[0] == 0
    for name in ("shop.yaml", "shop-next.yaml"):
        assert asked("import", name, "--env", "prod")[0] == 0
    return asked


@pytest.mark.parametrize(
    "words",
    [
        ("resolve", "--site", "rpc"),
        ("resolve", "--site", "http-status-p3", "--prop", "verb=GET", "--prop", "status-code=503"),
        ("resolve", "--site", "saga", "--prop", "attempt=2", "--event", "replay"),
        ("simulate",),
        ("simulate", "--policy", "capped", "--runs", "50", "--seed", "3", "--outage", "30s"),
        ("simulate", "--switch", "elapsed=zero"),
        ("limits",),
        ("limits", "--edition", "snapshot"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_stored_rules_are_answered_as_their_document(ask: Any, words: tuple[str, ...], form: str) -> None:
    """Exit code and output are the same, and the snapshot is named on stderr."""
    verb, *flags = words
    written = ask("retry", verb, "shop.yaml", "--env", "prod", *flags, "--format", form)
    for place in ("@1", "@2"):
        code, out, err = ask("retry", verb, place, *flags, "--format", form)
        assert f"note: the rules of {place} ({LABEL}, revision {place[1]}, digest " in err
        if place == "@1":
            assert (code, _without_snapshot(out, form)) == (written[0], _without_snapshot(written[1], form))


def _without_snapshot(out: str, form: str) -> object:
    """An answer without the snapshot that it names."""
    if form == "text":
        return [line for line in out.splitlines() if not line.startswith("snapshot @1 of ")]
    told = json.loads(out)
    parts = told if isinstance(told, list) else [told]
    return [{name: v for name, v in part.items() if name not in ("snapshot", "digest", "revision")} for part in parts]


def _findings(out: str) -> list[tuple[str, str, int]]:
    return [(f["code"], f["message"], f["place"]["line"] if f["place"] else 0) for f in json.loads(out)["findings"]]


def test_lint_of_a_snapshot_has_the_places_of_its_document(ask: Any) -> None:
    """The same findings with the same lines."""
    code, out, _ = ask("retry", "lint", "shop.yaml", "--env", "prod", "--format", "json")
    again, stored, _ = ask("retry", "lint", "@1", "--format", "json")
    assert again == code
    assert _findings(stored) == _findings(out) != []


def test_a_place_takes_no_environment(ask: Any) -> None:
    """What places a manifest is bad usage beside a snapshot; so is a snapshot that is not there."""
    assert ask("retry", "limits", "@1", "--env", "prod")[0] == 2
    assert ask("retry", "limits", "@9")[0] != 0
    assert ask("retry", "diff", "@1", "@9")[0] != 0


def test_a_difference_names_both_snapshots(ask: Any) -> None:
    """Revision and digest of each side, in words and as JSON; the same changes as between the documents."""
    digests = {}
    for number in (1, 2):
        digests[number] = json.loads(ask("retry", "diff", f"@{number}", "@1", "--format", "json")[1])["old"]["digest"]
    code, out, _ = ask("retry", "diff", "@1", "@2")
    written_code, written, _ = ask("retry", "diff", "shop.yaml", "shop-next.yaml", "--env", "prod")
    before, after, rest = out.split("\n", 2)
    told = "".join(line for line in rest.splitlines(keepends=True) if not line.startswith("snapshot @"))
    assert (code, told) == (written_code, written)
    assert before == f"before: @1 ({LABEL}, revision 1, digest {digests[1][:12]})"
    assert after == f"after: @2 ({LABEL}, revision 2, digest {digests[2][:12]})"
    found = json.loads(ask("retry", "diff", "@1", "@2", "--format", "json")[1])
    assert found["old"] == {"snapshot": "@1", "environment": LABEL, "revision": 1, "digest": digests[1]}
    assert found["new"] == {"snapshot": "@2", "environment": LABEL, "revision": 2, "digest": digests[2]}
    assert len(digests[1]) == 64
    assert digests[1] != digests[2]


RULE = {
    "id": "0e0f0f0f-0000-4000-8000-000000000001",
    "environmentId": "0e0f0f0f-0000-4000-8000-0000000000ee",
    "name": "upstream",
    "revision": 3,
    "priority": 40,
    "predicate": {"propEq": {"property": "verb", "value": "GET"}},
    "policy": {"countBox": {"maxRetries": 1, "inner": "immediate"}},
}
MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments: {prod: {server: cloud, account: shop@example.com}}
components: {"shop:cart": {dir: cart}}
agents: {Checkout: {}}
retryPolicyDefaults:
  prod:
    upstream: {priority: 90, predicate: true, policy: {countBox: {maxRetries: 50, inner: immediate}}}
    fresh:
      priority: 1
      predicate: {propEq: {property: error-type, value: transient}}
      policy: {countBox: {maxRetries: 4, inner: {periodic: 1s}}}
"""


def test_what_a_deployment_onto_a_stored_environment_changes(ask: Any, tmp_path: Path) -> None:
    """Names that the platform lists are skipped, the others are created; without `--deploy` all of it counts."""
    listed, manifest = tmp_path / "policies.json", tmp_path / "golem.yaml"
    listed.write_text(json.dumps({"values": [RULE]}), encoding="utf-8")
    manifest.write_text(MANIFEST, encoding="utf-8")
    assert ask("import", listed, *PLACE)[0] == 0
    deployed = ("retry", "diff", "@3", manifest, "--env", "prod", "--deploy")
    code, out, _ = ask(*deployed)
    assert code == 1
    assert out.startswith(f"before: @3 ({LABEL}, revision 3, digest ")
    assert "`default` -> `fresh`: MOVED_TO_RULE, LOOSER" in out
    assert "added: `fresh`" in out
    assert "skipped, because the environment already has the name: `upstream`" in out
    found = json.loads(ask(*deployed, "--format", "json")[1])
    assert (found["old"]["snapshot"], found["new"], found["skipped"], found["edited"]) == ("@3", None, ["upstream"], [])
    whole = json.loads(ask("retry", "diff", "@3", manifest, "--env", "prod", "--format", "json")[1])
    assert "upstream" in whole["edited"]
    assert whole["skipped"] == []


def test_a_deployment_of_what_is_there_changes_nothing(ask: Any) -> None:
    """All of its names are known."""
    code, out, _ = ask("retry", "diff", "@1", "shop.yaml", "--env", "prod", "--deploy", "--fail-on", "any")
    assert code == 0
    assert "nothing changes for any call" in out
