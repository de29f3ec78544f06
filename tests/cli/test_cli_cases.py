"""The command line, case by case: files, arguments, exit code, and what is told where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from policyd.cli.main import run

CASES = Path(__file__).parent.parent / "cases" / "cli"


def read_cases() -> list[Any]:
    yaml = YAML(typ="safe")
    return [
        pytest.param(case, id=f"{path.stem}: {case['title']}")
        for path in sorted(CASES.glob("*.yaml"))
        for case in yaml.load(path)
    ]


@pytest.mark.parametrize("case", read_cases())
def test_command_line(
    case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code, and the texts that must (and must not) stand on stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name, text in case.get("files", {}).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    code = run([str(word) for word in case["run"]])
    told = capsys.readouterr()
    assert code == case["exit"], told.out + told.err
    for part in case.get("out", []):
        assert part in told.out
    for part in case.get("err", []):
        assert part in told.err
    for part in case.get("never", []):
        assert part not in told.out + told.err
    if code == 2 and "conformance" not in case["run"]:
        assert told.out == ""
    assert "Traceback" not in told.out + told.err
