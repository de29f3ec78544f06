"""Reading one statement in this process, whatever it costs.

Source: host 4.7.
"""

from __future__ import annotations

from policyd.core.operations.refusal import Refusal, Unclear
from policyd.core.operations.sql import Engine, NamedTable, sql_refusal
from policyd.syntax.sql_statements import UNLIKE, named_tables
from policyd.syntax.sql_versions import may_be_newer

_DIALECTS = {Engine.POSTGRES: "postgres", Engine.MYSQL: "mysql", Engine.IGNITE: "generic"}


def read_tables(engine: Engine, sql: str) -> tuple[NamedTable, ...] | Refusal | Unclear:
    """The tables of one statement, or why they cannot be told."""
    from sqloxide import parse_sql

    try:
        statements = parse_sql(sql=sql, dialect=_DIALECTS[engine])
    except ValueError as error:
        if "recursion limit" in str(error):
            return sql_refusal("recursion")
        return UNLIKE if may_be_newer(engine, sql) else sql_refusal("syntax")
    return named_tables(statements, engine)
