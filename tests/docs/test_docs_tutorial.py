"""The tutorial, followed as it is written, in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<rest>[^\n]*))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def matches(shown: str, told: str) -> bool:
    """Whether an output is as shown; a line of `…` leaves out lines, `…` within one the rest of it."""
    pattern = "".join(
        "(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.split("\n")
    )
    return re.fullmatch(pattern, told.rstrip("\n") + "\n") is not None


def commands(body: str) -> list[tuple[str, str]]:
    """Every command with the output shown below it."""
    parts = re.split(r"^\$ (.*)$", body, flags=re.MULTILINE)
    return [(parts[i], parts[i + 1].strip("\n")) for i in range(1, len(parts), 2)]


def test_the_tutorial_as_it_is_written(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "policyd").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m policyd "$@"\n', encoding="utf-8")
    (tools / "policyd").chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    code, asked = 0, 0
    for block in _BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        kind, rest, body = block["kind"], block["rest"] or "", block["body"]
        if kind == "yaml":
            (folder / rest).parent.mkdir(parents=True, exist_ok=True)
            (folder / rest).write_text(body, encoding="utf-8")
        elif kind == "edit":
            new, _, old = rest.partition(" from ")
            text = (folder / old).read_text(encoding="utf-8")
            first = body.split("\n")[0] + "\n"
            assert text.count(first) == 1
            (folder / new).write_text(text.replace(first, body), encoding="utf-8")
        else:
            assert kind == "console"
            for command, shown in commands(body):
                asked += 1
                if command == "echo $?":
                    assert shown == str(code)
                elif command.startswith("cp "):
                    _, source, target = command.split()
                    shutil.copyfile(folder / source, folder / target)
                else:
                    done = subprocess.run(
                        command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
                    )
                    code = done.returncode
                    assert matches(shown, done.stdout), f"$ {command}\n{done.stdout}{done.stderr}"
    assert asked >= 11
