"""policyd export: a snapshot as one document."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("export")
@click.argument("place", metavar="@PLACE")
@click.option("--decisions", is_flag=True, help="The decisions that were logged about its environment, as JSON lines.")
@click.option("--output", type=opt.FILE, help="Write to this file instead of stdout.")
def command(place: str, decisions: bool, output: Path | None) -> int:
    """Write every stored fact of a snapshot as JSON that `policyd import` reads again, with the same digest.

    @PLACE is `@12` or `@account/application/environment`. Values were never stored; markers stand for them.
    With --decisions the log of decisions is written in the form that `policyd unused --log` reads.
    """
    from policyd.cli.output import write
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots, export_lines

    with database() as store:
        snapshots = StoredSnapshots(store)
        if decisions:
            from policyd.usecases.unused_sources import own_decisions, written_line

            written = map(written_line, own_decisions(store, snapshots.resolve(place)))
            write("".join(f"{line}\n" for line in written if line is not None), output)
            return Exit.YES
        deployment = snapshots.load(snapshots.resolve(place))
    write("".join(export_lines(deployment)), output)
    return Exit.YES
