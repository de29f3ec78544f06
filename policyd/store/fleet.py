"""Results of fleet audits: one for each application and edition, so that a run can go on where one ended.

Source: interface, `fleet audit`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite

from policyd.core.cards import Timestamp
from policyd.store.session import Database
from policyd.store.tables import FleetResultRow

BATCH = 500
"""Items that are asked about at once."""


def fleet_results(database: Database, items: Sequence[str], rules: str) -> dict[str, Mapping[str, Any]]:
    """The kept results of these items under an edition."""
    row = FleetResultRow
    found: dict[str, Mapping[str, Any]] = {}
    with database.reading() as connection:
        for start in range(0, len(items), BATCH):
            some = items[start : start + BATCH]
            statement = select(row.item, row.result).where(row.rules == rules, row.item.in_(some))
            found |= {item: json.loads(result) for item, result in connection.execute(statement)}
    return found


def keep_fleet_results(database: Database, results: Sequence[Mapping[str, Any]], rules: str, at: Timestamp) -> None:
    """Keep results in place of earlier ones of the same items, all or none.

    Args:
        database: migrated.
        results: with `item` and the `digest` of what they were made from.
        rules: the label of edition and switches.
        at: when.
    """
    row = FleetResultRow
    rows = [
        {
            "item": result["item"],
            "rules": rules,
            "digest": result["digest"],
            "result": json.dumps(result, ensure_ascii=True),
            "at": at.text,
        }
        for result in results
    ]
    if not rows:
        return
    with database.writing() as connection:
        make = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
        for start in range(0, len(rows), BATCH):
            added = make(row)
            newer = {name: added.excluded[name] for name in ("digest", "result", "at")}
            connection.execute(
                added.on_conflict_do_update(index_elements=[row.item, row.rules], set_=newer),
                rows[start : start + BATCH],
            )
