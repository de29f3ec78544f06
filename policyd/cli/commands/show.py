"""policyd show: the cards that decide for an agent type, or for one agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policyd.core.edition import Rules
    from policyd.report import Lines
    from policyd.store.snapshots import SnapshotInfo
    from policyd.usecases.deployments import Selection
    from policyd.usecases.show_card import ShownCard


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
    Where a wallet was imported for the agent or its type, the cards of that wallet are shown: they decide.
    """
    from policyd.cli.output import argument_lines, as_json, write
    from policyd.findings import visible_lines
    from policyd.report import finding_text
    from policyd.usecases.deployments import Selection
    from policyd.usecases.show_card import card_json, card_text
    from policyd.usecases.snapshots import used_json, used_words

    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    rows: list[dict[str, object]]
    card: ShownCard | None
    if str(manifest).startswith("@"):
        opt.demand_unplaced(env=env, preset=preset, account=account, include_root=include_root)
        rows, card, info, environment = _stored(str(manifest), agent, rules, component)
        lines: Lines = argument_lines
    else:
        rows, card, environment, lines = _described(manifest, agent, rules, selection, include_root)
        info = None
    used = used_json(info)
    if card is None:
        if format == "json":
            write(as_json({"environment": environment, "agents": rows, **used}), output)
            return Exit.YES
        listed = [f"{row['name']}: {row['card']}, component {row['component'] or 'unknown'}{_own(row)}" for row in rows]
        write(visible_lines([*listed, *([used_words(info)] if info else [])]), output)
        return Exit.YES
    if format == "json":
        write(as_json({**card_json(card), **used}), output)
        return Exit.YES
    text = card_text(card)
    if info is not None:
        text += "\n" + visible_lines([used_words(info)])
    text += "".join(f"\n\n{finding_text(bad, lines)}" for bad in card.bad)
    write(text, output)
    return Exit.YES


def _own(row: Mapping[str, object]) -> str:
    own = row["ownWallets"]
    return f"; own wallets: {', '.join(own[:3])}{' …' if len(own) > 3 else ''}" if isinstance(own, list) and own else ""


def _described(
    manifest: Path, agent: str, rules: Rules, selection: Selection, include_root: Path | None
) -> tuple[list[dict[str, object]], ShownCard | None, str, Lines]:
    """What a manifest says: of all agent types, or of one."""
    from policyd.usecases.deployments import described, load
    from policyd.usecases.show_card import agents_json, shown_card

    found = described(load(manifest, rules, include_root), selection, rules)
    card = shown_card(found, selection, agent, rules) if agent else None
    return agents_json(found.deployment), card, found.deployment.environment, found.line


def _stored(
    place: str, agent: str, rules: Rules, component: str
) -> tuple[list[dict[str, object]], ShownCard | None, SnapshotInfo, str]:
    """What a stored deployment says: of all agent types, or of one."""
    from policyd.cli.store import database
    from policyd.usecases.show_stored import shown_stored, stored_agents_json
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import StoredFacts

    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        facts = StoredFacts.of(snapshots.load(info))
    card = shown_stored(facts, agent, rules, component) if agent else None
    return stored_agents_json(facts, rules), card, info, info.environment
