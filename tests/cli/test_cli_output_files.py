"""Files that a command writes: whole, and with the mode that other programs expect."""

import os
import stat
from pathlib import Path

import pytest

from policyd.cli.output import write


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_new_file_has_the_mode_of_the_mask(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write("x", tmp_path / "out.txt")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.txt").stat().st_mode) == mode


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o604)
    write("new", out)
    assert out.read_text(encoding="utf-8") == "new\n"
    assert stat.S_IMODE(out.stat().st_mode) == 0o604
