"""Every witness that a question about all calls prints is decided again by the command line printed with it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from policyd.cli.main import run

CASES = Path(__file__).parent.parent / "cases" / "cli" / "all_calls.yaml"
VERBS = ("diff", "prove", "what-if")


def read_cases() -> list[Any]:
    cases = YAML(typ="safe").load(CASES)
    answered = (case for case in cases if case["run"][0] in VERBS and case["exit"] in (0, 1))
    return [pytest.param(case, id=case["title"]) for case in answered]


def laid_out(case: dict[str, Any], where: Path) -> None:
    for name, text in case.get("files", {}).items():
        path = where / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commands(text: str) -> list[tuple[bool, list[str]]]:
    """The command lines of an answer, with what they are said to answer."""
    found = []
    for line in text.splitlines():
        said, _, command = line.strip().partition(": policyd ")
        if said in ("yes", "no") and command:
            found.append((said == "yes", shlex.split(command)))
    return found


def witnesses(plain: dict[str, Any]) -> list[dict[str, Any]]:
    sides = [holder[key] for holder in plain.get("holders", ()) for key in ("started", "stopped")]
    return [w for side in sides for w in side["witnesses"]] + [r for r in plain.get("results", ()) if r["witness"]]


def replayed(words: list[str], capsys: pytest.CaptureFixture[str]) -> int:
    """How many witnesses the answer to a question has, after each was asked about again."""
    run(words)
    text = capsys.readouterr().out
    for is_admitted, command in commands(text):
        assert run(command) == (0 if is_admitted else 1), command
        capsys.readouterr()
    plain = words if "--format" not in words else words[: words.index("--format")]
    run([*plain, "--format", "json"])
    told = witnesses(json.loads(capsys.readouterr().out))
    for witness in told:
        for check in witness["checks"]:
            name, *command = shlex.split(check["command"])
            assert name == "policyd"
            assert run(command) == (0 if check["admitted"] else 1), command
            assert command[-1].rstrip() == (witness.get("call") or witness["witness"]).rstrip()
            assert not witness["agent"] or witness["agent"] in command
            capsys.readouterr()
    return len([w for w in told if w["checks"]])


@pytest.mark.parametrize("case", read_cases())
def test_the_witnesses_of_all_cases_are_decided_again(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Admitted or not, as it is said beside the command."""
    monkeypatch.chdir(tmp_path)
    laid_out(case, tmp_path)
    words = [str(word) for word in case["run"]]
    count = replayed(words, capsys)
    assert count or "e.g." not in "".join(case.get("out", ())) or "--holder" in words


