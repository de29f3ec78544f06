"""Migrations: forward and back with data, in agreement with the models, and never half done."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from contract.samples import NOW, full
from sqlalchemy import inspect, text

from policyd.resources import data_dir
from policyd.store import migrate
from policyd.store.codes import StoreError
from policyd.store.ordering import ordered
from policyd.store.snapshots import load, put
from policyd.store.tables import Base


def tables(database):
    with database.reading() as connection:
        return set(inspect(connection).get_table_names()) - {"alembic_version"}


def test_an_empty_database_gets_exactly_the_declared_tables(engine, make_database):
    """Migrating from nothing gives the tables of the models, column for column."""
    database = make_database(engine, migrated=False)
    assert migrate.current(database) is None
    with pytest.raises(StoreError, match="STORE002"):
        migrate.require_migrated(database)
    assert migrate.upgrade(database) is None
    assert migrate.differences(database) == ()
    assert tables(database) == set(Base.metadata.tables)
    migrate.require_migrated(database)


def test_every_check_and_key_of_the_models_is_in_the_database(database):
    """Constraints are in the database under the names of the models, not only in code."""
    with database.reading() as connection:
        found = inspect(connection)
        for table in Base.metadata.sorted_tables:
            checks = {c["name"] for c in found.get_check_constraints(table.name)}
            keys = {c["name"] for c in found.get_foreign_keys(table.name)}
            uniques = {c["name"] for c in found.get_unique_constraints(table.name)}
            wanted = {type(c).__name__: set() for c in table.constraints}
            for constraint in table.constraints:
                wanted[type(constraint).__name__].add(str(constraint.name))
            assert wanted.get("CheckConstraint", set()) <= checks
            assert wanted.get("ForeignKeyConstraint", set()) <= keys
            assert wanted.get("UniqueConstraint", set()) <= uniques
            assert {str(i.name) for i in table.indexes} <= {i["name"] for i in found.get_indexes(table.name)}


def test_forward_and_back_with_data(database):
    """A database with facts goes back to nothing and forward again, and takes the facts again."""
    number = put(database, full(), at=NOW, by="test").snapshot.number
    assert load(database, number) == ordered(full())
    assert migrate.downgrade(database) == migrate.newest()
    assert tables(database) == set()
    assert migrate.upgrade(database) is None
    assert migrate.differences(database) == ()
    again = put(database, full(), at=NOW, by="test").snapshot.number
    assert load(database, again) == ordered(full())


def test_a_difference_is_told(database):
    """A column that only the database has is found by the check."""
    with database.writing() as connection:
        connection.execute(text("ALTER TABLE accounts ADD COLUMN extra TEXT"))
    assert any("extra" in difference for difference in migrate.differences(database))


FAILING = """
import os, signal
import sqlalchemy as sa
from alembic import op

revision = "9999"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade():
    op.create_table("half_done", sa.Column("id", sa.Integer, primary_key=True))
    op.execute("INSERT INTO half_done VALUES (1)")
    op.execute("DELETE FROM findings")
    {end}


def downgrade():
    op.drop_table("half_done")
"""


def with_migration(tmp_path, end):
    """A folder of migrations with one more at its end."""
    folder = tmp_path / "migrations"
    shutil.copytree(data_dir("migrations"), folder, ignore=shutil.ignore_patterns("__pycache__"))
    script = FAILING.format(before=migrate.newest(), end=end)
    (folder / "versions" / "9999_failing.py").write_text(script, encoding="utf-8")
    return folder


def test_a_failing_migration_leaves_the_old_state(database, tmp_path, monkeypatch):
    """A migration that fails after it changed things is taken back, and told in our words."""
    number = put(database, full(), at=NOW, by="test").snapshot.number
    folder = with_migration(tmp_path, 'op.execute("INSERT INTO no_such_table VALUES (1)")')
    monkeypatch.setattr(migrate, "data_dir", lambda _: folder)
    with pytest.raises(StoreError, match="STORE004"):
        migrate.upgrade(database)
    monkeypatch.undo()
    migrate.require_migrated(database)
    assert tables(database) == set(Base.metadata.tables)
    assert load(database, number) == ordered(full())


KILLED = """
import sys
from pathlib import Path
from policyd.store import migrate
from policyd.store.session import Database

folder = Path(sys.argv[2])
migrate.data_dir = lambda _: folder
migrate.upgrade(Database.at(sys.argv[1]))
"""


def test_a_killed_migration_leaves_the_old_state(database, tmp_path):
    """Kill -9 in the middle of a migration: the database is as it was, and readable."""
    number = put(database, full(), at=NOW, by="test").snapshot.number
    folder = with_migration(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")
    url = database.url.render_as_string(hide_password=False)
    process = subprocess.run(
        [sys.executable, "-c", KILLED, url, str(folder)], check=False, capture_output=True, env=dict(os.environ)
    )
    assert process.returncode == -signal.SIGKILL, process.stderr.decode()
    migrate.require_migrated(database)
    assert tables(database) == set(Base.metadata.tables)
    assert load(database, number) == ordered(full())


def test_a_newer_database_is_refused(database):
    """A database of a migration that this code does not know is not touched, and why is told."""
    with database.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreError, match="STORE002"):
        migrate.require_migrated(database)
    with pytest.raises(StoreError, match="STORE004"):
        migrate.upgrade(database)
