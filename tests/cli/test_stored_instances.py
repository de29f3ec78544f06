"""Agents with wallets of their own are compared with themselves, phantoms and manifests included, and asked once."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from policyd.cli.main import run

HERE = "o@x.io/a/prod"
PHANTOM = 'Cart("p")[7d0f0f0f-0000-4000-8000-00000000000b]'
NAMED = 'Cart("named")'
MANIFEST = """manifestVersion: 1.6.0
app: a
environments: {prod: {server: cloud%s}}
components: {"s:c": {dir: c, templates: rust}}
agents:
  Cart:
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : s.**"
          - 'agent(?env/s:c/Cart("named")) @ ?agent : view :'
"""
SELF_VIEW = "agent(?agent) : view : "
Ask = Callable[..., tuple[int, dict]]


def card(number: int, *grants: str) -> dict[str, object]:
    lists = ("lowerNegative", "upperPositive", "upperNegative", "parentIds")
    plain = {"createdAt": "2026-01-01T00:00:00Z", "expiresAt": None, "systemCard": False, "managedBy": None}
    number_text = f"7d0f0f0f-0000-4000-8000-{number:012d}"
    return {"cardId": number_text, "lowerPositive": list(grants), **{name: [] for name in lists}, **plain}


def wallet(agent: str, *cards: dict[str, object]) -> dict[str, object]:
    agent_id = {"agentId": agent} if "(" in agent else {}
    return {"holder": f"{HERE}/s:c/Cart", **agent_id, "cards": list(cards)}


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """A store where the wallet of a phantom (@2), of a named agent (@3), and of an account (@4) were imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    Path("golem.yaml").write_text(MANIFEST % ", account: o@x.io")
    Path("open.yaml").write_text(MANIFEST % "")
    account = {"holder": "o@x.io", "cards": [card(3, f"kv({HERE}) @ * : read : t.**")]}
    wallets = (wallet(PHANTOM, card(1)), wallet(NAMED, card(2)), account)
    place = ("--account", "o@x.io", "--application", "a", "--env", "prod")
    assert run(["db", "upgrade"]) == 0
    assert run(["import", "golem.yaml", "--env", "prod"]) == 0
    for number, given in enumerate(wallets):
        Path(f"w{number}.json").write_text(json.dumps(given))
        assert run(["import", f"w{number}.json", *place]) == 0

    def asked(*words: str) -> tuple[int, dict]:
        capsys.readouterr()
        code = run([*words, "--format", "json"])
        out = capsys.readouterr().out
        return code, json.loads(out) if out else {}

    return asked


def started(found: dict) -> dict[str, list[str]]:
    return {
        h["name"]: [w["call"] for w in h["started"]["witnesses"]] for h in found["holders"] if h["started"]["count"]
    }


def confirm(found: object) -> int:
    """Every command line below an answer says what the answer says; their number."""
    if isinstance(found, list):
        return sum(map(confirm, found))
    if not isinstance(found, dict):
        return 0
    if "command" in found:
        assert run(shlex.split(found["command"])[1:]) == (0 if found["admitted"] else 1), found["command"]
        return 1
    return sum(map(confirm, found.values()))


def test_what_a_phantom_gains_is_found(ask):
    code, found = ask("diff", "@2", "@1")
    assert (code, started(found)) == (
        1,
        {PHANTOM: ['agent(?component/Cart("named")) : view : ', "kv(?env) : read : s.key"]},
    )
    assert not [note for note in found["notes"] if "is gone" in note]
    assert confirm(found) == 4
    assert ask("diff", "@1", "@2")[0] == 0
    assert ask("diff", "@1", "@2", "--fail-on", "lost-access")[0] == 1


@pytest.mark.parametrize("relation", ["--implies", "--equivalent"])
@pytest.mark.parametrize("agent", [(), ("--agent", NAMED)])
def test_a_manifest_is_compared_with_the_same_agents(ask, relation, agent):
    code, found = ask("prove", "golem.yaml", "@3", relation, "--env", "prod", *agent)
    failed = [row["name"] for row in found["results"] if row["answer"] == "fails"]
    assert (code, failed) == (1, [NAMED] if agent else [NAMED, PHANTOM])
    assert confirm(found) == 2 * len(failed)
    code, found = ask("diff", "@3", "golem.yaml", "--env", "prod", *agent)
    assert (code, sorted(started(found))) == (1, failed)
    assert confirm(found) == 4 * len(failed)


