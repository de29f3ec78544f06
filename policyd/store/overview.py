"""What a list of snapshots shows beside their names, without reading their facts."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select

from policyd.findings import Severity
from policyd.store import codec
from policyd.store.facts import FindingFact
from policyd.store.session import Database
from policyd.store.tables import FindingRow
from policyd.store.wallets import among

MAX_PAGE = 500
"""Findings that are given at once."""


def finding_counts(database: Database, numbers: Collection[int]) -> dict[int, dict[Severity, int]]:
    """For each snapshot number, how many findings of each severity its imports had; zeros included."""
    f = FindingRow
    counts = {number: dict.fromkeys(Severity, 0) for number in numbers}
    if not counts:
        return counts
    with database.reading() as connection:
        statement = select(f.snapshot_id, f.severity, func.count()).group_by(f.snapshot_id, f.severity)
        for number, severity, count in connection.execute(
            statement.where(among(connection, f.snapshot_id, list(counts)))
        ):
            counts[number][Severity(severity)] = count
    return counts


def findings(
    database: Database, number: int, *, after: int = -1, limit: int = MAX_PAGE
) -> tuple[tuple[int, FindingFact], ...]:
    """The findings of a snapshot in report order with their positions, those behind `after`, at most `limit`."""
    f = FindingRow
    statement = select(f.__table__).where(f.snapshot_id == number, f.position > after).order_by(f.position)
    with database.reading() as connection:
        rows = connection.execute(statement.limit(min(max(limit, 1), MAX_PAGE))).mappings()
        return tuple((row["position"], codec.read_finding(row)) for row in rows)
