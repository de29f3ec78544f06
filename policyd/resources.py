"""Finds the data that the package carries, in a checkout or in a wheel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def data_dir(name: str) -> Path:
    """The folder `name` (`grammar`, `migrations`): inside a wheel, or beside the package in a checkout.

    Raises:
        FileNotFoundError: if the installation is incomplete.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"policyd is installed without its {name} files")


@cache
def grammar_text(name: str) -> str:
    """The text of `grammar/<name>.lark`."""
    return (data_dir("grammar") / f"{name}.lark").read_text(encoding="utf-8")
