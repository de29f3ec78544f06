"""Writing data to where the user wants it: the terminal, a pipe or a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

from policyd.findings import InputError, PolicydError


def argument_lines(source: str, number: int) -> str | None:
    """Lines of sources that are not at hand."""
    return None


def lines_of(error: PolicydError) -> Callable[[str, int], str | None]:
    """The source lines to show with an error: of the manifest it is about, or of the argument that was read."""
    lines = getattr(error, "lines", None)
    if callable(lines):
        return cast("Callable[[str, int], str | None]", lines)
    text = getattr(error, "text", None)
    if isinstance(text, str):
        rows = text.split("\n")
        return lambda source, number: rows[number - 1] if source == "argument" and number <= len(rows) else None
    return argument_lines


def write(text: str, output: Path | None) -> None:
    """Write data to `output`, or to stdout; a file is replaced as a whole or not at all.

    Raises:
        InputError: if the file cannot be written.
    """
    from policyd.cli.used import with_snapshot_lines

    text = with_snapshot_lines(text)
    if not text.endswith("\n"):
        text += "\n"
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        import tempfile

        handle, name = tempfile.mkstemp(dir=output.parent or Path(), prefix=f".{output.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
                stream.write(text)
            os.chmod(name, _mode_of(output))
            os.replace(name, output)
        except OSError:
            os.unlink(name)
            raise
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise InputError.of("STORE043", f"`{output}` cannot be written: {reason}") from None


def _mode_of(output: Path) -> int:
    """The mode that a file has, or that a new one gets by the mask of the process."""
    try:
        return os.stat(output).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def as_json(value: object) -> str:
    """An answer as indented JSON, keys in the order given, with the stored snapshots that it was read from."""
    import json

    from policyd.cli.used import with_snapshots

    return json.dumps(with_snapshots(value), indent=2, ensure_ascii=False)
