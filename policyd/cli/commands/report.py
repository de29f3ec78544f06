"""policyd report: one page on a deployment for an auditor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import budget_of

if TYPE_CHECKING:
    from policyd.core.cards import Timestamp
    from policyd.core.edition import Rules
    from policyd.usecases.deployments import Selection
    from policyd.usecases.report_deployment import Material
    from policyd.usecases.suppressions import Suppression


@click.command("report")
@click.argument("source", metavar="MANIFEST|@PLACE")
@opt.place
@click.option("--baseline", type=opt.FILE, help="Findings that are known and accepted, each with a reason.")
@click.option("--at", help="The moment that the report speaks of, for suppressions and expiry; default: now.")
@budget_of
@opt.rules
@opt.output("html", "json", "markdown")
def command(
    source: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    baseline: Path | None,
    at: str | None,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Write one report on a deployment: findings, effective cards, reach, retries, sagas and chains.

    The HTML is one file that loads nothing and runs nothing. Exit 3 if an answer about reach is undecided.
    """
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.report.deployment_html import deployment_html
    from policyd.report.deployment_markdown import deployment_markdown
    from policyd.usecases.deployments import Selection
    from policyd.usecases.report_deployment import is_undecided, report_json
    from policyd.usecases.suppressions import read_suppressions

    rules = opt.rules_of(edition, switch)
    moment = opt.moment_of(at) or opt.now()
    entries = read_suppressions(baseline) if baseline is not None else ()
    if source.startswith("@"):
        opt.demand_unplaced(env=env, preset=preset, account=account, component=component, include_root=include_root)
        material = _stored(source, rules, entries, moment)
    else:
        selection = Selection(env, opt.presets_of(preset), account, component)
        material = _manifest(Path(source), selection, rules, include_root, entries, moment)
    plain = report_json(material, moment, __version__, budget)
    match format:
        case "json":
            write(as_json(plain), output)
        case "markdown":
            write(deployment_markdown(plain), output)
        case _:
            write(deployment_html(plain), output)
    return Exit.UNDECIDED if is_undecided(plain) else Exit.YES


def _manifest(
    path: Path,
    selection: Selection,
    rules: Rules,
    include_root: Path | None,
    entries: tuple[Suppression, ...],
    at: Timestamp,
) -> Material:
    from policyd.usecases.deployments import load
    from policyd.usecases.report_deployment import material_of_manifest

    return material_of_manifest(load(path, rules, include_root), selection, rules, str(path), entries, at)


def _stored(place: str, rules: Rules, entries: tuple[Suppression, ...], at: Timestamp) -> Material:
    from policyd.cli.store import database
    from policyd.usecases.report_deployment import material_of_snapshot
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import StoredFacts

    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        facts = StoredFacts.of(snapshots.load(info))
    return material_of_snapshot(facts, info, rules, entries, at)
