"""policyd snapshots: what the database holds."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.command("snapshots")
@click.option("--account", default="", help="Only of this account.")
@click.option("--application", default="", help="Only of this application.")
@click.option("--latest", is_flag=True, help="Only the latest of each environment.")
@opt.output("text", "json")
def command(account: str, application: str, latest: bool, format: str, output: Path | None) -> int:
    """List the snapshots in the database, oldest first."""
    from policyd.cli.output import as_json, write
    from policyd.cli.store import database
    from policyd.core.grants.names import ascii_lower
    from policyd.store.snapshots import MAX_PAGE, Scope, SnapshotInfo, snapshots
    from policyd.usecases.snapshots import snapshot_json, snapshot_line

    found: list[SnapshotInfo] = []
    with database() as store:
        while True:
            after = found[-1].number if found else 0
            page = snapshots(store, after=after, scope=Scope(ascii_lower(account), application), only_latest=latest)
            found += page
            if len(page) < MAX_PAGE:
                break
    if format == "json":
        write(as_json({"snapshots": [snapshot_json(info) for info in found]}), output)
    else:
        write(visible_lines(map(snapshot_line, found)) or "no snapshots", output)
    return Exit.YES
