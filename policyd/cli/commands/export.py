"""policyd export: a snapshot as one document."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("export")
@click.argument("place", metavar="@PLACE")
@click.option("--output", type=opt.FILE, help="Write to this file instead of stdout.")
def command(place: str, output: Path | None) -> int:
    """Write every stored fact of a snapshot as JSON that `policyd import` reads again, with the same digest.

    @PLACE is `@12` or `@account/application/environment`. Values were never stored; markers stand for them.
    """
    from policyd.cli.output import write
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots, export_lines

    with database() as store:
        snapshots = StoredSnapshots(store)
        deployment = snapshots.load(snapshots.resolve(place))
    write("".join(export_lines(deployment)), output)
    return Exit.YES
