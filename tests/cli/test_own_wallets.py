"""Questions about a type speak of its agents with wallets of their own, too, whichever command asks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policyd.cli.main import run

MANIFEST = """manifestVersion: 1.6.0
app: a
environments: {prod: {server: cloud, account: o@x.io}}
components: {"s:c": {dir: c, templates: rust}}
agents:
  Cart: {initialCard: {lowerBound: {positive: ["secret(?env) @ ?agent : reveal : k"]}}}
  Bare: {initialCard: {lowerBound: {positive: ["network() @ ?agent : connect : h.com:443"]}}}
"""
KEY = "secret(o@x.io/a/prod) : reveal : k"
CARD = {
    "cardId": "7d0f0f0f-0000-4000-8000-00000000000a",
    "parentIds": [],
    "lowerPositive": ["secret(o@x.io/a/prod) @ * : reveal : k"],
    "lowerNegative": [],
    "upperPositive": [],
    "upperNegative": [],
    "createdAt": "2026-01-01T00:00:00Z",
    "expiresAt": None,
    "systemCard": False,
    "managedBy": None,
}
WALLETS = (("Cart", 'Cart("poor")', []), ("Bare", 'Bare("rich")', [CARD]))


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The deployment as the manifest gives it, and with one poor agent and one rich agent."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    (tmp_path / "golem.yaml").write_text(MANIFEST)
    assert run(["db", "upgrade"]) == 0
    assert run(["import", str(tmp_path / "golem.yaml"), "--env", "prod"]) == 0
    for at, (name, agent_id, cards) in enumerate(WALLETS):
        path = tmp_path / f"w{at}.json"
        path.write_text(json.dumps({"holder": f"o@x.io/a/prod/s:c/{name}", "agentId": agent_id, "cards": cards}))
        assert run(["import", str(path), "--account", "o@x.io", "--application", "a", "--env", "prod"]) == 0
    capsys.readouterr()
    return "@1", "@3"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    """What a command says as JSON."""
    run([*words, "--format", "json"])
    return json.loads(capsys.readouterr().out)


def test_a_type_is_not_admitted_where_one_agent_is_not(places, capsys):
    found = answer(capsys, "check", places[1], KEY, "--agent", "Cart")
    alone = answer(capsys, "check", places[1], KEY, "--agent", 'Cart("poor")')
    assert (found["admitted"], alone["admitted"], found["holdsFor"]) == ("no", "no", "some instances")
    assert 'Cart("poor")' in json.dumps(found["reasons"], ensure_ascii=False).replace('\\"', '"')
    assert not [note for note in found["notes"] if "every instance" in note]
    assert answer(capsys, "check", places[1], KEY, "--agent", 'Cart("other")')["admitted"] == "yes"


def test_an_admitted_agent_of_a_type_that_is_not_is_an_exception(places, capsys):
    found = answer(capsys, "check", places[1], KEY, "--agent", "Bare")
    assert (found["admitted"], found["exceptions"]) == ("no", ['Bare("rich")'])


def test_agents_that_agree_leave_every_instance(places, capsys):
    found = answer(capsys, "check", places[1], "secret(o@x.io/a/prod) : reveal : other", "--agent", "Cart")
    assert (found["admitted"], found["holdsFor"]) == ("no", "every instance")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["prove", "@3", "--never", KEY, "--agent", "Bare"], 1),
        (["prove", "@1", "--never", KEY, "--agent", "Bare"], 0),
        (["prove", "@3", "--always", KEY, "--agent", "Cart"], 1),
        (["prove", "@1", "--always", KEY, "--agent", "Cart"], 0),
        (["prove", "@1", "@3", "--equivalent", "--agent", "Bare"], 1),
        (["prove", "@3", "@1", "--implies", "--agent", "Bare"], 1),
        # the wallet is in place of the initial card, whose `network` is lost with it
        (["prove", "@1", "@3", "--implies", "--agent", "Bare"], 1),
        (["prove", "@1", "@3", "--implies", "--agent", 'Bare("other")'], 0),
        (["diff", "@1", "@3", "--agent", "Bare", "--fail-on", "any"], 1),
        (["diff", "@1", "@3", "--agent", 'Bare("other")', "--fail-on", "any"], 0),
    ],
)
def test_proofs_and_differences_of_a_type_hold_for_all_its_agents(places, words, code):
    assert run(words) == code


def test_who_can_names_the_agents_that_may_not(places, capsys):
    found = {(h["holder"], h["agentId"]): h for h in answer(capsys, "who-can", places[1], KEY)["holders"]}
    assert set(found) == {("o@x.io/a/prod/s:c/Cart", None), ("o@x.io/a/prod/s:c/Bare", 'Bare("rich")')}
    assert found["o@x.io/a/prod/s:c/Cart", None]["exceptWallets"] == ['Cart("poor")']


def test_a_query_that_leaves_out_what_other_agents_own_is_not_complete(tmp_path, monkeypatch, capsys):
    """The search asks for the own files of an agent only; a card that lends others' says so."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path / 'x.db'}")
    card = '{initialCard: {lowerBound: {positive: ["%s"]}}}'
    own = card % "filesystem(?agent) @ ?agent : read : /a/**"
    wide = card % "filesystem(?component/*) @ ?agent : read : /a/**"
    head = MANIFEST.partition("agents:")[0]
    for name, lines in (("own", f"  T: {own}\n"), ("wide", f"  T: {own}\n  W: {wide}\n")):
        (tmp_path / f"{name}.yaml").write_text(f"{head}agents:\n{lines}")
    assert run(["db", "upgrade"]) == 0
    for at, (name, is_complete) in enumerate((("own", True), ("wide", False)), 1):
        assert run(["import", str(tmp_path / f"{name}.yaml"), "--env", "prod"]) == 0
        capsys.readouterr()
        found = answer(capsys, "who-can", f"@{at}", "filesystem(any) : read : /a/b")
        assert found["complete"] is is_complete, found
        assert bool(found["notAnalysed"]) is not is_complete
