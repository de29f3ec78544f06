"""policyd synth: the least grants that let these calls through and keep those out."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import budget_of, holders_at
from policyd.usecases.deployments import Selection


@click.command("synth")
@click.argument("manifest")
@click.option("--agent", required=True, help="Agent type (Cart) or full id ('Cart(\"u1\")').")
@opt.place
@click.option("--allow", type=opt.FILE, required=True, help="Targets that must be admitted, one per line.")
@click.option("--deny", type=opt.FILE, help="Targets of which none may be admitted, one per line.")
@click.option("--deployer", type=opt.FILE, help="Cards of whoever deploys; default: an assumed account root card.")
@click.option("--keep", is_flag=True, help="Add to the present card instead of writing a new one.")
@budget_of
@opt.rules
@opt.output("text", "json")
def command(
    manifest: str,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    allow: Path,
    deny: Path | None,
    deployer: Path | None,
    keep: bool,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Find the least grants that let the calls of --allow through and keep those of --deny out, as manifest text."""
    from dataclasses import replace

    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.syntax.wallets import read_cards
    from policyd.usecases.deployments import agent_name
    from policyd.usecases.synthesis import calls_in, synthesis, synthesis_json, unnamed_instance

    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    if manifest.startswith("@"):
        opt.demand_unplaced(env=env, preset=preset, account=account, include_root=include_root)
    type_name, agent_id = agent_name(agent)
    holder = holders_at(manifest, selection, type_name, include_root, rules).by_name[type_name]
    holder = replace(holder, context=replace(holder.context, agent_id=agent_id))
    texts = opt.read_text(allow), opt.read_text(deny) if deny else ""
    instance = agent_id or unnamed_instance(holder, texts)
    context = replace(holder.context, agent_id=instance)
    wanted = calls_in(texts[0], str(allow), context, rules)
    unwanted = calls_in(texts[1], str(deny), context, rules) if deny else ()
    cards = opt.read_file(deployer, lambda value: read_cards(value, rules)) if deployer else None
    made = synthesis(holder, instance, wanted, unwanted, cards, rules, max(100, int(budget * 1000)), keep=keep)
    if format == "json":
        write(as_json(synthesis_json(made, rules)), output)
    else:
        out = [f"no solution: {made.refusal}"] if made.refusal else []
        out += [f"undecided: {made.undecided}"] if made.undecided else []
        if made.yaml and keep and not made.added and not made.denied:
            out.append("nothing is missing: the present card does it")
        elif made.yaml:
            out += made.yaml.split("\n")
            out += [f"# also opens: {call}" for call in made.extra] or ["# opens nothing else"]
        out += [f"# note: {note}" for note in made.notes]
        write(visible_lines(out), output)
    if made.undecided:
        return Exit.UNDECIDED
    return Exit.NO if made.refusal else Exit.YES
