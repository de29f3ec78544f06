"""SQL to tables, and that no statement can hang or end the process."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operation_questions import PORTS, context
from ruamel.yaml import YAML

from policyd.core.operations import Asker, Refusal, Unclear, targets_of
from policyd.core.operations.sql import ENGINE_NAMES, Engine, NamedTable, defaults_of
from policyd.syntax.operations import catalogue
from policyd.syntax.sql import SqlTables
from policyd.syntax.sql_hazard import MAX_SQL, is_hazardous
from policyd.syntax.sql_reading import read_tables
from policyd.syntax.sql_worker import read_apart

GROUPS: list[dict[str, Any]] = YAML(typ="safe").load(Path(__file__).parent.parent / "cases" / "operations" / "sql.yaml")
CASES = [pytest.param(g["engine"], c, id=f"{g['engine']}: {c['sql']}") for g in GROUPS for c in g["cases"]]
ADDRESSES = {"postgres": "postgres://h/app", "mysql": "mysql://h/app", "ignite": "ignite://h"}


def answer(engine: str, sql: str, address: str | None = None) -> Any:
    where = ADDRESSES[engine] if address is None else address
    arguments = {"engine": engine, "address": where, "sql": sql}
    return targets_of(catalogue().operations["rdbms.query"], arguments, Asker.of_agent(context()), PORTS)


@pytest.mark.parametrize("engine, case", CASES)
def test_statements(engine: str, case: dict[str, Any]) -> None:
    found = answer(engine, case["sql"])
    match found:
        case Refusal(_, _, reason):
            assert reason == case.get("refused")
        case Unclear():
            assert case.get("unclear") is True
        case _:
            assert [f"{t.verb[0]} {t.resource.text}" for t in found] == case["tables"]


@pytest.mark.parametrize(
    "engine, path, database, schema",
    [
        ("postgres", "/app", "app", "public"),
        ("postgres", "//app", "app", "public"),
        ("postgres", "/na%20me", "na%20me", "public"),
        ("mysql", "/x/y", "x/y", "x/y"),
        ("mysql", "", "", ""),
        ("ignite2", "/app", "default", "PUBLIC"),
    ],
)
def test_defaults_of_a_connection(engine: str, path: str, database: str, schema: str) -> None:
    defaults = defaults_of(ENGINE_NAMES[engine], path)
    assert (defaults.database, defaults.schema) == (database, schema)


@pytest.mark.parametrize(
    "address, text",
    [
        ("postgres://h/a/../b", "b.public.t"),
        ("postgres://h", ".public.t"),
        ("postgres://u:p@h:1/Ä?x=/y#z", "%C3%84.public.t"),
        ("postgres:app", "app.public.t"),
        ("postgres://h/a^b{c}|d", "a^b%7Bc%7D|d.public.t"),
        ("https://h", ".public.t"),
    ],
)
def test_the_database_stands_in_the_address(address: str, text: str) -> None:
    (target,) = answer("postgres", "SELECT * FROM t", address)
    assert target.resource.text == text


@pytest.mark.parametrize("address", ["", "h/app", "postgres://h:99999/app"])
def test_an_address_that_is_no_url(address: str) -> None:
    found = answer("postgres", "SELECT * FROM t", address)
    assert isinstance(found, (Refusal, Unclear))


@pytest.mark.parametrize("database", ["", "a.b"])
def test_a_transaction_needs_a_database_that_a_grant_can_name(database: str) -> None:
    arguments = {"engine": "postgres", "address": f"postgres://h/{database}"}
    begin = catalogue().operations["rdbms.begin-transaction"]
    assert isinstance(targets_of(begin, arguments, Asker.of_agent(context()), PORTS), Refusal)


@pytest.mark.parametrize(
    "engine, sql",
    [
        (Engine.POSTGRES, "SELECT " + "f(" * 30 + "1" + ")" * 30),
        (Engine.POSTGRES, "SELECT " + "f(" * 30),
        (Engine.POSTGRES, "SELECT " + ", ".join(["f(f(f(f(f(f(1))))))"] * 400)),
        (Engine.MYSQL, "SELECT " + "INTERVAL " * 30 + "1"),
        (Engine.MYSQL, "SELECT 1 WHERE " + " AND ".join(["a = 1"] * 6000)),
        (Engine.POSTGRES, "SELECT 1" + " UNION SELECT 1" * 4000),
        (Engine.POSTGRES, "SELECT 1" + "::int" * 12000),
        (Engine.IGNITE, "SELECT " + "(" * 30000),
    ],
    ids=["calls", "open calls", "many calls", "intervals", "conjunctions", "unions", "casts", "brackets"],
)
def test_hazards_are_given_up_in_time(engine: Engine, sql: str) -> None:
    """Whatever the text: an answer within the time of the worker, and this process lives on."""
    begun = time.monotonic()
    found = SqlTables().tables(engine, sql)
    assert isinstance(found, (Refusal, Unclear)) or found == ()
    assert time.monotonic() - begun < 5


def test_too_much_is_not_read() -> None:
    found = SqlTables().tables(Engine.MYSQL, "SELECT 1 --" + "x" * MAX_SQL)
    assert isinstance(found, Unclear)
    assert isinstance(SqlTables().tables(Engine.MYSQL, "SELECT 1"), tuple)


def test_a_long_statement_without_hazards_is_read() -> None:
    """Rows of an INSERT are no reason to give up."""
    sql = "INSERT INTO t VALUES " + ", ".join(["(1, 'x')"] * 3000)
    assert SqlTables().tables(Engine.POSTGRES, sql) == (NamedTable("mutate", ("t",)),)


def test_the_worker_and_this_process_agree() -> None:
    texts = ["SELECT * FROM a.b", "SELECT", "INSERT INTO t PARTITION (x = 1) SELECT 1", "SELECT 1; SELECT 2"]
    for sql in texts:
        assert read_apart(Engine.POSTGRES, sql, 20) == read_tables(Engine.POSTGRES, sql)


def test_without_another_process_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert isinstance(read_apart(Engine.POSTGRES, "SELECT 1"), Unclear)


def test_a_worker_that_is_too_slow_is_unclear() -> None:
    assert isinstance(read_apart(Engine.POSTGRES, "SELECT 1", 0.0001), Unclear)


TEXT = """SELECT INSERT UPDATE DELETE FROM INTO VALUES t u s.t ( ) , ; * = 1 'x' "q" `b` WHERE JOIN ON AS SET WITH
UNION ORDER BY LIMIT RETURNING CASE WHEN THEN END IN NOT NULL CREATE TABLE LIKE DROP ALTER ADD f( -- /* */ @v $1"""
WORDS = st.sampled_from(TEXT.split())


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=14), st.sampled_from(list(Engine)))
def test_any_words_give_tables_or_a_reason(words: list[str], engine: Engine) -> None:
    sql = " ".join(words)
    if not is_hazardous(sql):
        assert isinstance(read_tables(engine, sql), (tuple, Refusal, Unclear))


@settings(deadline=None)
@given(st.sampled_from(["a", "B", "a b", "é", "x.y", "**", "--", "?env"]), st.sampled_from(list(Engine)))
def test_names_are_kept_as_quoted(name: str, engine: Engine) -> None:
    """Quotes go, everything inside stays."""
    quote = "`" if engine is Engine.MYSQL else '"'
    assert read_tables(engine, f"SELECT * FROM {quote}{name}{quote}") == (NamedTable("query", (name,)),)
