"""policyd what-if: what one edit of a card would start and stop."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.commands.diff import holders_at, tell
from policyd.usecases.deployments import Selection


@click.command("what-if")
@click.argument("manifest")
@click.option("--agent", default="", help="The agent type to edit; default: all that the edit touches.")
@opt.place
@click.option("--add", multiple=True, help="A grant to add.")
@click.option("--to", default="lower-positive", help="Its list: lower-positive (default), lower-negative, upper-…")
@click.option("--remove", multiple=True, help="Place of a grant to take away: golem.yaml:14 or 14.")
@opt.rules
@opt.output("text", "json", "markdown")
def command(
    manifest: str,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    add: tuple[str, ...],
    to: str,
    remove: tuple[str, ...],
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """What would start and stop if this grant were added or taken away? --remove and --add together replace one."""
    from policyd.usecases.what_if import LISTS, Edit, what_if

    if to not in LISTS:
        raise opt.usage(f"unknown list `{to}`", f"lists are {', '.join(f'`{name}`' for name in LISTS)}")
    if not add and not remove:
        raise opt.usage("what is to change?", "give `--add GRANT` or `--remove PLACE`")
    if add and not agent:
        raise opt.usage("to which agent type is the grant added?", "give `--agent Type`")
    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    holders = holders_at(manifest, selection, agent, include_root, rules)
    changes = what_if(holders, Edit(tuple((LISTS[to], text) for text in add), remove), rules)
    tell(changes, "any", format, output)
    return 3 if changes.is_undecided else 0
