"""policyd ops: the catalogue of host operations."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("ops")
@click.option("--class", "cls", default="", help="Only operations that ask for this permission class.")
@click.option("--search", default="", help="Only operations with this word in a name: id, import, SDK, REST, CLI.")
@opt.rules
@opt.output("text", "json")
def command(cls: str, search: str, edition: str, switch: tuple[str, ...], format: str, output: Path | None) -> int:
    """List host operations with what each of them asks for."""
    from policyd.cli.output import as_json, write
    from policyd.core.grants.classes import classes_of
    from policyd.findings import nearest, visible_lines
    from policyd.syntax.mistakes import shown
    from policyd.syntax.operations import catalogue
    from policyd.usecases.operation_listing import listed, listing_text, operation_json

    rules = opt.rules_of(edition, switch)
    names = [known.name for known in classes_of(rules)]
    if cls and cls not in names:
        near = nearest(cls, names)
        raise opt.usage(f"no permission class is called {shown(cls)}", f"did you mean `{near}`?" if near else "")
    found = listed(catalogue(), rules, search, cls)
    if format == "json":
        write(as_json({"edition": rules.label, "operations": [operation_json(o, rules) for o in found]}), output)
    else:
        write(visible_lines(listing_text(found)), output)
    return Exit.YES if found else Exit.NO
