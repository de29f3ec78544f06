"""policyd value: values in canonical JSON, and the JSON Schema of their types."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.group("value", cls=opt.Group)
def command() -> None:
    """Values in canonical JSON, and the JSON Schema of their types."""


@command.command("check")
@click.argument("schema", type=opt.FILE)
@click.argument("value", type=opt.FILE)
@click.option("--trusted", is_flag=True, help="The value may hold capabilities, as the host's own JSON does.")
@opt.rules
@opt.output("text", "json")
def check(
    schema: Path, value: Path, trusted: bool, edition: str, switch: tuple[str, ...], format: str, output: Path | None
) -> int:
    """Is this JSON a value of the schema? If not: the exact rule that it breaks, and where.

    Exit 0: yes; 1: no; 3: an engine for patterns or URLs would have to decide, or it is more than one
    question may look at.
    """
    from policyd.cli.commands.chain import rules_and_profile
    from policyd.cli.output import as_json, write
    from policyd.core.schema.outcomes import Validity
    from policyd.usecases.schema_compare import well_formed
    from policyd.usecases.tool_documents import read_schema, read_text
    from policyd.usecases.value_check import check_value, value_json

    form = rules_and_profile(edition, switch)[1].json_form
    answer = check_value(read_text(value), well_formed(read_schema(schema), str(schema)), form, trusted=trusted)
    if format == "json":
        write(as_json(value_json(answer)), output)
    else:
        lines = [answer.verdict.value]
        lines += [f"  {b.path}: {b.words} ({b.rule}, on {b.stage.removesuffix('e')}ing)" for b in answer.broken]
        write(visible_lines(lines), output)
    return {Validity.VALID: Exit.YES, Validity.INVALID: Exit.NO, Validity.UNDECIDED: Exit.UNDECIDED}[answer.verdict]


@command.command("json-schema")
@click.argument("schema", type=opt.FILE)
@click.option(
    "--policy",
    type=click.Choice(("canonical", "embedded", "external-input", "external-output", "reflection")),
    default="canonical",
    help="For whom: the host's own projections, or the one that reflection gives.",
)
@click.option("--output", type=opt.FILE, help="Write to this file instead of stdout.")
def json_schema_of(schema: Path, policy: str, output: Path | None) -> int:
    """The JSON Schema projection of a schema."""
    from policyd.cli.output import as_json, write
    from policyd.core.schema.json_schema import Policy, json_schema
    from policyd.usecases.schema_compare import well_formed
    from policyd.usecases.tool_documents import read_schema

    graph = well_formed(read_schema(schema), str(schema))
    write(as_json(json_schema(graph, Policy(policy.replace("-", "_")))), output)
    return Exit.YES
