"""policyd diff: what a new version admits that the old one does not."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import Asked, both_parties, budget_of, cards_of
from policyd.cli.replay import Flags, Sources, with_checks
from policyd.usecases.changes import Changes
from policyd.usecases.deployments import Selection


@click.command("diff")
@click.argument("old")
@click.argument("new")
@click.option("--agent", default="", help="One agent type; default: all.")
@opt.place
@cards_of
@click.option("--cross-check", is_flag=True, help="Let a solver come to the same result by another way.")
@budget_of
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
    holder: str,
    at: str | None,
    cross_check: bool,
    budget: float,
    fail_on: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """What does NEW admit that OLD does not, and the reverse, with examples and a proof of the rest.

    Both are manifests or stored deployments (@12, @account/application/environment), or both are JSON files of
    wallets, or of cards, which need --holder.
    """
    from policyd.usecases.changes import changes_between
    from policyd.usecases.proofs import steps_for

    if fail_on not in ("new-access", "lost-access", "any"):
        raise opt.usage(f"unknown level `{fail_on}`", "levels are `new-access`, `lost-access` and `any`")
    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    before, after = both_parties(old, new, Asked(selection, agent, include_root, rules, holder, opt.moment_of(at)))
    steps = steps_for(budget)
    changes = changes_between(before, after, rules, is_cross_checked=cross_check, steps=steps)
    flags = Flags(env, preset, account, component, include_root, at, edition, switch)
    return tell(changes, fail_on, format, output, old=old, new=new, flags=flags)


def tell(
    changes: Changes, fail_on: str, format: str, output: Path | None, *, old: Sources, new: Sources, flags: Flags
) -> int:
    """Write the changes in one of the forms, witnesses with the commands that decide them again; the exit code."""
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.report.changes import changes_github, changes_markdown, changes_sarif, changes_text
    from policyd.usecases.changes import changes_json

    plain = with_checks(changes_json(changes), changes, old, new, flags)
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
    more, less = changes.has_new_access, changes.has_lost_access
    if {"new-access": more, "lost-access": less, "any": more or less}[fail_on]:
        return Exit.NO
    return Exit.UNDECIDED if changes.is_undecided else Exit.YES
