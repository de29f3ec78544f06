"""A saga needs self-view: granted or not, which card withholds it, and where; who could change what decides."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest
from retry_notation import CASES, case_ids, load_cases

from policyd.cli.main import run

CASE_LIST = load_cases("self-view.yaml")
AGENTS = [case["agent"] for case in CASE_LIST if "flags" not in case and case["agent"] != "Stranger"]
PLACE = ("--account", "shop@example.com", "--application", "shop", "--env", "prod")


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs a command among the documents of the cases; gives exit code and output."""
    monkeypatch.chdir(CASES / "questions")
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")

    def asked(*words: str) -> tuple[int, str]:
        code = run([os.fspath(word) for word in words])
        return code, capsys.readouterr().out

    return asked


def told(ask: Any, *words: str) -> dict[str, Any]:
    """The answer as JSON."""
    found: dict[str, Any] = json.loads(ask(*words, "--format", "json")[1])
    return found


@pytest.mark.parametrize("case", CASE_LIST, ids=case_ids)
def test_self_view(case: dict[str, Any], ask: Any) -> None:
    """The verdict rests on the cards; what withholds self-view is named with its line."""
    words = ("saga", "self-view.yaml", "--agent", case["agent"], *shlex.split(case.get("flags", "")))
    code, text = ask(*words)
    assert f"self-view: {case['words']}" in text
    for part in case.get("has", ()):
        assert part in text
    for part in case.get("not", ()):
        assert part not in text
    found = told(ask, *words)
    seen = found["selfMetadata"]
    assert (found["selfView"], seen["view"]) == (case["words"], case["view"])
    assert [[p["place"]["line"], p["grant"] or ""] for p in seen["withheldBy"]] == case.get("by", [])
    if not case.get("flags"):
        assert found["admitted"] == {"granted": "yes", "denied": "no", "unknown": "unknown"}[case["view"]]
        assert code == {"granted": 0, "denied": 1, "unknown": 3}[case["view"]]


@pytest.mark.parametrize("agent", AGENTS)
def test_the_operation_of_the_catalogue_says_the_same(ask: Any, agent: str) -> None:
    """Admission, floor and each ceiling are those of `check --op agent.get-self-metadata`."""
    where = ("self-view.yaml", "--agent", agent)
    operation = told(ask, "check", *where, "--op", "agent.get-self-metadata")
    seen = told(ask, "saga", *where)["selfMetadata"]
    assert operation["admitted"] == {"granted": "yes", "denied": "no"}[seen["view"]]
    if "(" in agent:
        assert operation["selfMetadata"]["granted"] is all(p["letsThrough"] for p in seen["floor"])
    ceilings = [(c["card"], c["letsThrough"]) for c in operation["selfMetadata"]["ceilings"]]
    assert ceilings == [(c["card"], c["letsThrough"]) for c in seen["ceilings"]]


def _card(number: int, positive: list[str], upper: list[str]) -> dict[str, Any]:
    return {
        "cardId": f"7d0f0f0f-0000-4000-8000-00000000000{number}",
        "parentIds": [],
        "lowerPositive": positive,
        "lowerNegative": [],
        "upperPositive": upper,
        "upperNegative": [],
        "createdAt": "2026-01-01T00:00:00Z",
        "expiresAt": None,
        "systemCard": False,
        "managedBy": None,
    }


VIEW = "agent(shop@example.com/shop/prod/*/*) @ * : view :"
WEB = "network() @ * : connect : *:443"
EDIT = "environment.retry-policy(shop@example.com/shop/prod) @ * : update : sagas"


def stored(ask: Any, tmp_path: Path, *wallets: tuple[str, str, list[dict[str, Any]]]) -> str:
    """Imports the manifest and then wallets; gives the place of the last snapshot."""
    assert ask("db", "upgrade")[0] == 0
    assert ask("import", "self-view.yaml", "--env", "prod")[0] == 0
    for number, (holder, agent_id, cards) in enumerate(wallets):
        path = tmp_path / f"w{number}.json"
        body = {"holder": holder, "cards": cards} | ({"agentId": agent_id} if agent_id else {})
        path.write_text(json.dumps(body), encoding="utf-8")
        assert ask("import", path, *PLACE)[0] == 0
    return f"@{1 + len(wallets)}"