OPEN = """manifestVersion: 1.6.0
app: shop
environments: {prod: {server: local}}
components: {"shop:cart": {dir: a, templates: rust}, "shop:pay": {dir: b, templates: rust}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : orders.*"
          - "component(?env/shop:pay) @ ?agent : view : "
          - "agent(?component/Cart(*)) @ ?agent : view : "
          - "oplog(?component/Cart(9)) @ ?agent : read : *"
"""
OPEN_NEXT = OPEN.replace("orders.*", "*.**") + (
    '          - "agent(?agent) @ ?agent : invoke : *"\n'
    '          - "account(bob@x.io) @ bob@x.io/*/*/*/* : view : "\n'
    '        negative: ["agent(?component/Cart(8)) @ ?agent : * : *"]\n'
)


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "a.yaml", "b.yaml"],
        ["diff", "b.yaml", "a.yaml", "--env", "prod", "--edition", "snapshot"],
        ["diff", "a.yaml", "b.yaml", "--account", "bob@x.io", "--component", "shop:pay"],
        ["prove", "a.yaml", "b.yaml", "--equivalent"],
        ["prove", "b.yaml", "a.yaml", "--disjoint", "--component", "shop:cart"],
        ["prove", "b.yaml", "--never", "agent(?agent) : any : any", "--switch", "card_classes=34"],
        ["prove", "a.yaml", "--always", "agent(?agent) : view : "],
        ["prove", "a.yaml", "--never", "any(any) : any : any"],
        ["what-if", "a.yaml", "--agent", "Cart", "--add", "agent(?agent) @ ?agent : interrupt : "],
        ["what-if", "b.yaml", "--remove", "b.yaml:11"],
    ],
    ids=" ".join,
)
def test_open_names_flags_and_instances_are_part_of_the_command(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Accounts and components that the manifest leaves open, phantoms, instances that a grant names."""
    monkeypatch.chdir(tmp_path)
    laid_out({"files": {"a.yaml": OPEN, "b.yaml": OPEN_NEXT}}, tmp_path)
    if "any(any) : any : any" in words:
        assert run(words) == 2
        return
    assert replayed(words, capsys) > 0


STORED = """manifestVersion: 1.6.0
app: a
environments: {prod: {server: cloud, account: o@x.io}}
components: {"s:c": {dir: c, templates: rust}}
agents:
  Cart: {initialCard: {lowerBound: {positive: ["secret(?env) @ ?agent : reveal : k", "agent(?agent) @ * : view : "]}}}
  Bare: {initialCard: {lowerBound: {positive: ["network() @ ?agent : connect : h.com:443"]}}}
"""
CARD = {
    "cardId": "7d0f0f0f-0000-4000-8000-00000000000a",
    "parentIds": [],
    "lowerPositive": ["secret(o@x.io/a/prod) @ * : reveal : k", "account(o@x.io) @ * : view : "],
    "lowerNegative": [],
    "upperPositive": [],
    "upperNegative": [],
    "createdAt": "2026-01-01T00:00:00Z",
    "expiresAt": "2026-02-01T00:00:00Z",
    "systemCard": False,
    "managedBy": None,
}
OTHER = {**CARD, "cardId": "7d0f0f0f-0000-4000-8000-00000000000c", "lowerPositive": ["account(o@x.io) @ * : view : "]}
WALLETS = (
    {"holder": "o@x.io/a/prod/s:c/Cart", "agentId": 'Cart("a")', "cards": []},
    {"holder": "o@x.io/a/prod/s:c/Bare", "agentId": 'Bare("b")', "cards": [CARD]},
    {"holder": "o@x.io", "cards": [OTHER]},
    {"holder": "o@x.io/a/prod/other:c/Gone", "agentId": "Gone(1)", "cards": [CARD]},
)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """A deployment as its manifest gives it (@1), and the place with an agent named as unnamed ones are, and others."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    (tmp_path / "golem.yaml").write_text(STORED)
    assert run(["db", "upgrade"]) == 0
    assert run(["import", "golem.yaml", "--env", "prod"]) == 0
    for at, wallet in enumerate(WALLETS):
        (tmp_path / f"w{at}.json").write_text(json.dumps(wallet))
        assert run(["import", f"w{at}.json", "--account", "o@x.io", "--application", "a", "--env", "prod"]) == 0
    capsys.readouterr()
    return f"@{1 + len(WALLETS)}"


@pytest.mark.parametrize(
    "words",
    [
        ["diff", "@1", "@"],
        ["diff", "@", "@1", "--at", "2026-01-15T00:00:00Z"],
        ["diff", "@1", "golem.yaml"],
        ["prove", "@1", "@", "--equivalent"],
        ["prove", "@", "@1", "--implies"],
        ["prove", "@", "--never", "secret(o@x.io/a/prod) : reveal : k"],
        ["prove", "@", "--always", "secret(o@x.io/a/prod) : reveal : k"],
        ["prove", "@", "--never", "account(any) : any : any"],
        ["prove", "@", "--never", "agent(any) : any : any"],
        ["what-if", "@", "--revoke", str(CARD["cardId"])],
        ["what-if", "@", "--install", "card.json", "--on", "Cart"],
        ["what-if", "@", "--agent", "Bare", "--add", "kv(?env) @ ?agent : read : a.b"],
    ],
    ids=" ".join,
)
def test_stored_deployments_with_wallets_of_agents(
    words: list[str], stored: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Types beside agents with wallets of their own, accounts, holders of other components, cards that expire."""
    (tmp_path / "card.json").write_text(json.dumps([{**CARD, "cardId": "7d0f0f0f-0000-4000-8000-00000000000b"}]))
    if "golem.yaml" in words:
        assert run([stored if word == "@" else word for word in words]) in (0, 1)
        assert "e.g." not in capsys.readouterr().out
        return
    assert replayed([stored if word == "@" else word for word in words], capsys) > 0
