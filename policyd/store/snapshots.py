"""Snapshots: deployments put, listed, found by reference, and read back.

A snapshot is named by its digest. An environment has a history of revisions, each of which names the
snapshot that is its latest from then on; importing what is already the latest adds nothing.

Source: interface, a place in the store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from policyd.core.cards import Timestamp
from policyd.core.edition import Rules
from policyd.core.grants.names import ascii_lower
from policyd.store import audits, codec, reading, writing
from policyd.store.codes import StoreCode
from policyd.store.digest import canonical_json, digests
from policyd.store.facts import Deployment
from policyd.store.ordering import ordered
from policyd.store.session import Database
from policyd.store.tables import AccountRow, ApplicationRow, EnvironmentRow, RevisionRow, SnapshotRow
from policyd.store.writing import Progress, SnapshotWriter, insert_missing

MAX_PAGE = 500
"""Rows of a list that are given at once."""

_NUMBER = re.compile(r"@([0-9]{1,18})", re.ASCII)


@dataclass(frozen=True, slots=True)
class SnapshotInfo:
    """A snapshot without its facts.

    Attributes:
        number: what stands behind the `@`.
        digest: 64 hex digits; the same facts have the same digest on every engine.
        revision: the number of the newest revision of the environment that names this snapshot.
        is_latest: whether it is the latest of its environment.
        created_at: when these facts were first imported; imported_at: when they became the latest again.
        places_digest: of facts and places together, which follow the newest import of the same facts.
    """

    number: int
    digest: str
    account: str
    application: str
    environment: str
    rules: Rules
    manifest_version: str
    grant_count: int
    revision: int
    is_latest: bool
    created_at: str
    created_by: str
    imported_at: str
    places_digest: str

    @property
    def label(self) -> str:
        """`account/application/environment`."""
        return f"{self.account}/{self.application}/{self.environment}"


@dataclass(frozen=True, slots=True)
class Stored:
    """What an import did.

    Attributes:
        snapshot: the snapshot that is now the latest.
        is_new: whether its facts were not known before.
        is_revision: whether the environment got a new revision by it.
    """

    snapshot: SnapshotInfo
    is_new: bool
    is_revision: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose snapshots may be seen; empty texts stand for all. What lies outside does not exist."""

    account: str = ""
    application: str = ""

    def admits(self, account: str, application: str) -> bool:
        """Whether snapshots of this application may be seen."""
        return self.account in ("", account) and self.application in ("", application)


EVERYTHING = Scope()


def _silent(_: int) -> None:
    """The progress nobody looks at."""


@dataclass(frozen=True, slots=True)
class Change:
    """What one document makes of an environment.

    Attributes:
        environment: account, application, environment.
        revise: gets the latest facts, None for a new environment, and answers the new ones for the same environment.
            Nobody else changes the environment meanwhile.
        sources: names of the documents read.
        reads_latest: whether `revise` looks at the latest facts; otherwise it gets None, and nothing is read.
    """

    environment: tuple[str, str, str]
    revise: Callable[[Deployment | None], Deployment]
    sources: Sequence[str] = ()
    reads_latest: bool = True


