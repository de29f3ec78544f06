"""What a user named is shown on one line, escaped: no control, bidi or other hidden character reaches the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from policyd.cli.main import run
from policyd.findings import visible, visible_lines

HOSTILE = "\x1b[31m\u202e\nadmitted: yes\r\x07\x9b\u200b"
SHOWN = "\\x1b[31m\\u202e"

MANIFEST = {
    "manifestVersion": "1.6.0",
    "app": "shop",
    "environments": {"prod": {"server": "cloud"}, "stage": {"server": "cloud"}},
    "components": {"s:c": {"dir": "c"}},
    "agents": {
        f"A{HOSTILE}": {
            "initialCard": {
                "lowerBound": {
                    "positive": [
                        f"kv(?env) @ ?agent : read : a.{HOSTILE}",
                        f"kv(?env) @ ?agent : read : a.{HOSTILE}",
                        "kv(other/a/b) @ ?agent : read : a.b",
                        f"nothing{HOSTILE}",
                    ]
                }
            },
            "presets": {
                f"p{HOSTILE}": {
                    "initialCard": {"lowerBound": {"positive": [f"kv(?env) @ ?agent : read : b.{HOSTILE}"]}}
                }
            },
        },
        f"B{HOSTILE}": {"initialCard": {"lowerBound": {"positive": [f"kv(?env) @ ?agent : read : a.{HOSTILE}"]}}},
        f"C{HOSTILE}": {},
    },
}
CARD = {
    "type": "Concrete",
    "cardId": "01930000-0000-7000-8000-000000000001",
    "parentIds": [],
    "lowerPositive": [f"kv(a/b/c) @ * : read : a.{HOSTILE}", "card(a) @ * : * : *"],
    "lowerNegative": [],
    "upperPositive": [],
    "upperNegative": [],
    "createdAt": "2026-01-01T00:00:00Z",
    "expiresAt": None,
    "systemCard": True,
    "managedBy": None,
}
AGENT = f"B{HOSTILE}"
QUESTION = f"kv(?env) : read : a.{HOSTILE}"
GRANT = f"kv(?env) @ ?agent : read : c.{HOSTILE}"
RUNS = {
    "grant": ["grant", GRANT],
    "grant refused": ["grant", f"kv(?env{HOSTILE}) @ ?agent : read : a"],
    "show the list": ["show", "golem.yaml"],
    "show one": ["show", "golem.yaml", "--agent", AGENT],
    "no such environment": ["show", "golem.yaml", "--agent", AGENT, "--env", f"e{HOSTILE}"],
    "show one with a preset": ["show", "golem.yaml", "--agent", f"A{HOSTILE}", "--preset", f"p{HOSTILE}"],
    "show none": ["show", "golem.yaml", "--agent", f"D{HOSTILE}"],
    "show one with a bad grant": ["show", "golem.yaml", "--agent", f"A{HOSTILE}"],
    "check": ["check", "golem.yaml", "--agent", AGENT, QUESTION],
    "check a literal": ["check", "golem.yaml", "--agent", f'{AGENT}("{HOSTILE}")', "kv(?env) : read : z.y"],
    "audit": ["audit", "golem.yaml"],
    "audit with a deployer": ["audit", "golem.yaml", "--deployer", "cards.json"],
    "audit one environment": ["audit", "golem.yaml", "--env", "stage", "--account", f"x{HOSTILE}"],
    "prove": ["prove", "golem.yaml", "--agent", AGENT, "--never", "kv(any) : any : any"],
    "prove a relation": ["prove", "golem.yaml", "other.yaml", "--agent", AGENT, "--implies"],
    "diff": ["diff", "golem.yaml", "other.yaml", "--agent", AGENT],
    "diff as Markdown": ["diff", "golem.yaml", "other.yaml", "--agent", AGENT, "--format", "markdown"],
    "diff as annotations": ["diff", "golem.yaml", "other.yaml", "--agent", AGENT, "--format", "github"],
    "what-if": ["what-if", "golem.yaml", "--agent", AGENT, "--add", GRANT],
    "synth": ["synth", "golem.yaml", "--agent", AGENT, "--allow", "calls.txt"],
    "derive": ["card", "derive", "--wallet", "wallet.json", "--bounds", "bounds.json"],
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    other = {**MANIFEST, "agents": {AGENT: {"initialCard": {"lowerBound": {"positive": [GRANT]}}}}}
    wallet = {"holder": "a/b/c/d:e/T", "agentId": "T(1)", "cards": [CARD]}
    contents = {
        "golem.yaml": MANIFEST,
        "other.yaml": other,
        "cards.json": [CARD],
        "wallet.json": wallet,
        "bounds.json": {"lowerPositive": [f"kv(a/b/c) @ * : read : a.{HOSTILE}"]},
    }
    for name, value in contents.items():
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    (tmp_path / "calls.txt").write_text("kv(?env) : read : a.\x1b[31m\u202e\x9b\n", encoding="utf-8")
    return tmp_path


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", RUNS)
def test_nothing_hidden_reaches_the_terminal(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a rendering only its own line breaks do not print, and no line is forged."""
    assert run(RUNS[name]) in (0, 1, 2, 3)
    told = capsys.readouterr()
    text = told.out + told.err
    assert SHOWN in text
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert "admitted: yes" not in text.split("\n")


@pytest.mark.usefixtures("files")
def test_json_keeps_the_data(capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is data: it holds the texts as they are."""
    run(["grant", GRANT, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["grants"][0]["canonical"] == GRANT.rstrip()


def test_visible_leaves_what_prints() -> None:
    """Escapes are shown once, and printable texts of any script stay as they are."""
    assert visible("Warenkorb «ü» 注文 🛒") == "Warenkorb «ü» 注文 🛒"
    assert visible(visible(HOSTILE)) == visible(HOSTILE)
    assert visible_lines([HOSTILE, "b"]).count("\n") == 1
