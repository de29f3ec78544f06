"""What was reported of retries, budgets, waits and sagas: what policyd answers, in both editions."""

import shlex
from typing import Any

import pytest
from retry_notation import CASES, load_cases

from policyd.cli.main import run

QUESTIONS = [
    pytest.param(case, edition, id=f"{case['title']}-{edition}")
    for case in load_cases("reports.yaml")
    for edition in ([case["edition"]] if "edition" in case else ["next", "snapshot"])
]


@pytest.mark.parametrize(("case", "edition"), QUESTIONS)
def test_report(
    case: dict[str, Any], edition: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer has the exit code and the texts that the case names."""
    monkeypatch.chdir(CASES / "questions")
    code = run([*shlex.split(case["ask"]), "--edition", edition])
    out = capsys.readouterr().out
    assert code == case["exit"], out
    for text in case.get("has", ()):
        assert text in out, out
    for text in case.get("not", ()):
        assert text not in out, out
