"""SQL as the core sees it: which tables a statement names, and with which verb.

Reading SQL is left to a port; the core completes the names and makes tables of them.

Source: host 4.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from policyd.core.grants.resources import TableName
from policyd.core.operations.refusal import Refusal, RefusalKind, Unclear


class Engine(Enum):
    """The database engines of `golem:rdbms`."""

    POSTGRES = "postgres"
    MYSQL = "mysql"
    IGNITE = "ignite"


ENGINE_NAMES = {**{engine.value: engine for engine in Engine}, "ignite2": Engine.IGNITE}
"""The names that users type; the interface itself says `ignite2`."""


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table as a statement names it.

    Attributes:
        verb: `mutate` or `query`.
        parts: 1..n parts of the name, quotes removed, case kept; None where the name is computed.
    """

    verb: str
    parts: tuple[str, ...] | None


class SqlReader(Protocol):
    """Reads one statement and names its tables."""

    def tables(self, engine: Engine, sql: str) -> tuple[NamedTable, ...] | Refusal | Unclear:
        """The tables in the order in which the platform asks for them, or why they cannot be told."""


@dataclass(frozen=True, slots=True)
class Defaults:
    """What completes a bare table name."""

    database: str
    schema: str


def defaults_of(engine: Engine, url_path: str) -> Defaults:
    """The default database and schema of a connection.

    Args:
        engine: the kind of database.
        url_path: the path of the connection URL as its parser leaves it.

    >>> defaults_of(Engine.MYSQL, "//app/").database
    'app/'
    """
    database = url_path.lstrip("/")
    match engine:
        case Engine.POSTGRES:
            return Defaults(database, "public")
        case Engine.MYSQL:
            return Defaults(database, database)
        case Engine.IGNITE:
            return Defaults("default", "PUBLIC")


def begin_database(defaults: Defaults) -> str | Refusal:
    """The database of `{db}.*.*` that beginning a transaction asks for; it goes through the grant grammar."""
    database = defaults.database
    if not database or "." in database:
        return Refusal(RefusalKind.RESOURCE, f"invalid rdbms resource: {database}.*.*")
    return database


def complete(named: NamedTable, engine: Engine, defaults: Defaults) -> TableName | Refusal:
    """The table that a name means on this connection."""
    parts = named.parts
    if parts is None or any(part in ("", "*") for part in parts):
        return sql_refusal("dynamic or invalid table name")
    match parts:
        case (table,):
            return TableName(defaults.database, defaults.schema, table)
        case (schema, table):
            return TableName(schema if engine is Engine.MYSQL else defaults.database, schema, table)
        case (database, schema, table):
            return TableName(database, schema, table)
        case _:
            return sql_refusal("table names must contain one to three parts")


def sql_refusal(reason: str) -> Refusal:
    """A statement that the platform refuses, with its words."""
    return Refusal(RefusalKind.SQL, f"SQL resource set cannot be extracted safely: {reason}", reason)
