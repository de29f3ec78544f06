"""What is recorded beside the facts: who wrote what, and the decisions that somebody asked to log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import Connection, insert, select

from policyd.store.session import Database
from policyd.store.tables import AuditRow, DecisionRow

MAX_PAGE = 500
"""Entries that are given at once."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One write.

    Attributes:
        at: when, as a timestamp text.
        actor: the public id of a token, or `local`.
        action: a word such as `import`, `token.create`, `token.revoke`, `restore`.
        subject: what it was done to: `@12`, the public id of a token.
        account, application: whose; empty where it concerns all.
        detail: canonical JSON without values of users' secrets.
    """

    at: str
    actor: str
    action: str
    subject: str
    account: str = ""
    application: str = ""
    detail: str = "{}"


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """One decision: who asked what about which snapshot, and the three facets.

    Attributes:
        asked_at: when it was asked; at: the moment asked about, empty for none.
        question: the target, or the operation with its arguments.
        rules: the label of edition and switches.
        admitted, bounded, replay_stable: `yes`, `no` or `unknown`.
        reasons: canonical JSON.
    """

    snapshot: int
    asked_at: str
    asked_by: str
    holder: str
    agent_id: str
    question: str
    at: str
    rules: str
    admitted: str
    bounded: str
    replay_stable: str
    reasons: str


def record(connection: Connection, audit: Audit) -> None:
    """Add an entry to the audit log, in the transaction of the write itself."""
    connection.execute(insert(AuditRow), asdict(audit))


def audit_log(
    database: Database, *, after: int = 0, limit: int = MAX_PAGE, account: str = ""
) -> tuple[tuple[int, Audit], ...]:
    """Entries by ascending number, those above `after`, at most `limit`; of one account, or of all."""
    a = AuditRow
    statement = select(a.id, a.at, a.actor, a.action, a.subject, a.account, a.application, a.detail).where(a.id > after)
    if account:
        statement = statement.where(a.account == account)
    with database.reading() as connection:
        rows = connection.execute(statement.order_by(a.id).limit(min(max(limit, 1), MAX_PAGE)))
        return tuple((number, Audit(*rest)) for number, *rest in rows)


def log_decisions(database: Database, decisions: Sequence[LoggedDecision]) -> None:
    """Add decisions to the log, all or none."""
    if not decisions:
        return
    rows = [{**asdict(d), "snapshot_id": d.snapshot} for d in decisions]
    for row in rows:
        del row["snapshot"]
    with database.writing() as connection:
        connection.execute(insert(DecisionRow), rows)


def logged_decisions(
    database: Database, snapshot: int, *, after: int = 0, limit: int = MAX_PAGE
) -> tuple[tuple[int, LoggedDecision], ...]:
    """Decisions about a snapshot by ascending number, those above `after`, at most `limit`."""
    d = DecisionRow
    columns = (d.snapshot_id, d.asked_at, d.asked_by, d.holder, d.agent_id, d.question, d.at, d.rules)
    facets = (d.admitted, d.bounded, d.replay_stable, d.reasons)
    statement = select(d.id, *columns, *facets).where(d.snapshot_id == snapshot, d.id > after)
    with database.reading() as connection:
        rows = connection.execute(statement.order_by(d.id).limit(min(max(limit, 1), MAX_PAGE)))
        return tuple((number, LoggedDecision(*rest)) for number, *rest in rows)
