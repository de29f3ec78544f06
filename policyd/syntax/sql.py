"""SQL statements to the tables that they name, by the parser that the platform uses, within bounds.

Source: host 4.7.
"""

from __future__ import annotations

from policyd.core.operations.refusal import Refusal, Unclear
from policyd.core.operations.sql import Engine, NamedTable
from policyd.syntax.sql_hazard import MAX_SQL, is_hazardous
from policyd.syntax.sql_reading import read_tables


class SqlTables:
    """The port `policyd.core.operations.sql.SqlReader`: bounded in size, depth and time."""

    def tables(self, engine: Engine, sql: str) -> tuple[NamedTable, ...] | Refusal | Unclear:
        """The tables in the order in which the platform asks for them, or why they cannot be told."""
        if len(sql) > MAX_SQL:
            return Unclear("sql", f"a statement of more than {MAX_SQL} characters is not analysed")
        if not is_hazardous(sql):
            return read_tables(engine, sql)
        from policyd.syntax.sql_worker import read_apart

        return read_apart(engine, sql)
