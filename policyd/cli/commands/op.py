"""policyd op: the targets that an operation asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policyd.core.edition import Rules
    from policyd.core.grants import AgentContext
    from policyd.core.operations import Operation


@click.command("op")
@click.argument("operation")
@click.argument("manifest", required=False, default="", metavar="[MANIFEST|@PLACE]")
@click.option("--arg", multiple=True, help="An argument: name=value.")
@click.option("--agent", default="", help="Whose call it is, in MANIFEST; without it owners stay open.")
@opt.place
@opt.rules
@opt.output("text", "json")
def command(
    operation: str,
    manifest: str,
    arg: tuple[str, ...],
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
    """Show an operation: its arguments, and with --arg the targets that it asks for.

    Slots stand for the agent that asks, unless MANIFEST and --agent tell who that is.
    """
    from policyd.cli.operations import arguments_of
    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.syntax.operations import catalogue
    from policyd.usecases.operation_answer import demand_arguments
    from policyd.usecases.operation_listing import described_text, operation_json, operation_named

    rules = opt.rules_of(edition, switch)
    found = operation_named(operation, catalogue(), rules)
    arguments = arguments_of(arg)
    demand_arguments(found, arguments)
    context = None
    if manifest:
        from policyd.cli.operations import Place
        from policyd.usecases.deployments import Selection

        selection = Selection(env, opt.presets_of(preset), account, component)
        holding, _ = Place(manifest, None, agent, "", selection, include_root, None, None, rules).holding()
        context = holding.wallet.context
    is_asked = bool(arguments) or (bool(found.targets) and not found.arguments)
    targets, missing = _targets(found, arguments, context, rules) if is_asked else ([], "")
    if format == "json":
        told = {"targets": targets, "missing": missing or None} if is_asked else {}
        write(as_json({**operation_json(found, rules), "asked": told, "edition": rules.label}), output)
        return Exit.UNDECIDED if missing else Exit.YES
    out = list(described_text(found, rules))
    if is_asked:
        out += ["", "with these arguments:"]
        out += [f"  {text.rstrip()}" for text in targets] or [f"  {missing or 'nothing is asked for'}"]
    out.append(f"edition: {rules.label}")
    write(visible_lines(out), output)
    return Exit.UNDECIDED if missing and is_asked else Exit.YES


def _targets(
    operation: Operation, arguments: Mapping[str, object], context: AgentContext | None, rules: Rules
) -> tuple[list[str], str]:
    """The targets of these arguments, or why they cannot be told."""
    from policyd.core.grants import AgentContext
    from policyd.core.operations import Asker, Ports, Refusal, Unclear, targets_of
    from policyd.syntax.outbound_urls import OutboundUrls
    from policyd.syntax.sql import SqlTables
    from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT, written_target

    nobody = AgentContext(UNNAMED_ACCOUNT, "app", "env", UNNAMED_COMPONENT, "Agent", 'Agent("1")')
    asker = context or nobody
    found = targets_of(operation, arguments, Asker(asker.account, asker), Ports(SqlTables(), OutboundUrls()), rules)
    match found:
        case Refusal():
            return [], f"refused before any card is asked: {found.message}"
        case Unclear():
            return [], found.message
        case _:
            return [written_target(target, asker) for target in found], ""
