"""How many findings snapshots have, without reading them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import func, select

from policyd.findings import Severity
from policyd.store.session import Database
from policyd.store.tables import FindingRow

IDS_PER_STATEMENT = 5_000
"""Row numbers in one condition; SQLite takes at most 32,766 parameters."""


def finding_counts(database: Database, snapshots: Sequence[int]) -> dict[int, dict[str, int]]:
    """Snapshot numbers to the numbers of their findings by severity; every severity is there, also with 0."""
    counted = {number: {severity.value: 0 for severity in Severity} for number in snapshots}
    f = FindingRow
    with database.reading() as connection:
        for start in range(0, len(snapshots), IDS_PER_STATEMENT):
            chosen = f.snapshot_id.in_(snapshots[start : start + IDS_PER_STATEMENT])
            statement = select(f.snapshot_id, f.severity, func.count()).where(chosen)
            for number, severity, count in connection.execute(statement.group_by(f.snapshot_id, f.severity)):
                counted[number][severity] = count
    return counted
