"""Writing data to where the user wants it: the terminal, a pipe or a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from policyd.findings import InputError


def argument_lines(source: str, number: int) -> str | None:
    """Lines of sources that are not at hand."""
    return None


def write(text: str, output: Path | None) -> None:
    """Write data to `output`, or to stdout; a file is replaced as a whole or not at all.

    Raises:
        InputError: if the file cannot be written.
    """
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
            os.replace(name, output)
        except OSError:
            os.unlink(name)
            raise
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise InputError.of("STORE043", f"`{output}` cannot be written: {reason}") from None


def as_json(value: object) -> str:
    """A value as indented JSON, keys in the order given."""
    import json

    return json.dumps(value, indent=2, ensure_ascii=False)