class Storing:
    """An open transaction that changes environments; later changes see earlier ones."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def change(self, wanted: Change, *, at: Timestamp, by: str, progress: Progress = _silent) -> Stored:
        """Make what `wanted` answers the latest snapshot of its environment.

        Args:
            wanted: what is to be stored.
            at: now.
            by: who writes, for the history and the audit log.
            progress: told of written grants.

        Raises:
            InputError: what `revise` and `policyd.store.ordering.ordered` raise.
        """
        connection = self._connection
        account, application, name = ascii_lower(wanted.environment[0]), *wanted.environment[1:]
        row = _environment(connection, account, application, name)
        latest = _latest(connection, row)
        known = reading.load(connection, latest) if latest is not None and wanted.reads_latest else None
        facts = ordered(wanted.revise(known))
        if (facts.account, facts.application, facts.environment) != (account, application, name):
            raise StoreCode.CONTRADICTION.error(
                f"the facts are about `{facts.label}`, not about `{account}/{application}/{name}`"
            )
        number, is_new = _put(connection, row, facts, at, by, progress)
        is_revision = number != latest
        if is_revision:
            _revise(connection, row, number, at, by, wanted.sources)
            detail = canonical_json(list(wanted.sources))
            audits.record(connection, audits.Audit(at.text, by, "import", f"@{number}", account, application, detail))
        info = _info(connection, SnapshotRow.id == number)
        assert info is not None  # it was written or found just now
        return Stored(info, is_new, is_revision)


@contextmanager
def transaction(database: Database) -> Iterator[Storing]:
    """A transaction that changes environments: kept as a whole when the block ends well, and not at all otherwise.

    Raises:
        StoreError: what the database refuses; nothing is changed then.
    """
    with database.writing() as connection:
        yield Storing(connection)


def change(
    database: Database,
    environment: tuple[str, str, str],
    revise: Callable[[Deployment | None], Deployment],
    *,
    at: Timestamp,
    by: str,
    sources: Sequence[str] = (),
    progress: Progress = _silent,
    reads_latest: bool = True,
) -> Stored:
    """Make what `revise` answers the latest snapshot of an environment, in one transaction; see `Change`.

    Raises:
        InputError: what `revise` and `policyd.store.ordering.ordered` raise; nothing is changed then.
        StoreError: what the database refuses; nothing is changed then.
    """
    with transaction(database) as storing:
        wanted = Change(environment, revise, sources, reads_latest)
        return storing.change(wanted, at=at, by=by, progress=progress)


def put(
    database: Database,
    deployment: Deployment,
    *,
    at: Timestamp,
    by: str,
    sources: Sequence[str] = (),
    progress: Progress = _silent,
) -> Stored:
    """Make `deployment` the latest snapshot of its environment, whatever was there before; see `change`."""
    environment = (deployment.account, deployment.application, deployment.environment)
    return change(
        database,
        environment,
        lambda _: deployment,
        at=at,
        by=by,
        sources=sources,
        progress=progress,
        reads_latest=False,
    )


def _environment(connection: Connection, account: str, application: str, name: str) -> int:
    """The row of an environment, made where it is new, and locked until the transaction ends."""
    insert_missing(connection, AccountRow, [{"email": account}])
    owner = connection.execute(select(AccountRow.id).where(AccountRow.email == account)).scalar_one()
    insert_missing(connection, ApplicationRow, [{"account_id": owner, "name": application}])
    app = connection.execute(
        select(ApplicationRow.id).where(ApplicationRow.account_id == owner, ApplicationRow.name == application)
    ).scalar_one()
    insert_missing(connection, EnvironmentRow, [{"application_id": app, "name": name}])
    found = select(EnvironmentRow.id).where(EnvironmentRow.application_id == app, EnvironmentRow.name == name)
    return connection.execute(found.with_for_update()).scalar_one()


def _latest(connection: Connection, environment: int) -> int | None:
    return connection.execute(
        select(RevisionRow.snapshot_id)
        .where(RevisionRow.environment_id == environment)
        .order_by(RevisionRow.number.desc())
        .limit(1)
    ).scalar_one_or_none()


def _put(
    connection: Connection, environment: int, wanted: Deployment, at: Timestamp, by: str, progress: Progress
) -> tuple[int, bool]:
    """The number of the snapshot with these facts, and whether it is new; places follow the newest import."""
    digest, placed = digests(wanted)
    found = connection.execute(
        select(SnapshotRow.id, SnapshotRow.places_digest).where(SnapshotRow.digest == digest)
    ).first()
    if found is not None and found.places_digest == placed:
        return found.id, False
    if found is None:
        number = connection.execute(
            insert(SnapshotRow).returning(SnapshotRow.id),
            {
                "environment_id": environment,
                "digest": digest,
                "places_digest": placed,
                "manifest_version": wanted.manifest_version,
                "grant_count": wanted.grant_count,
                "created_at": at.text,
                "created_by": by,
                **codec.rules_row(wanted.rules),
            },
        ).scalar_one()
    else:
        number = found.id
        writing.remove(connection, number)
        connection.execute(update(SnapshotRow).where(SnapshotRow.id == number).values(places_digest=placed))
    SnapshotWriter(connection, number, environment, wanted, progress).write()
    return number, found is None


def _revise(
    connection: Connection, environment: int, snapshot: int, at: Timestamp, by: str, sources: Sequence[str]
) -> None:
    last = connection.execute(
        select(RevisionRow.number)
        .where(RevisionRow.environment_id == environment)
        .order_by(RevisionRow.number.desc())
        .limit(1)
    ).scalar_one_or_none()
    connection.execute(
        insert(RevisionRow),
        {
            "environment_id": environment,
            "number": (last or 0) + 1,
            "snapshot_id": snapshot,
            "imported_at": at.text,
            "imported_by": by,
            "sources": canonical_json(list(sources)),
        },
    )


def _newest() -> Any:
    """The number of the newest revision of a snapshot's environment."""
    return (
        select(func.max(RevisionRow.number))
        .where(RevisionRow.environment_id == SnapshotRow.environment_id)
        .correlate(SnapshotRow)
        .scalar_subquery()
    )