@pytest.mark.parametrize("agent", AGENTS)
def test_a_stored_deployment_says_what_its_manifest_says(ask: Any, tmp_path: Path, agent: str) -> None:
    """With the places that were stored; only the places of whole cards and of default grants may be missing."""
    place = stored(ask, tmp_path)
    written = told(ask, "saga", "self-view.yaml", "--agent", agent)
    kept = told(ask, "saga", place, "--agent", agent)
    for name in ("admitted", "bounded", "replayStable", "verdict", "selfView", "instability"):
        assert kept[name] == written[name], name
    for side in ("floor", "ceilings"):
        both = zip(kept["selfMetadata"][side], written["selfMetadata"][side], strict=True)
        for one, other in both:
            assert (one["card"], one["letsThrough"]) == (other["card"], other["letsThrough"])
            assert one["text"].replace(" `", "`") == other["text"].replace(" `", "`")
            if other["grant"] and other["place"]:
                assert (one["grant"], one["place"]["line"]) == (other["grant"], other["place"]["line"])


def test_the_wallet_decides_not_the_initial_card(ask: Any, tmp_path: Path) -> None:
    """An agent with a wallet of its own is decided by it, ceiling by ceiling, and is named where its type is asked."""
    holder = "shop@example.com/shop/prod/shop:cart"
    place = stored(
        ask,
        tmp_path,
        (f"{holder}/Bare", 'Bare("rich")', [_card(1, [VIEW], [])]),
        (f"{holder}/Lent", 'Lent("poor")', [_card(2, [VIEW], []), _card(3, [WEB], [WEB])]),
    )
    assert told(ask, "saga", place, "--agent", 'Bare("rich")')["admitted"] == "yes"
    assert told(ask, "saga", place, "--agent", 'Bare("other")')["admitted"] == "no"
    poor = told(ask, "saga", place, "--agent", 'Lent("poor")')
    assert (poor["admitted"], poor["selfView"]) == ("no", "withheld by the agent's cards")
    (by,) = poor["selfMetadata"]["withheldBy"]
    assert (by["card"][-1], by["letsThrough"]) == ("3", False)
    assert by["place"]["source"].endswith("w1.json")
    whole = told(ask, "saga", place, "--agent", "Lent")
    assert (whole["admitted"], whole["selfView"]) == ("no", "not granted to every agent of the type")
    assert [part["card"][-1] for part in whole["selfMetadata"]["withheldBy"]] == ["3"]
    assert '`Lent("poor")` is not' in whole["selfMetadata"]["open"][0]


def test_steps_are_decided_by_the_wallet_too(ask: Any, tmp_path: Path) -> None:
    """A compensation that only the stored wallet admits is not missing."""
    steps = tmp_path / "steps.yaml"
    target = "agent(shop@example.com/shop/prod/shop:cart/Pay(1)) : invoke : refund"
    steps.write_text(
        json.dumps(
            {
                "form": "fallible",
                "steps": [
                    {"name": "pay", "compensation": {"name": "refund", "target": target}},
                    {"name": "ship", "result": "error"},
                ],
            }
        ),
        encoding="utf-8",
    )
    grant = "agent(shop@example.com/shop/prod/shop:cart/Pay(*)) @ * : invoke : *"
    place = stored(
        ask, tmp_path, ("shop@example.com/shop/prod/shop:cart/Bare", 'Bare("rich")', [_card(1, [grant], [])])
    )
    rich = told(ask, "saga", place, "--agent", 'Bare("rich")', "--steps", steps)["steps"]
    assert (rich["permissionsMissing"], rich["failedCompensation"]) == ([], None)
    poor = told(ask, "saga", place, "--agent", 'Bare("poor")', "--steps", steps)["steps"]
    assert (poor["permissionsMissing"], poor["failedCompensation"]) == (["refund"], "refund")


@pytest.mark.parametrize(
    ("holder", "agent_id", "grant", "named"),
    [
        ("shop@example.com/shop/prod/shop:cart/Bare", 'Bare("root")', EDIT, ['Bare("root")']),
        ("shop@example.com/shop/prod/shop:cart/Bare", "", EDIT, ["Bare"]),
        ("other@example.com", "", EDIT, ["other@example.com"]),
        ("other@example.com", "", EDIT.replace("sagas", "nothing"), []),
        ("other@example.com", "", EDIT.replace("update", "create"), []),
        ("other@example.com", "", EDIT.replace("update : sagas", "create : fresh"), ["other@example.com"]),
        ("other@example.com", "", EDIT.replace("update : sagas", "view : *"), []),
    ],
)
def test_whoever_may_edit_the_policies_is_named(
    ask: Any, tmp_path: Path, holder: str, agent_id: str, grant: str, named: list[str]
) -> None:
    """Agents with wallets of their own and accounts, where a policy of the environment is within reach (U6)."""
    place = stored(ask, tmp_path, (holder, agent_id, [_card(1, [grant], [])]))
    code, text = ask("saga", place, "--agent", "Lent", "--require", "replay-stable")
    line = text.splitlines()[0]
    assert code == 1
    for name in named:
        assert f"someone may edit the environment's policies (`{name}`): U6" in line
    assert named or "policies (" not in line
