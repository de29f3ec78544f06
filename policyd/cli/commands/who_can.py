"""policyd who-can: which holders of a stored deployment may do this."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("who-can")
@click.argument("place", metavar="@PLACE")
@click.argument("target")
@click.option("--at", help="The moment asked about; default: expiry is left aside.")
@opt.rules
@opt.output("text", "json")
def command(
    place: str, target: str, at: str | None, edition: str, switch: tuple[str, ...], format: str, output: Path | None
) -> int:
    """List every holder that may do this, and the grants that let it.

    @PLACE is `@12` or `@account/application/environment`. TARGET may be a query: owner, verb and resource
    `any`, resource `under(x)`. A pattern asks for all of it by one grant, and who may do some of it is
    listed, too. Exit 3 if the list may be incomplete.
    """
    from policyd.cli.output import as_json, write
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import StoredFacts
    from policyd.usecases.who_can import who, who_json, who_text

    rules = opt.rules_of(edition, switch)
    moment = opt.moment_of(at)
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        answer = who(store, StoredFacts.of(snapshots.load(info)), info, target, rules, moment)
    if format == "json":
        where = {"edition": edition, "switches": dict(rules.overrides), "snapshot": f"@{info.number}"}
        write(as_json({**who_json(answer), **where}), output)
    else:
        write(who_text(answer), output)
    return Exit.YES if answer.is_complete else Exit.UNDECIDED
