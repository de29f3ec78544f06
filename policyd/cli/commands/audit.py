"""policyd audit: what is wrong or risky in a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.edition import Rules


@click.command("audit")
@click.argument("manifest", type=opt.FILE, metavar="MANIFEST|@PLACE")
@opt.place
@click.option("--deployer", type=opt.FILE, help="Cards of whoever deploys; default: an assumed account root card.")
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--strict", is_flag=True, help="Exit 3 if something could not be analysed.")
@opt.rules
@opt.output("text", "json", "sarif")
def command(
    manifest: Path,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    deployer: Path | None,
    fail_on: str,
    strict: bool,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Find what is wrong or risky in a manifest and its cards, and say whether a deploy would be accepted.

    Without --env every environment is looked at with its own presets. For a stored deployment (`@12`, or
    `@account/application/environment`) the findings are those of its import.
    """
    if str(manifest).startswith("@"):
        opt.demand_unplaced(
            env=env, preset=preset, account=account, component=component, include_root=include_root, deployer=deployer
        )
        return _stored(str(manifest), fail_on, strict, opt.rules_of(edition, switch), format, output)
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.manifest import load_manifest
    from policyd.report import report_json, report_sarif, report_text
    from policyd.syntax.wallets import read_cards
    from policyd.usecases.audit_manifest import audit_with_deploys, deploy_json, deploy_lines
    from policyd.usecases.deployments import shown_lines

    rules = opt.rules_of(edition, switch)
    level = opt.severity_of(fail_on)
    cards = opt.read_file(deployer, lambda value: read_cards(value, rules)) if deployer else None
    loaded = load_manifest(manifest, rules=rules, include_root=include_root)
    implements = {a.name: component for a in loaded.application.agents} if component else None
    environments = [env] if env is not None else None
    presets = opt.presets_of(preset)
    report, deploys = audit_with_deploys(
        loaded,
        environments=environments,
        presets=presets,
        rules=rules,
        deployer=cards,
        account=account,
        components=implements,
    )
    if format == "json":
        body = {**report_json(report), "deploys": [deploy_json(d) for d in deploys], "edition": rules.label}
        write(as_json(body), output)
    elif format == "sarif":
        write(as_json(report_sarif(report, __version__)), output)
    else:
        text = report_text(report, shown_lines(loaded))
        lines = deploy_lines(deploys, is_assumed=cards is None)
        write(text + "".join(f"{line}\n" for line in lines), output)
    if any(d.root is None and not d.is_older for d in loaded.documents) and loaded.refused:
        return Exit.NOT_ASKED
    if report.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and report.not_analysed else Exit.YES


def _stored(place: str, fail_on: str, strict: bool, rules: Rules, format: str, output: Path | None) -> int:
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.cli.store import database
    from policyd.report import no_lines, report_json, report_sarif, report_text
    from policyd.usecases.snapshots import StoredSnapshots, stored_report

    level = opt.severity_of(fail_on)
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        report = stored_report(snapshots.load(info), info, rules)
    where = f"snapshot @{info.number} of {info.label}, as found when it was imported\nedition: {info.rules.label}\n"
    match format:
        case "json":
            body = {**report_json(report), "snapshot": f"@{info.number}", "edition": info.rules.label}
            write(as_json(body), output)
        case "sarif":
            write(as_json(report_sarif(report, __version__)), output)
        case _:
            write(report_text(report, no_lines) + where, output)
    if report.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and report.not_analysed else Exit.YES
