"""Serving policyd in this process, as a worker does, and asking it over real HTTP."""

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.service.app import create_app
from policyd.settings import Settings
from policyd.store import migrate
from policyd.store.session import Database
from policyd.store.tokens import TokenScope, create_token
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Writer, import_manifest, import_platform

AT = Timestamp.parse("2026-06-01T00:00:00Z")
ROOT = Path(__file__).resolve().parents[2]
MANIFEST = (ROOT / "examples" / "shop" / "golem.yaml").read_text(encoding="utf-8")
WALLET = (ROOT / "tests" / "cases" / "service" / "wallet.json").read_bytes()
PLACE = "@acme@example.com/shop/prod"
TARGET = "secret(?env) : reveal : stripe.key"
PARENT = "7d0f0f0f-0000-4000-8000-00000000000a"
CHILD = "7d0f0f0f-0000-4000-8000-00000000000b"


@dataclass
class Served:
    """A running service, its database and a client."""

    base: str
    url: str
    database: Database
    client: httpx.Client

    def add_manifest(self, account, environment, text=MANIFEST):
        """Import a manifest for an account."""
        loaded = load_text(text, "golem.yaml")
        selection = Selection(environment, None, account)
        return import_manifest(self.database, loaded, selection, NEXT, Writer("test", AT)).stored.snapshot

    def add_wallet(self, data=WALLET, environment=None):
        """Import platform JSON."""
        from io import BytesIO

        return import_platform(
            self.database, BytesIO(data), "wallet.json", environment, NEXT, Writer("test", AT)
        ).stored.snapshot

    def token(self, name, scope, account="", application="", expires=None):
        """The text of a new token."""
        made = create_token(
            self.database,
            name,
            TokenScope(scope),
            at=AT,
            by="test",
            account=account,
            application=application,
            expires_at=expires,
        )
        return made.secret

    def ask(self, path, body, **kwargs):
        """The answer to a `POST`."""
        return self.client.post(path, json=body, **kwargs)

    def decide(self, target=TARGET, **members):
        """The JSON of one decision."""
        body = {"snapshot": PLACE, "agent": "Cart", "target": target, **members}
        return self.ask("/v1/decisions", body).json()


def imported_shop(running):
    """Three snapshots: 1 and 2 are the manifest's environments, 3 adds a wallet of `Receipt` to 1."""
    running.add_manifest("", "prod")
    running.add_manifest("acme@example.com", "local")
    running.add_wallet()


@contextmanager
def served(folder, **settings):
    """A service over a new SQLite database in `folder`."""
    url = f"sqlite:///{folder}/policyd.db"
    database = Database.at(url)
    migrate.upgrade(database)
    with (
        listening(create_app(Settings(database_url=url, **settings))) as base,
        httpx.Client(base_url=base, timeout=60) as client,
    ):
        yield Served(base, url, database, client)
    database.close()


@contextmanager
def listening(app):
    """The address under which `app` answers, by uvicorn in a thread."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    deadline = time.monotonic() + 20
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.started
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()
