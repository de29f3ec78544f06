"""Which snapshot is the latest right now, by one prepared statement: what every question asks first.

The answer is a stamp that changes whenever anything told about the snapshot changes, so that a reader
may keep what it has read under the stamp.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from policyd.core.grants.names import ascii_lower
from policyd.store.session import Database
from policyd.store.tables import AccountRow, ApplicationRow, EnvironmentRow, RevisionRow, SnapshotRow


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a snapshot is at one moment.

    Attributes:
        number: what stands behind the `@`.
        places_digest: of its facts and their places.
        newest: the number of the newest revision of its environment, whichever snapshot that names.
    """

    number: int
    places_digest: str
    newest: int


_BY_NAME = (
    select(SnapshotRow.id, SnapshotRow.places_digest, RevisionRow.number)
    .join(RevisionRow, RevisionRow.snapshot_id == SnapshotRow.id)
    .join(EnvironmentRow, EnvironmentRow.id == RevisionRow.environment_id)
    .join(ApplicationRow, ApplicationRow.id == EnvironmentRow.application_id)
    .join(AccountRow, AccountRow.id == ApplicationRow.account_id)
    .where(
        AccountRow.email == bindparam("account"),
        ApplicationRow.name == bindparam("application"),
        EnvironmentRow.name == bindparam("environment"),
    )
    .order_by(RevisionRow.number.desc())
    .limit(1)
)

_BY_NUMBER = select(
    SnapshotRow.id,
    SnapshotRow.places_digest,
    select(func.max(RevisionRow.number))
    .where(RevisionRow.environment_id == SnapshotRow.environment_id)
    .scalar_subquery(),
).where(SnapshotRow.id == bindparam("number"))


def latest_stamp(database: Database, account: str, application: str, environment: str) -> Stamp | None:
    """The stamp of the latest snapshot of an environment, None where there is none."""
    names = {"account": ascii_lower(account), "application": application, "environment": environment}
    with database.glancing() as connection:
        row = connection.execute(_BY_NAME, names).first()
    return None if row is None else Stamp(*row)


def stamp_of(database: Database, number: int) -> Stamp | None:
    """The stamp of a snapshot, None where there is none."""
    with database.glancing() as connection:
        row = connection.execute(_BY_NUMBER, {"number": number}).first()
    return None if row is None else Stamp(*row)
