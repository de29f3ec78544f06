"""policyd schema: relations between schemas."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.group("schema", cls=opt.Group)
def command() -> None:
    """Relations between schemas: projection, assignability, equivalence."""


@command.command("compare")
@click.argument("source", type=opt.FILE)
@click.argument("target", type=opt.FILE)
@click.option(
    "--relation",
    type=click.Choice(("project", "assign", "equivalent")),
    default="project",
    help="What is asked: project (default, the relation of a deploy), assign or equivalent.",
)
@opt.output("text", "json")
def compare(source: Path, target: Path, relation: str, format: str, output: Path | None) -> int:
    """Does every value of SOURCE have a form in TARGET? If not: where they part, and a value that shows it.

    Schemas are the platform's JSON, a type in the short notation, or YAML with `type` and `types`.
    Exit 0: yes; 1: no; 3: there is more to compare than one question may.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.schema_compare import Relation, answer_json, answer_lines, compare_schemas, well_formed
    from policyd.usecases.tool_documents import read_schema

    one, other = well_formed(read_schema(source), str(source)), well_formed(read_schema(target), str(target))
    answer = compare_schemas(one, other, Relation(relation))
    if format == "json":
        write(as_json(answer_json(answer, one, other)), output)
    else:
        write(visible_lines(answer_lines(answer, one, other)), output)
    if answer.is_undecided:
        return Exit.UNDECIDED
    return Exit.YES if answer.holds else Exit.NO
