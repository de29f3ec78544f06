"""The commands on schemas, values, tools and chains, case by case."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.cli.main import run
from policyd.core.tools.reflection import (
    IDENTITIES,
    MOVES,
    QUESTIONS,
    Approach,
    By,
    Knowledge,
    fitting,
    impossible_after,
    unchecked_after,
)
from policyd.core.tools.reflection_cases import KNOWLEDGE

FOLDER = Path(__file__).parents[1] / "cases" / "chains"
CASES = [
    case
    for name in ("commands", "reports")
    for case in YAML(typ="safe").load((FOLDER / f"{name}.yaml").read_text("utf-8"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_command(case, tmp_path, capsys, monkeypatch):
    """Exit code, and the texts that must (and must not) stand on stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name, text in case.get("files", {}).items():
        (tmp_path / name).write_text(text.replace("\\n", "\n"), encoding="utf-8")
    code = run([str(word) for word in case["run"]])
    told = capsys.readouterr()
    assert code == case["exit"], told.out + told.err
    for part in case.get("out", []):
        assert part in told.out
    for part in case.get("err", []):
        assert part in told.err
    for part in case.get("never", []):
        assert part not in told.out + told.err
    assert "Traceback" not in told.out + told.err


def test_the_tables_are_complete():
    """Every question has an answer per client, and what the host does; every identity likewise."""
    assert [row.key for row in QUESTIONS] == [f"A{i}" for i in range(1, 17)] + [f"V{i}" for i in range(1, 6)]
    assert all(len(row.cells) == len(Approach) and row.host for row in QUESTIONS)
    assert all(len(words) == len(Approach) for words in IDENTITIES.values())
    assert len({row.key for row in KNOWLEDGE}) == len(KNOWLEDGE) == 32
    assert set(MOVES) == {(start, to) for start in Approach for to in Approach if start is not to}


def test_every_knowledge_leads_to_a_client():
    """Shared source always wins, and nothing at all leaves the dynamic client (5.1)."""
    for item in Knowledge:
        approach, why = fitting(frozenset({item}))
        assert why
        assert (approach is Approach.NORMAL_RPC) is (item is Knowledge.SHARED_SOURCE)
    assert fitting(frozenset())[0] is Approach.DYNAMIC


@pytest.mark.parametrize("start", Approach)
@pytest.mark.parametrize("to", Approach)
def test_a_move_names_what_nobody_checks_any_more(start, to):
    """Exactly the rows that the client answered before, and leaves to the caller or to nobody after the move."""
    lost = {row.key for row in unchecked_after(start, to)}
    for row in QUESTIONS:
        before, after = row.cell(start).by, row.cell(to).by
        assert (row.key in lost) is (before not in (By.CALLER, By.NOBODY) and after in (By.CALLER, By.NOBODY))
    assert (start is to) <= (not lost and not impossible_after(start, to))


def test_a_move_to_methods_alone_creates_nothing():
    """Without a constructor no agent comes into being, and no ephemeral type is called."""
    gone = [found.value for found in impossible_after(Approach.DISCOVERED, Approach.METHOD_ONLY)]
    assert gone == ["constructor-values", "ephemeral-type"]
