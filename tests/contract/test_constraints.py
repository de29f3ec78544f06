"""Constraints stand in the database: rows that contradict each other are refused by both engines."""

import pytest
from contract.samples import NOW, deployment, full
from sqlalchemy import text

from policyd.findings import Severity
from policyd.store.codes import StoreError
from policyd.store.ordering import ordered
from policyd.store.overview import finding_counts, findings
from policyd.store.snapshots import load, put

NONSENSE = (
    "UPDATE grants SET part = 'middle'",
    "UPDATE grants SET position = -1",
    "UPDATE grants SET recipient_level = 2",
    "UPDATE grants SET position = 0",
    "UPDATE grants SET card_id = 999999",
    "UPDATE grants SET snapshot_id = 2 WHERE snapshot_id = 1",
    "UPDATE cards SET kind = 'odd'",
    "UPDATE cards SET card_uuid = NULL WHERE kind = 'concrete'",
    "UPDATE cards SET card_uuid = 'x' WHERE card_uuid IS NOT NULL",
    "UPDATE cards SET managed_members = NULL",
    "UPDATE cards SET expires_nanos = NULL",
    "UPDATE wallet_cards SET installed_by = 'me'",
    "UPDATE wallet_cards SET snapshot_id = 2",
    "UPDATE wallets SET holder_level = 3",
    "UPDATE initial_cards SET card_id = 1",
    "UPDATE snapshots SET digest = 'x'",
    "UPDATE snapshots SET edition = 'old'",
    "UPDATE snapshots SET environment_id = 999999",
    "UPDATE revisions SET number = 0",
    "UPDATE revisions SET snapshot_id = 2 WHERE snapshot_id = 1",
    "UPDATE accounts SET email = ''",
    "UPDATE findings SET severity = 'bad'",
    "UPDATE chains SET level = 'nowhere'",
    "UPDATE named_values SET kind = 'other'",
    "UPDATE retry_policy_revisions SET priority = -1",
    "UPDATE tools SET origin = 'elsewhere'",
    "INSERT INTO accounts (email) VALUES ('acme@x.io')",
    "DELETE FROM components",
    "DELETE FROM snapshots WHERE id = 1",
)


def test_nonsense_is_refused_by_the_database(database):
    """Each change breaks a check, a key or a uniqueness, and none leaves a trace."""
    put(database, full(), at=NOW, by="test")
    other = deployment()
    put(database, type(other)("other@x.io", "shop", "prod", components=other.components), at=NOW, by="test")
    for statement in NONSENSE:
        with pytest.raises(StoreError), database.writing() as connection:
            connection.execute(text(statement))
    assert load(database, 1) == ordered(full())


def test_findings_are_listed_without_the_facts(database):
    """Counts by severity, zeros included, and the findings themselves in pages."""
    number = put(database, full(), at=NOW, by="test").snapshot.number
    none = put(database, deployment(), at=NOW, by="test").snapshot.number
    counts = finding_counts(database, [number, none])
    assert counts[number] == {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 1}
    assert counts[none] == dict.fromkeys(Severity, 0)
    assert finding_counts(database, []) == {}
    listed = findings(database, number)
    assert tuple(fact for _, fact in listed) == ordered(full()).findings
    assert findings(database, number, after=listed[0][0], limit=1) == listed[1:]
