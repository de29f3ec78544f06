"""policyd audit: what is wrong or risky in a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.findings import Severity
    from policyd.report.forms import Run


@click.command("audit")
@click.argument("manifest", type=opt.FILE, metavar="MANIFEST|@PLACE")
@opt.place_in_all
@click.option("--deployer", type=opt.FILE, help="Cards of whoever deploys; default: an assumed account root card.")
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--strict", is_flag=True, help="Exit 3 if something could not be analysed.")
@opt.rules
@click.option("--baseline", type=opt.FILE, help="Findings that are known and accepted, each with a reason.")
@click.option("--at", help="The moment for which suppressions count; default: now.")
@opt.output("text", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
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
    baseline: Path | None,
    at: str | None,
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
        return _stored(str(manifest), fail_on, baseline, at, strict, opt.rules_of(edition, switch), format, output)
    from policyd.cli.output import write
    from policyd.manifest import load_manifest
    from policyd.report.forms import rendered
    from policyd.syntax.wallets import read_cards
    from policyd.usecases.audit_manifest import audit_with_deploys, deploy_json, deploy_lines
    from policyd.usecases.deployments import shown_lines
    from policyd.usecases.suppressions import read_suppressions, suppressed_report

    rules = opt.rules_of(edition, switch)
    level = opt.severity_of(fail_on)
    moment = opt.moment_of(at) or opt.now()
    cards = opt.read_file(deployer, lambda value: read_cards(value, rules)) if deployer else None
    entries = read_suppressions(baseline) if baseline is not None else ()
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
    report = suppressed_report(report, loaded, entries, moment, is_whole=environments is None and presets is None)
    run = _run(
        level,
        rules,
        about=(("manifest", str(manifest)), ("environment", env or "all")),
        members={"deploys": [deploy_json(d) for d in deploys]},
        closing=tuple(deploy_lines(deploys, is_assumed=cards is None)),
    )
    write(rendered(report, format, shown_lines(loaded), run), output)
    if any(d.root is None and not d.is_older for d in loaded.documents) and loaded.refused:
        return Exit.NOT_ASKED
    if report.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and report.not_analysed else Exit.YES


def _run(
    level: Severity,
    rules: Rules,
    about: tuple[tuple[str, str], ...],
    members: dict[str, object],
    closing: tuple[str, ...],
) -> Run:
    from policyd import __version__
    from policyd.report.forms import Run

    about = (*about, ("edition", rules.label), ("policyd", __version__))
    return Run("policyd audit", __version__, level, about, {**members, "edition": rules.label}, closing)


def _stored(
    place: str,
    fail_on: str,
    baseline: Path | None,
    at: str | None,
    strict: bool,
    rules: Rules,
    format: str,
    output: Path | None,
) -> int:
    from policyd.cli.output import write
    from policyd.cli.store import database
    from policyd.findings import Report
    from policyd.report import no_lines
    from policyd.report.forms import rendered
    from policyd.usecases.snapshots import StoredSnapshots, stored_report, used_json
    from policyd.usecases.suppressions import read_suppressions, suppressed

    level = opt.severity_of(fail_on)
    moment = opt.moment_of(at) or opt.now()
    entries = read_suppressions(baseline) if baseline is not None else ()
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        report = stored_report(snapshots.load(info), info, rules)
    kept, told = suppressed(report.findings, entries, moment)
    report = Report.of((*kept, *told), report.not_analysed)
    where = f"snapshot @{info.number} of {info.label}"
    run = _run(
        level,
        info.rules,
        about=(("snapshot", where),),
        members=used_json(info),
        closing=(f"{where}, as found when it was imported", f"edition: {info.rules.label}"),
    )
    write(rendered(report, format, no_lines, run), output)
    if report.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and report.not_analysed else Exit.YES