def _infos() -> Any:
    """A select over snapshots with their environment and their newest revision."""
    own = (
        select(RevisionRow.id)
        .where(RevisionRow.snapshot_id == SnapshotRow.id)
        .order_by(RevisionRow.number.desc())
        .limit(1)
        .correlate(SnapshotRow)
        .scalar_subquery()
    )
    return (
        select(
            SnapshotRow.__table__,
            AccountRow.email,
            ApplicationRow.name.label("application"),
            EnvironmentRow.name.label("environment"),
            RevisionRow.number.label("revision"),
            RevisionRow.imported_at,
            _newest().label("newest"),
        )
        .join(EnvironmentRow, EnvironmentRow.id == SnapshotRow.environment_id)
        .join(ApplicationRow, ApplicationRow.id == EnvironmentRow.application_id)
        .join(AccountRow, AccountRow.id == ApplicationRow.account_id)
        .join(RevisionRow, RevisionRow.id == own)
    )


def _read(row: Any) -> SnapshotInfo:
    return SnapshotInfo(
        row["id"],
        row["digest"],
        row["email"],
        row["application"],
        row["environment"],
        codec.read_rules(row),
        row["manifest_version"],
        row["grant_count"],
        row["revision"],
        row["revision"] == row["newest"],
        row["created_at"],
        row["created_by"],
        row["imported_at"],
        row["places_digest"],
    )


def _info(connection: Connection, condition: Any, scope: Scope = EVERYTHING) -> SnapshotInfo | None:
    row = connection.execute(_scoped(_infos().where(condition), scope)).mappings().first()
    return None if row is None else _read(row)


def _scoped(statement: Any, scope: Scope) -> Any:
    if scope.account:
        statement = statement.where(AccountRow.email == scope.account)
    if scope.application:
        statement = statement.where(ApplicationRow.name == scope.application)
    return statement


def snapshots(
    database: Database, *, after: int = 0, limit: int = MAX_PAGE, scope: Scope = EVERYTHING, only_latest: bool = False
) -> tuple[SnapshotInfo, ...]:
    """Snapshots by ascending number, those above `after`, at most `limit`.

    Asking again with the last number given goes on without a gap, also while others import.
    """
    statement = _scoped(_infos(), scope).where(SnapshotRow.id > after).order_by(SnapshotRow.id)
    if only_latest:
        statement = statement.where(RevisionRow.number == _newest())
    with database.reading() as connection:
        rows = connection.execute(statement.limit(min(max(limit, 1), MAX_PAGE))).mappings()
        return tuple(_read(row) for row in rows)


def resolve(database: Database, reference: str, scope: Scope = EVERYTHING) -> SnapshotInfo:
    """The snapshot that `@12` or `@account/application/environment` (its latest) names.

    Raises:
        InputError: STORE011 for a text that is no reference, STORE010 where there is no such snapshot in `scope`.
    """
    number = _NUMBER.fullmatch(reference)
    names = reference[1:].split("/")
    if not reference.startswith("@") or (number is None and (len(names) != 3 or not all(names))):
        raise StoreCode.REFERENCE.error(
            f"`{reference[:80]}` names no snapshot", None, "write `@12` or `@account/application/environment`"
        )
    with database.reading() as connection:
        if number is not None:
            found = _info(connection, SnapshotRow.id == int(number.group(1)), scope)
        else:
            found = _latest_info(connection, ascii_lower(names[0]), names[1], names[2], scope)
    if found is None:
        raise StoreCode.NO_SNAPSHOT.error(
            f"there is no snapshot `{reference[:200]}`", None, "`policyd snapshots` lists them"
        )
    return found


def _latest_info(
    connection: Connection, account: str, application: str, environment: str, scope: Scope
) -> SnapshotInfo | None:
    row = connection.execute(
        select(EnvironmentRow.id)
        .join(ApplicationRow, ApplicationRow.id == EnvironmentRow.application_id)
        .join(AccountRow, AccountRow.id == ApplicationRow.account_id)
        .where(AccountRow.email == account, ApplicationRow.name == application, EnvironmentRow.name == environment)
    ).scalar_one_or_none()
    # out of reach goes no further than not there
    latest = None if row is None or not scope.admits(account, application) else _latest(connection, row)
    return None if latest is None else _info(connection, SnapshotRow.id == latest, scope)


def load(database: Database, number: int) -> Deployment:
    """All facts of a snapshot, in their one order.

    Raises:
        InputError: STORE010 if there is no such snapshot.
    """
    with database.reading() as connection:
        found = reading.load(connection, number)
    if found is None:
        raise StoreCode.NO_SNAPSHOT.error(f"there is no snapshot `@{number}`", None, "`policyd snapshots` lists them")
    return found
