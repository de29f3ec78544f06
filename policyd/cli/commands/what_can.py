"""policyd what-can: everything that a holder of a stored deployment may do."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("what-can")
@click.argument("place", metavar="@PLACE")
@click.argument("classes", nargs=-1, metavar="[CLASS]...")
@click.option("--agent", default="", help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@click.option("--holder", default="", help="An account, or account/app/env/component/Type.")
@click.option("--at", help="The moment asked about; default: expiry is left aside.")
@opt.rules
@opt.output("text", "json")
def command(
    place: str,
    classes: tuple[str, ...],
    agent: str,
    holder: str,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """List everything that a holder may do, class by class, and what limits it.

    @PLACE is `@12` or `@account/application/environment`; without a class all are listed.
    """
    from policyd.cli.output import as_json, write
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import StoredFacts
    from policyd.usecases.who_can import what, what_json, what_text

    if not agent and not holder:
        raise opt.usage("which holder is asked about?", "give `--agent Type` or `--holder`")
    rules = opt.rules_of(edition, switch)
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        facts = StoredFacts.of(snapshots.load(info))
        answer = what(store, facts, info, agent or holder, rules, classes=classes, at=opt.moment_of(at))
    if format == "json":
        where = {"edition": edition, "switches": dict(rules.overrides), "snapshot": f"@{info.number}"}
        write(as_json({**what_json(answer), **where}), output)
    else:
        write(what_text(answer), output)
    return Exit.YES
