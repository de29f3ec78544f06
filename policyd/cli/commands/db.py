"""policyd db: migrate, check, dump and restore the database."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit


@click.group("db", cls=opt.Group)
def command() -> None:
    """Migrate, check, dump and restore the database that POLICYD_DATABASE_URL names."""


@command.command("upgrade")
@click.option("--to", default="head", help="Migration to end at; default: the newest.")
def upgrade(to: str) -> int:
    """Bring the database to what this policyd expects."""
    from policyd.cli.store import database
    from policyd.store import migrate

    with database(is_migrated=False) as store:
        before = migrate.upgrade(store, to)
        click.echo(f"{store.shown}: from {before or 'empty'} to {migrate.current(store)}")
    return Exit.YES


@command.command("downgrade")
@click.option("--to", required=True, help="Migration to go back to; `base` removes all tables.")
@click.option("--yes", is_flag=True, help="Do it without asking, although the database holds data.")
def downgrade(to: str, yes: bool) -> int:
    """Take the database back to an older migration; what the older one has no tables for is lost.

    A database with data is only touched with --yes, or after a question on a terminal.
    """
    from policyd.cli.store import database
    from policyd.store import migrate

    with database(is_migrated=False) as store:
        if not yes and migrate.has_data(store):
            if not sys.stdin.isatty():
                raise opt.usage(
                    f"`{store.shown}` holds data that going back may destroy",
                    "keep it by `policyd db dump --output FILE`, then give `--yes`",
                )
            click.confirm(f"{store.shown} holds data that going back may destroy. Go on?", abort=True, err=True)
        before = migrate.downgrade(store, to)
        click.echo(f"{store.shown}: from {before or 'empty'} to {migrate.current(store) or 'empty'}")
    return Exit.YES


@command.command("check")
def check() -> int:
    """Say whether the database can be used: reachable, migrated, and with the tables this policyd expects."""
    from policyd.cli.store import database
    from policyd.store import migrate

    with database() as store:
        differences = migrate.differences(store)
        for difference in differences:
            click.echo(difference)
        click.echo(f"{store.shown}: {migrate.current(store)}, {len(differences) or 'no'} differences")
    return Exit.NO if differences else Exit.YES


@command.command("dump")
@click.option("--output", type=opt.FILE, help="Write to this file instead of stdout.")
def dump_all(output: Path | None) -> int:
    """Write the whole database as lines of JSON that `restore` reads on either engine."""
    from policyd.cli.store import database
    from policyd.store.dump import dump

    with database() as store:
        if output is None:
            rows = dump(store, sys.stdout)
        else:
            with _replacing(output) as stream:
                rows = dump(store, stream)
    click.echo(f"{rows} rows", err=True)
    return Exit.YES


@command.command("restore")
@click.argument("file", type=opt.FILE)
def restore_all(file: Path) -> int:
    """Fill an empty, migrated database from a dump, all or nothing; every digest is compared."""
    from policyd.cli.store import LOCAL, database
    from policyd.store.dump import restore

    with database() as store:
        try:
            with file.open(encoding="utf-8") as stream:
                rows = restore(store, stream, at=opt.now(), by=LOCAL)
        except OSError as error:
            raise opt.usage(f"`{file}` cannot be read: {(error.strerror or 'it is no file').lower()}") from None
        except UnicodeDecodeError:
            raise opt.usage(f"`{file}` is not UTF-8", "use a file that `policyd db dump` wrote") from None
        click.echo(f"{store.shown}: {rows} rows")
    return Exit.YES


@contextmanager
def _replacing(output: Path) -> Iterator[TextIO]:
    """A file that takes the place of `output` once it is whole."""
    part = output.with_name(f".{output.name}.part")
    try:
        with part.open("w", encoding="utf-8") as stream:
            yield stream
        part.replace(output)
    except OSError as error:
        raise opt.usage(f"`{output}` cannot be written: {(error.strerror or 'it failed').lower()}") from None
    finally:
        part.unlink(missing_ok=True)
