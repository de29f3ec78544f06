"""policyd diff: what a new version admits that the old one does not."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.core.edition import Rules
from policyd.usecases.changes import Changes
from policyd.usecases.deployments import Described, Selection
from policyd.usecases.holders import Holders


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--agent", default="", help="One agent type; default: all.")
@opt.place
@click.option("--fail-on", default="new-access", help="What makes exit 1: new-access (default), lost-access or any.")
@opt.rules
@opt.output("text", "json", "markdown", "github", "sarif")
def command(
    old: str,
    new: str,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    fail_on: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """What does NEW admit that OLD does not, and the reverse, with examples and a proof of the rest.

    Both are manifests or stored deployments (@12, @account/application/environment).
    """
    from policyd.usecases.changes import changes_between

    if fail_on not in ("new-access", "lost-access", "any"):
        raise opt.usage(f"unknown level `{fail_on}`", "levels are `new-access`, `lost-access` and `any`")
    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    sides = [holders_at(source, selection, agent, include_root, rules, is_optional=True) for source in (old, new)]
    return tell(changes_between(sides[0], sides[1], rules), fail_on, format, output)


def holders_at(
    source: str, selection: Selection, agent: str, include_root: Path | None, rules: Rules, *, is_optional: bool = False
) -> Holders:
    """The agents of a manifest or of a stored deployment (`@12`, `@account/application/environment`).

    With `is_optional` an agent type may be missing on one side of a comparison.
    """
    from policyd.usecases.deployments import agent_name
    from policyd.usecases.holders import holders_in

    only = agent_name(agent)[0] if agent else None
    found = _stored(source, rules) if source.startswith("@") else _read(source, selection, include_root, rules, only)
    if is_optional and only is not None and found.deployment.agent(only) is None:
        return Holders(source, {})
    return holders_in(found, selection, agent, source)


def _read(source: str, selection: Selection, include_root: Path | None, rules: Rules, only: str | None) -> Described:
    from policyd.usecases.deployments import described, load

    return described(load(Path(source), rules, include_root), selection, rules, only=only)


def _stored(place: str, rules: Rules) -> Described:
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_deployment import described_facts

    with database() as store:
        snapshots = StoredSnapshots(store)
        return described_facts(snapshots.load(snapshots.resolve(place)), rules)


def tell(changes: Changes, fail_on: str, format: str, output: Path | None) -> int:
    """Write the changes in one of the forms, and choose the exit code."""
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.report.changes import changes_github, changes_markdown, changes_sarif, changes_text
    from policyd.usecases.changes import changes_json

    plain = changes_json(changes)
    match format:
        case "json":
            write(as_json(plain), output)
        case "markdown":
            write(changes_markdown(plain), output)
        case "github":
            write(changes_github(plain), output)
        case "sarif":
            write(as_json(changes_sarif(plain, __version__)), output)
        case _:
            write(changes_text(plain), output)
    new, lost = changes.has_new_access, changes.has_lost_access
    if {"new-access": new, "lost-access": lost, "any": new or lost}[fail_on]:
        return Exit.NO
    return Exit.UNDECIDED if changes.is_undecided else Exit.YES
