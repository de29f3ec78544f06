"""policyd db: migrate, check, dump and restore the database."""

from __future__ import annotations

import click

from policyd.cli.exits import Exit


@click.group("db")
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
def downgrade(to: str) -> int:
    """Take the database back to an older migration."""
    from policyd.cli.store import database
    from policyd.store import migrate

    with database(is_migrated=False) as store:
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
