"""policyd fmt: grants in canonical text and order, comments kept."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import InputError, visible

if TYPE_CHECKING:
    from policyd.usecases.format_manifest import Formatted


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, type=opt.FILE, metavar="FILE...")
@click.option("--check", "is_check", is_flag=True, help="Change nothing; exit 1 where something would change.")
@opt.rules
def command(files: tuple[Path, ...], is_check: bool, edition: str, switch: tuple[str, ...]) -> int:
    """Write the grants of a manifest in canonical text and order; everything else stays as it is.

    Grants are sorted by class, owner, resource, verb and recipient, within groups that comments on lines of
    their own and empty lines separate.
    """
    from policyd.usecases.format_manifest import formatted

    rules = opt.rules_of(edition, switch)
    done = [formatted(file, rules) for file in files]
    for result in done:
        for remark in result.unread:
            click.echo(visible(remark), err=True)
        if result.is_canonical:
            click.echo(f"{result.name}: canonical")
        elif is_check:
            click.echo(result.changes)
        else:
            _replace(Path(result.name), result)
            click.echo(f"{result.name}: formatted")
    return Exit.NO if is_check and not all(result.is_canonical for result in done) else Exit.YES


def _replace(path: Path, result: Formatted) -> None:
    """Write the file as a whole or not at all, with the mode that it had; links stay links."""
    target = path.resolve()
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
                stream.write(result.text)
            shutil.copymode(target, name)
            os.replace(name, target)
        except OSError:
            os.unlink(name)
            raise
    except OSError as error:
        reason = (error.strerror or "it cannot be written").lower()
        raise InputError.of("STORE043", f"`{path}` cannot be written: {reason}") from None