def test_an_agent_with_its_own_wallet_is_not_asked_about_with_that_of_its_type(ask):
    before, after = (ask("prove", place, "--never", SELF_VIEW) for place in ("@2", "@3"))
    assert (before[0], [r["name"] for r in before[1]["results"] if r["witness"]]) == (1, [f"Cart as {NAMED}"])
    assert confirm(before[1]) == 1
    assert after[0] == 0


def test_an_open_account_may_be_that_of_the_other_side(ask):
    code, found = ask("prove", "open.yaml", "@1", "--disjoint", "--env", "prod")
    assert (code, "account is o@x.io" in found["results"][0]["reason"]) == (3, True)
    assert ask("prove", "open.yaml", "golem.yaml", "--disjoint", "--env", "prod")[0] == 3
    assert ask("prove", "open.yaml", "@1", "--equivalent", "--env", "prod", "--account", "o@x.io")[0] == 0


def test_a_slot_is_asked_about_for_agents_where_an_account_holds_cards_too(ask):
    code, found = ask("prove", "@4", "--never", "kv(?env) : read : t.x")
    assert (code, [row["name"] for row in found["results"]]) == (0, ["Cart", NAMED, PHANTOM])
    assert [note for note in found["notes"] if note.startswith("not asked about `o@x.io`")]
    assert ask("prove", "@4", "--never", f"kv({HERE}) : read : t.x")[0] == 1


def test_a_card_can_be_put_on_a_phantom_that_has_no_wallet_yet(ask):
    Path("card.json").write_text(json.dumps(card(7, f"kv({HERE}) @ * : read : new.**")))
    code, found = ask("what-if", "@1", "--install", "card.json", "--on", PHANTOM)
    assert (code, started(found)) == (0, {PHANTOM: ["kv(?env) : read : new.key"]})
    assert confirm(found) == 1


def test_an_edit_of_an_initial_card_does_not_speak_of_imported_wallets(ask):
    Path("type.json").write_text(json.dumps(wallet("Cart", card(8, f"kv({HERE}) @ * : read : t.**"))))
    added = ("--agent", "Cart", "--add", "kv(?env) @ ?agent : read : t.**")
    assert confirm(ask("what-if", "@3", *added)[1]) == 1
    assert run(["import", "type.json", "--account", "o@x.io", "--application", "a", "--env", "prod"]) == 0
    found = ask("what-if", "@5", *added)[1]
    assert confirm(found) == 0
    assert [note for note in found["notes"] if note.startswith("only initial cards are looked at")]


def test_a_card_of_the_type_is_no_matter_of_an_agent_with_its_own_wallet(ask):
    own = f'agent({HERE}/s:c/Cart("named")) @ * : view :'
    Path("type.json").write_text(json.dumps(wallet("Cart", card(8, own))))
    assert run(["import", "type.json", "--account", "o@x.io", "--application", "a", "--env", "prod"]) == 0
    found = ask("what-if", "@5", "--revoke", "7d0f0f0f-0000-4000-8000-000000000008")[1]
    assert [h["name"] for h in found["holders"]] == ["Cart"]
    assert confirm(found) == 1


@pytest.mark.parametrize("sides", [("golem.yaml", "open.yaml"), ("open.yaml", "golem.yaml"), ("@1", "open.yaml")])
def test_a_witness_means_the_same_call_where_the_accounts_differ(ask, sides):
    """A slot stands for another account on each side, so the call is written out."""
    for name, account in (("golem.yaml", ", account: o@x.io"), ("open.yaml", "")):
        text = MANIFEST % account
        own = '          - "agent(?agent) @ ?agent : delete : "\n          - "env(?agent) @ ?agent : read : A"\n'
        Path(name).write_text(text + own + f'          - "agent({HERE}/s:c/*) @ ?agent : invoke : run"\n')
    _, found = ask("diff", *sides, "--env", "prod", "--fail-on", "any")
    assert confirm(found) >= 8
    calls = [call for called in started(found).values() for call in called]
    if "@1" not in sides:
        assert [call for call in calls if call.startswith("env(") and "?" not in call]
    for relation in ("--implies", "--equivalent"):
        assert confirm(ask("prove", *sides, relation, "--env", "prod")[1]) >= 0
