"""policyd outcome: a declared sequence around one call, and what each observer sees."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.command("outcome")
@click.argument("sequence", type=opt.FILE)
@opt.output("text", "json")
def command(sequence: Path, format: str, output: Path | None) -> int:
    """Follow a declared SEQUENCE (results, outputs, cancel, detach, absent exports): what is seen, owned, left open."""
    from policyd.cli.output import as_json, write
    from policyd.usecases.outcome import answer_json, answer_lines, follow_sequence

    answer = follow_sequence(sequence)
    write(as_json(answer_json(answer)) if format == "json" else visible_lines(answer_lines(answer)), output)
    return Exit.YES
