"""Whole databases as JSON lines, to be restored on either engine with the same digests.

The first line names the form and the migration; then comes every row, table by table, and a last line
that says how many there are, so that a cut file is noticed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, TextIO, cast

from sqlalchemy import Connection, Table, func, insert, select, text

from policyd.core.cards import Timestamp
from policyd.store import audits, migrate, reading
from policyd.store.codes import StoreCode, StoreError
from policyd.store.digest import digests
from policyd.store.session import Database
from policyd.store.tables import Base, SnapshotRow
from policyd.store.writing import BATCH, batches

FORM = "policyd-dump/1"

Progress = Callable[[int], None]
"""Told how many rows were handled since the last call."""


def _silent(_: int) -> None:
    """The progress nobody looks at."""


def dump(database: Database, output: TextIO, progress: Progress = _silent) -> int:
    """Write one state of the whole database; returns the number of rows.

    Raises:
        StoreError: STORE002 if the database is not at the migration of this code.
    """
    migrate.require_migrated(database)
    total = 0
    with database.reading() as connection:
        _line(output, {"form": FORM, "migration": migrate.newest()})
        for table in Base.metadata.sorted_tables:
            statement = select(table).order_by(*table.primary_key.columns).execution_options(yield_per=BATCH)
            for rows in connection.execute(statement).partitions():
                for row in rows:
                    _line(output, {"table": table.name, "row": list(row)})
                total += len(rows)
                progress(len(rows))
        _line(output, {"rows": total})
    return total


def _line(output: TextIO, value: dict[str, Any]) -> None:
    output.write(json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n")


def restore(database: Database, source: TextIO, *, at: Timestamp, by: str, progress: Progress = _silent) -> int:
    """Fill an empty, migrated database from a dump, all or nothing; returns the number of rows.

    Every snapshot is read back and its digest compared with the one it was dumped with.

    Raises:
        StoreError: STORE002 if the database is not migrated, STORE030 if it is not empty.
        InputError: STORE031 for a file that is no dump of this form, STORE032 if a digest differs.
    """
    migrate.require_migrated(database)
    with database.writing() as connection:
        for table in Base.metadata.sorted_tables:
            if connection.execute(select(func.count()).select_from(table)).scalar_one():
                raise StoreError.of(
                    StoreCode.NOT_EMPTY, f"the database `{database.shown}` is not empty", "restore into a new one"
                )
        total = _fill(connection, source, progress)
        _check(connection)
        _continue_numbers(connection)
        audits.record(connection, audits.Audit(at.text, by, "restore", f"{total} rows"))
    return total


def _bad(number: int, message: str) -> Exception:
    return StoreCode.BAD_DUMP.error(
        f"line {number} of the dump: {message}", None, "use a file that `policyd db dump` wrote"
    )


def _fill(connection: Connection, source: TextIO, progress: Progress) -> int:
    tables = {table.name: table for table in Base.metadata.sorted_tables}
    head = _parsed(1, source.readline())
    if head.get("form") != FORM:
        raise _bad(1, "it does not begin like a dump")
    if head.get("migration") != migrate.newest():
        raise _bad(1, f"it was made at migration `{head.get('migration')}`, this policyd is at `{migrate.newest()}`")
    total = 0
    promised: list[int] = []
    for rows in batches(_rows(source, tables, promised)):
        start = 0
        for end in range(1, len(rows) + 1):
            if end == len(rows) or rows[end][0] is not rows[start][0]:
                connection.execute(insert(rows[start][0]), [row for _, row in rows[start:end]])
                start = end
        total += len(rows)
        progress(len(rows))
    if promised != [total]:
        raise _bad(total + 2, "it ends too early")
    return total


def _rows(source: TextIO, tables: dict[str, Table], promised: list[int]) -> Iterator[tuple[Table, dict[str, Any]]]:
    for number, line in enumerate(source, 2):
        value = _parsed(number, line)
        if "rows" in value:
            promised.append(cast("int", value["rows"]))
            continue
        table = tables.get(str(value.get("table")))
        row = value.get("row")
        if table is None or not isinstance(row, list) or len(row) != len(table.columns):
            raise _bad(number, "it is no row of a known table")
        yield table, dict(zip(table.columns.keys(), row, strict=True))


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        raise _bad(number, "it is not JSON") from None
    if not isinstance(value, dict):
        raise _bad(number, "it is no object")
    return value


def _check(connection: Connection) -> None:
    """Compare the digest of every snapshot with its facts as they are now."""
    for number, digest in connection.execute(select(SnapshotRow.id, SnapshotRow.digest)).all():
        facts = reading.load(connection, number)
        if facts is None or digests(facts)[0] != digest:
            raise StoreCode.DIGEST_DIFFERS.error(
                f"snapshot `@{number}` does not have the digest it was dumped with", None, "dump it again"
            )


def _continue_numbers(connection: Connection) -> None:
    """Let PostgreSQL count on behind the restored row numbers; SQLite does so by itself."""
    if connection.dialect.name == "sqlite":
        return
    for table in Base.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is not None:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'),"
                    f" (SELECT coalesce(max({column.name}), 0) + 1 FROM {table.name}), false)"
                )
            )
