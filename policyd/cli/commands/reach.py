"""policyd reach: who can get to this, through any chain."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import Asked, cards_of, is_cards, stored_at
from policyd.usecases.deployments import Selection

if TYPE_CHECKING:
    from policyd.usecases.reach_world import World


@click.command("reach")
@click.argument("source", metavar="MANIFEST|@PLACE")
@click.option("--to", "query", help="A query: who gets to any call of it?")
@click.option("--from", "start", default="", help="Only this actor: a type, an id, an account, or `external`.")
@click.option("--never-together", "together", default="", help="A second query: does one actor get to both?")
@click.option("--blast-radius", "radius", default="", help="What this actor, or whoever holds this card, comes by.")
@click.option("--assume", multiple=True, help="Narrows the worst case: no-data, no-WAY, trusted=TYPE.")
@opt.place
@cards_of
@click.option("--budget", type=float, default=10.0, help="Effort in seconds, roughly, before `undecided`.")
@opt.rules
@opt.output("text", "json", "markdown", "svg", "dot")
def command(
    source: str,
    query: str | None,
    start: str,
    together: str,
    radius: str,
    assume: tuple[str, ...],
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    holder: str,
    at: str | None,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Find who can get to a call through any chain of invocations, installed cards and data that is handed on.

    Exit 1 if there is a path, 0 if it is proved that there is none. `--to 'secret(?env) : reveal : stripe.key'`;
    `--blast-radius Cart` lists what an actor comes by instead.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases import reach_words as words
    from policyd.usecases.proofs import effort_for
    from policyd.usecases.reach import blast_radius, reach_to

    if bool(query) == bool(radius):
        raise opt.usage("one question is wanted", "`--to QUERY` or `--blast-radius ACTOR`")
    if radius and (start or together):
        raise opt.usage("`--from` and `--never-together` belong to `--to`", "leave them out")
    rules = opt.rules_of(edition, switch)
    steps = effort_for(budget)
    asked = Asked(Selection(env, opt.presets_of(preset), account, component), "", include_root, rules, holder)
    world = _world(source, asked, at, [name for name in (start, radius) if "(" in name])
    if radius:
        blast = blast_radius(world, radius, assume=assume, steps=steps)
        match format:
            case "json":
                write(as_json(words.blast_json(blast)), output)
            case "svg":
                write(words.reach_svg(blast), output)
            case "dot":
                write(words.reach_dot(blast), output)
            case _:
                write(words.blast_text(blast), output)
        return Exit.UNDECIDED if blast.undecided else Exit.YES
    found = reach_to(world, query or "", start=start, assume=assume, together=together, steps=steps)
    match format:
        case "json":
            write(as_json(words.reach_json(found)), output)
        case "markdown":
            write(words.reach_markdown(found), output)
        case "svg":
            write(words.reach_svg(found), output)
        case "dot":
            write(words.reach_dot(found), output)
        case _:
            write(words.reach_text(found), output)
    return {"none": Exit.YES, "path": Exit.NO, "undecided": Exit.UNDECIDED}[found.word]


def _world(source: str, asked: Asked, at: str | None, names: list[str]) -> World:
    from policyd.usecases.deployments import described, load
    from policyd.usecases.holders import holders_in
    from policyd.usecases.reach_world import entrances_of, world_of

    if is_cards(source):
        raise opt.usage("one wallet alone reaches nobody", "name a manifest, or a stored deployment such as `@12`")
    if source.startswith("@"):
        from dataclasses import replace

        asked.demand_unplaced()
        return world_of(stored_at(source, replace(asked, at=opt.moment_of(at))), (), asked.rules, names)
    deployment = described(load(Path(source), asked.rules, asked.include_root), asked.selection, asked.rules)
    parties = holders_in(deployment, asked.selection, "", source)
    return world_of(parties, entrances_of(deployment), asked.rules, names)
