"""A stored deployment for reports."""

from policyd.core.cards import Timestamp
from policyd.core.edition import NEXT
from policyd.manifest import load_text
from policyd.store import migrate
from policyd.store.session import Database
from policyd.usecases.deployments import Selection
from policyd.usecases.import_deployment import Writer, import_manifest

AT = Timestamp.parse("2026-06-01T00:00:00Z")


def stored_shop(folder, monkeypatch, text):
    """The place of a manifest in a new database, and its digest."""
    url = f"sqlite:///{folder}/policyd.db"
    monkeypatch.setenv("POLICYD_DATABASE_URL", url)
    database = Database.at(url)
    migrate.upgrade(database)
    loaded = load_text(text, "golem.yaml")
    stored = import_manifest(database, loaded, Selection("prod"), NEXT, Writer("test", AT)).stored
    database.close()
    return "@acme@example.com/shop/prod", stored.snapshot.digest
