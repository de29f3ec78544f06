"""Every example says what its command prints: run as printed, through the real command line."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / "examples").glob("*/*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT / "examples")))
def test_example_prints_what_it_says(path: Path) -> None:
    """The first line is the command, the last one the exit code, between them stands what is printed."""
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    body, _, last = rest.rstrip("\n").rpartition("\n")
    assert first.startswith("$ policyd ")
    assert last.startswith("exit ")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("POLICYD_")}
    done = subprocess.run(
        [sys.executable, "-m", "policyd", *shlex.split(first[len("$ policyd ") :])],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if os.environ.get("POLICYD_UPDATE_EXAMPLES"):
        path.write_text(f"{first}\n{done.stdout.rstrip()}\nexit {done.returncode}\n", encoding="utf-8")
        return
    assert done.stdout.rstrip() == body.rstrip()
    assert done.returncode == int(last.split()[1])
    assert done.stderr == ""


def test_there_are_examples() -> None:
    """A glob that finds nothing would make the test above pass in silence."""
    assert len(FILES) >= 8
