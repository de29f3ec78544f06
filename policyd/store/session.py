"""The database behind a URL: engines set up alike, transactions that read or write, errors in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from policyd.settings import Settings
from policyd.store.codes import StoreCode, StoreError

_WRITES = "policyd_writes"
ENGINES = ("sqlite", "postgresql")


def _parsed(text: str) -> URL:
    try:
        url = make_url(text)
    except ArgumentError:
        raise StoreError.of(
            StoreCode.UNSUPPORTED_ENGINE,
            "the database URL cannot be read",
            "write `sqlite:///file.db` or `postgresql+psycopg://user@host/name`",
        ) from None
    if url.get_backend_name() not in ENGINES:
        raise StoreError.of(
            StoreCode.UNSUPPORTED_ENGINE,
            f"`{url.get_backend_name()}` databases are not supported",
            "use `sqlite` or `postgresql+psycopg`",
        )
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url


class Database:
    """One database: hands out transactions, and tells failures in our words.

    Attributes:
        engine: the engine; `store` is the only package that uses it.
        is_sqlite: which of the two engines it is.
    """

    def __init__(self, settings: Settings, *, is_named: bool = True) -> None:
        """Set up the engine; nothing is connected yet.

        Args:
            settings: name it.
            is_named: whether errors may say where it is, and what it answers; not to those who ask over HTTP.

        Raises:
            StoreError: STORE006 for a URL that names no supported engine.
        """
        self.url = _parsed(settings.database_url)
        self._is_named = is_named
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        try:
            self.engine = _sqlite(self.url, settings) if self.is_sqlite else _postgresql(self.url, settings)
        except (NoSuchModuleError, ModuleNotFoundError) as why:
            raise StoreError.of(
                StoreCode.UNSUPPORTED_ENGINE, f"the driver of the database is not installed: {why}"
            ) from None

    @classmethod
    def at(cls, url: str) -> Database:
        """The database behind `url`, other settings as they are by default."""
        return cls(Settings(database_url=url))

    @property
    def shown(self) -> str:
        """The URL without its password; its kind alone where errors may not say where it is."""
        return self.url.get_backend_name() if not self._is_named else self.url.render_as_string(hide_password=True)

    @property
    def is_missing(self) -> bool:
        """Whether it is a SQLite file that does not exist; connecting would leave an empty one behind."""
        file = self.url.database
        return self.is_sqlite and file not in (None, "", ":memory:") and not Path(str(file)).exists()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing.

        Raises:
            StoreError: what the database refuses.
        """
        with self._told(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            yield connection

    @contextmanager
    def glancing(self) -> Iterator[Connection]:
        """A connection for one statement that reads: it sees one state without the cost of a transaction.

        Raises:
            StoreError: what the database refuses.
        """
        with self._told(), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="AUTOCOMMIT")
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is kept as a whole when the block ends well, and not at all otherwise.

        On SQLite it takes the one write lock at once, so that what it reads is still true when it writes.

        Raises:
            StoreError: what the database refuses.
        """
        writer = self.engine.execution_options(**{_WRITES: True})
        with self._told(), writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Give back all connections."""
        self.engine.dispose()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as why:
            raise told(why, self.shown if self._is_named else None) from why


_FULL = ("is full", "no space left", "disk i/o error", "file too large")
"""What the engines say where nothing more can be written."""


def told(why: SQLAlchemyError, shown: str | None) -> StoreError:
    """A failure of the database in our words.

    Args:
        why: what the engine says; its words are cut to one line, without parameters.
        shown: where the database is; None to tell neither that nor the engine's words.
    """
    original = getattr(why, "orig", None)
    line = str(original or type(why).__name__).strip().splitlines()[0][:200] if str(original or why) else "failed"
    if isinstance(why, OperationalError) and "locked" in line:
        return StoreError.of(
            StoreCode.BUSY, "another writer holds the database", "try again, or raise POLICYD_BUSY_TIMEOUT_MS"
        )
    if isinstance(why, DBAPIError) and ("no such table" in line or "does not exist" in line):
        return StoreError.of(StoreCode.NOT_MIGRATED, "the database is not migrated", "run `policyd db upgrade`")
    if isinstance(why, DBAPIError) and any(words in line.lower() for words in _FULL):
        return StoreError.of(
            StoreCode.FULL,
            "the database cannot write to its disk; nothing was changed",
            "make room on the disk and do it again; what is stored can be read",
        )
    where = "the database refuses" if shown is None else f"the database `{shown}` refuses: {line}"
    return StoreError.of(StoreCode.UNREACHABLE, where, "check POLICYD_DATABASE_URL and the server")


def _sqlite(url: URL, settings: Settings) -> Engine:
    timeout = settings.busy_timeout_ms
    options: dict[str, Any] = {"connect_args": {"timeout": timeout / 1000, "check_same_thread": False}}
    if url.database in (None, "", ":memory:"):
        options["poolclass"] = StaticPool
    engine = create_engine(url, **options)

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _: Any) -> None:
        # the driver would begin transactions by itself, and too late for a write lock
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {timeout}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _postgresql(url: URL, settings: Settings) -> Engine:
    options = f"-c statement_timeout={settings.statement_timeout_ms} -c timezone=UTC"
    return create_engine(
        url, pool_size=settings.pool_size, pool_pre_ping=True, connect_args={"options": options, "connect_timeout": 10}
    )
