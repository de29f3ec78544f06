"""policyd rule: the page of a code."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.command("rule")
@click.argument("code")
@click.option("--output", type=opt.FILE, help="Write to this file instead of stdout.")
def command(code: str, output: Path | None) -> int:
    """Print the manual page of a code such as CARD001."""
    from policyd.analysis.rules import page_of
    from policyd.cli.output import write

    page = page_of(code.upper())
    if page is None:
        click.echo(f"no page for `{code}`; `policyd rules` lists all codes", err=True)
        return Exit.NO
    write(page, output)
    return Exit.YES
