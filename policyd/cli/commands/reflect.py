"""policyd reflect: which client validates what, before what, and what stays with the host."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.command("reflect")
@click.option("--client", default="", help="normal-rpc, method-only, full-static, discovered or dynamic.")
@click.option("--question", "key", default="", help="A key of the tables, such as A7, V2, C10 or ephemeral.")
@click.option("--knows", multiple=True, help="What the caller has, to choose a client: shared-source, agent-id, ….")
@click.option("--to", default="", help="With --client: what is lost by moving to this one.")
@click.option("--list", "is_list", is_flag=True, help="All keys.")
@opt.output("text", "json")
def command(
    client: str, key: str, knows: tuple[str, ...], to: str, is_list: bool, format: str, output: Path | None
) -> int:
    """Ask the decision tables: who validates what, before what; what the host checks in any case."""
    from policyd.cli.output import as_json, write
    from policyd.usecases import reflect

    if is_list:
        write(visible_lines(reflect.listed()), output)
        return Exit.YES
    approach = reflect.approach_of(client) if client else None
    if key:
        answer = reflect.answer_question(key, approach)
    elif knows:
        answer = reflect.chosen(list(knows))
    elif approach is not None and to:
        answer = reflect.moved(approach, reflect.approach_of(to))
    elif approach is not None:
        answer = reflect.approach_summary(approach)
    else:
        raise opt.usage("nothing is asked", "give `--client`, `--question`, `--knows` or `--list`")
    write(as_json(answer) if format == "json" else visible_lines(reflect.answer_lines(answer)), output)
    return Exit.YES
