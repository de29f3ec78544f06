"""Migrations: Alembic, configured in code; the scripts stand in the folder `migrations`.

Every migration runs in one transaction on both engines, so an interrupted one leaves the old state.
"""

from __future__ import annotations

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, inspect, literal, select, text
from sqlalchemy.exc import SQLAlchemyError

from policyd.resources import data_dir
from policyd.store.codes import StoreCode, StoreError
from policyd.store.session import Database
from policyd.store.tables import Base

_LOCK = 0x706F6C69637964
"""The advisory lock under which PostgreSQL migrates; SQLite has its write lock."""


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(data_dir("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def newest() -> str:
    """The revision that this code expects."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None  # the folder of the package always has a first migration
    return head


def current(database: Database) -> str | None:
    """The revision of the database, None while it has no tables.

    Raises:
        StoreError: STORE001 if it cannot be reached.
    """
    with database.reading() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_migrated(database: Database) -> bool:
    """Whether the database is at the revision that this code expects."""
    return current(database) == newest()


def require_migrated(database: Database) -> None:
    """Refuse a database that is older or newer than this code.

    Raises:
        StoreError: STORE002 with what to do.
    """
    if database.is_missing:
        raise StoreError.of(
            StoreCode.NOT_MIGRATED, f"there is no database at `{database.shown}`", "make one with `policyd db upgrade`"
        )
    found = current(database)
    if found == newest():
        return
    message = "has no tables" if found is None else f"is at migration `{found}`, this policyd expects `{newest()}`"
    raise StoreError.of(
        StoreCode.NOT_MIGRATED, f"the database `{database.shown}` {message}", "run `policyd db upgrade`"
    )


def upgrade(database: Database, to: str = "head") -> str | None:
    """Bring the database to revision `to`; returns the revision it had before.

    Raises:
        StoreError: STORE004; the database is as it was before.
    """
    return _run(database, to, up=True)


def downgrade(database: Database, to: str = "base") -> str | None:
    """Take the database back to revision `to`; returns the revision it had before.

    Raises:
        StoreError: STORE004; the database is as it was before.
    """
    return _run(database, to, up=False)


def _run(database: Database, to: str, *, up: bool) -> str | None:
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        before = MigrationContext.configure(connection).get_current_revision()
        try:
            (command.upgrade if up else command.downgrade)(_config(connection), to)
        except (CommandError, SQLAlchemyError) as why:
            # raised inside the transaction, so that all of it is taken back
            line = str(why).strip().splitlines()[0][:200]
            raise StoreError.of(
                StoreCode.MIGRATION_FAILED,
                f"the migration of `{database.shown}` failed and was taken back: {line}",
                "the database is as it was; see `policyd db check`",
            ) from why
    return before


def has_data(database: Database) -> bool:
    """Whether a table of this code has a row; tables that are not there have none.

    Raises:
        StoreError: STORE001 if it cannot be reached.
    """
    with database.reading() as connection:
        there = set(inspect(connection).get_table_names())
        tables = (table for table in Base.metadata.sorted_tables if table.name in there)
        return any(connection.execute(select(literal(1)).select_from(table).limit(1)).first() for table in tables)


def differences(database: Database) -> tuple[str, ...]:
    """What the tables of the database and the tables of this code disagree on; nothing is the good answer.

    Raises:
        StoreError: STORE001 if it cannot be reached.
    """
    with database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "render_as_batch": True})
        return tuple(sorted(str(difference) for difference in compare_metadata(context, Base.metadata)))
