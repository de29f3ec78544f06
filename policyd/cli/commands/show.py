"""policyd show: the effective initial card of an agent type."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.usecases.deployments import Described


@click.command("show")
@click.argument("manifest", type=opt.FILE, metavar="MANIFEST|@PLACE")
@click.option("--agent", default="", help="Agent type (Cart) or full id ('Cart(\"u1\")'); without it all are listed.")
@opt.place
@opt.rules
@opt.output("text", "json")
def command(
    manifest: Path,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Show the effective initial card: every grant, where it comes from, slots filled as far as they are known.

    @PLACE is a stored deployment: `@12`, or `@account/application/environment` for its latest snapshot.
    """
    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.report import finding_text
    from policyd.usecases.deployments import Selection, described, load
    from policyd.usecases.show_card import agents_json, card_json, card_text, shown_card

    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    if str(manifest).startswith("@"):
        opt.demand_unplaced(env=env, preset=preset, account=account, include_root=include_root)
        deployment = _stored(str(manifest), rules)
    else:
        deployment = described(load(manifest, rules, include_root), selection, rules)
    if not agent:
        rows = agents_json(deployment.deployment)
        if format == "json":
            write(as_json({"environment": deployment.deployment.environment, "agents": rows}), output)
        else:
            listed = (f"{r['name']}: {r['card']}, component {r['component'] or 'unknown'}" for r in rows)
            write(visible_lines(listed), output)
        return Exit.YES
    card = shown_card(deployment, selection, agent, rules)
    if format == "json":
        write(as_json(card_json(card)), output)
    else:
        text = card_text(card)
        text += "".join(f"\n\n{finding_text(bad, deployment.line)}" for bad in card.bad)
        write(text, output)
    return Exit.YES


def _stored(place: str, rules: Rules) -> Described:
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import described_facts

    with database() as store:
        snapshots = StoredSnapshots(store)
        return described_facts(snapshots.load(snapshots.resolve(place)), rules)
