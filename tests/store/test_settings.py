"""Settings: environment variables to one frozen value, and databases behind URLs."""

import pytest
from pydantic import ValidationError

from policyd.settings import DEFAULT_DATABASE_URL, Settings
from policyd.store.codes import StoreError
from policyd.store.session import Database
from policyd.store.snapshots import snapshots


def test_defaults_and_variables(monkeypatch):
    """Each variable sets its attribute; without any, the embedded database is meant."""
    monkeypatch.delenv("POLICYD_DATABASE_URL", raising=False)
    assert Settings().database_url == DEFAULT_DATABASE_URL
    monkeypatch.setenv("POLICYD_DATABASE_URL", "sqlite:///x.db")
    monkeypatch.setenv("POLICYD_BUSY_TIMEOUT_MS", "5")
    monkeypatch.setenv("POLICYD_NONSENSE", "1")
    assert (Settings().database_url, Settings().busy_timeout_ms) == ("sqlite:///x.db", 5)


def test_settings_are_frozen_and_checked(monkeypatch):
    """Nothing changes a setting after it was read, and a wrong one is refused."""
    with pytest.raises(ValidationError):
        Settings().database_url = "x"
    monkeypatch.setenv("POLICYD_POOL_SIZE", "0")
    with pytest.raises(ValidationError):
        Settings()


@pytest.mark.parametrize("url", ["mysql://u@h/d", "nonsense", "oracle+x://h", "://", "postgresql+nodriver://h/d"])
def test_other_databases_are_refused(url):
    """Only SQLite and PostgreSQL are supported, and the message says so."""
    with pytest.raises(StoreError, match="STORE006"):
        Database.at(url)


def test_a_password_is_never_shown():
    """The URL in messages hides the password; a plain postgresql URL gets the driver that is installed."""
    database = Database.at("postgresql://me:hunter2@127.0.0.1:1/db")
    assert "hunter2" not in database.shown
    assert database.url.drivername == "postgresql+psycopg"
    with pytest.raises(StoreError, match="STORE001") as refusal, database.reading():
        pass
    assert "hunter2" not in str(refusal.value)
    database.close()


def test_an_empty_file_is_not_migrated(tmp_path):
    """A database without tables is told as such, with what to do."""
    database = Database.at(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(StoreError, match="STORE002") as refusal:
        snapshots(database)
    assert refusal.value.findings[0].help == "run `policyd db upgrade`"
    database.close()


def test_a_folder_that_is_not_there(tmp_path):
    """A path that cannot be opened is told without a traceback."""
    database = Database.at(f"sqlite:///{tmp_path / 'none' / 'x.db'}")
    with pytest.raises(StoreError, match="STORE001"):
        snapshots(database)


def test_a_file_that_is_no_database(tmp_path):
    """A file of something else is refused and left as it is."""
    (tmp_path / "x.db").write_bytes(b"not a database" * 100)
    database = Database.at(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(StoreError, match="STORE001"):
        snapshots(database)
    assert (tmp_path / "x.db").read_bytes() == b"not a database" * 100


def test_a_second_writer_waits_and_then_gives_up(tmp_path):
    """Two writers on one file: the second is told that the first holds it."""
    from policyd.store import migrate

    url = f"sqlite:///{tmp_path / 'x.db'}"
    first = Database.at(url)
    migrate.upgrade(first)
    second = Database(Settings(database_url=url, busy_timeout_ms=50))
    with first.writing():
        with pytest.raises(StoreError, match="STORE003"), second.writing():
            pass
        assert snapshots(second) == ()
    with second.writing():
        pass
    first.close()
    second.close()


def test_sqlite_is_set_up_for_many_readers(tmp_path):
    """Foreign keys are on, the log is written ahead, and a memory database lives as long as its engine."""
    from policyd.store import migrate

    for url in (f"sqlite:///{tmp_path / 'x.db'}", "sqlite://"):
        database = Database.at(url)
        migrate.upgrade(database)
        with database.reading() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
            mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        assert mode == ("wal" if "x.db" in url else "memory")
        migrate.require_migrated(database)
        database.close()
