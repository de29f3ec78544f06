"""The stored snapshots that a command has read: its answer names each, with revision and digest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from policyd.store.snapshots import SnapshotInfo

_KEY = "policyd.snapshots"
_IN_WORDS = ("text", "markdown")


def snapshots_read() -> list[SnapshotInfo]:
    """Those that the running command has read so far; a command that looks one up adds it here."""
    context = click.get_current_context(silent=True)
    if context is None:
        return []
    found: list[SnapshotInfo] = context.meta.setdefault(_KEY, [])
    return found


def _form() -> str:
    context = click.get_current_context(silent=True)
    return str(context.params.get("format", "")) if context is not None else ""


def with_snapshots(value: object) -> object:
    """The JSON of an answer with the snapshots it was read from: one beside the other members, several as a list."""
    read = snapshots_read()
    if not read or _form() != "json" or not isinstance(value, dict):
        return value
    from policyd.usecases.snapshots import used_json

    if len(read) == 1:
        return {**value, **used_json(read[0])}
    return {**value, "snapshots": [used_json(info) for info in read]}


def with_snapshot_lines(text: str) -> str:
    """The words of an answer with a line for each snapshot it was read from; other forms are as they were."""
    read = snapshots_read()
    if not read or _form() not in _IN_WORDS:
        return text
    from policyd.findings import visible_lines
    from policyd.usecases.snapshots import used_words

    lines = [words for words in map(used_words, read) if words not in text]
    between = "\n" if _form() == "text" else "\n\n"
    return between.join((text.rstrip("\n"), *(visible_lines([line]) for line in lines)))
