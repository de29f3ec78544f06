"""Keys in stores, tables, and routes: fixed numbers of parts, each a literal or a wildcard.

Source: cards 2.2 RS-kv, RS-rdbms, RS-http.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.grants.resources.exact import Resource


@dataclass(frozen=True, slots=True)
class StoreKey:
    """A key in a kv bucket or an object in a blob container; there are no prefix globs.

    Attributes:
        store: bucket or container; exactly `*` covers every one.
        key: key or object; exactly `*` or `**` covers every one.
    """

    store: str
    key: str

    def covers(self, narrow: Resource) -> bool:
        """Whether store and key of `narrow` are inside these.

        >>> StoreKey("s", "user/*").covers(StoreKey("s", "user/1"))
        False
        """
        return (
            isinstance(narrow, StoreKey) and self.store in ("*", narrow.store) and self.key in ("*", "**", narrow.key)
        )

    @property
    def text(self) -> str:
        """The canonical text."""
        return f"{self.store}.{self.key}"


@dataclass(frozen=True, slots=True)
class TableName:
    """A table, each part a literal or exactly `*`."""

    database: str
    schema: str
    table: str

    def covers(self, narrow: Resource) -> bool:
        """Whether each part of `narrow` is inside its part here."""
        return (
            isinstance(narrow, TableName)
            and self.database in ("*", narrow.database)
            and self.schema in ("*", narrow.schema)
            and self.table in ("*", narrow.table)
        )

    @property
    def text(self) -> str:
        """The canonical text."""
        return f"{self.database}.{self.schema}.{self.table}"


@dataclass(frozen=True, slots=True)
class HttpRoute:
    """A deployed route; only the domain has a wildcard, paths begin with a slash and compare exactly."""

    domain: str
    path: str

    def covers(self, narrow: Resource) -> bool:
        """Whether the domain of `narrow` is inside and its path is the same."""
        return isinstance(narrow, HttpRoute) and self.domain in ("*", narrow.domain) and self.path == narrow.path

    @property
    def text(self) -> str:
        """The canonical text."""
        return f"{self.domain}.{self.path}"
