"""Readers of database connections and SQL statements.

Source: host 4.7.
"""

from __future__ import annotations

from policyd.core.operations.parameters import Parameter
from policyd.core.operations.question import Part, Question, Read
from policyd.core.operations.refusal import Refusal, Unclear
from policyd.core.operations.sql import ENGINE_NAMES, Defaults, Engine, begin_database, complete, defaults_of
from policyd.core.operations.values import text_of


def _connection(question: Question) -> tuple[Engine, Defaults] | Refusal | Unclear:
    name = question.arguments.get("engine")
    engine = ENGINE_NAMES.get(str(name))
    if engine is None:
        return Unclear("engine", "`engine` is one of " + ", ".join(ENGINE_NAMES))
    address = question.arguments.get("address")
    if address is None:
        return Unclear("address", "`address` is not given")
    if question.ports.urls is None:
        return Unclear("address", "URLs are not read here")
    path = question.ports.urls.path_of(str(address))
    return path if isinstance(path, Refusal) else (engine, defaults_of(engine, path))


def read_database(value: object, parameter: Parameter, question: Question) -> Read:
    """The database of a connection, as beginning a transaction names it."""
    connection = _connection(question)
    return connection if isinstance(connection, (Refusal, Unclear)) else begin_database(connection[1])


def read_statement(value: object, parameter: Parameter, question: Question) -> Read:
    """The tables of a statement, each with its verb."""
    connection = _connection(question)
    text = text_of(value, parameter.argument)
    if isinstance(connection, (Refusal, Unclear)):
        return connection
    if isinstance(text, Unclear):
        return text
    if question.ports.sql is None:
        return Unclear(parameter.argument, "SQL is not read here")
    engine, defaults = connection
    named = question.ports.sql.tables(engine, text)
    if isinstance(named, (Refusal, Unclear)):
        return named
    found: list[Part] = []
    for use in named:
        table = complete(use, engine, defaults)
        if isinstance(table, Refusal):
            return table
        found.append((use.verb, table))
    return tuple(found)
