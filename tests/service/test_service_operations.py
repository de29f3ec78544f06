"""Host operations over HTTP and on pages: the same answers as the command line gives."""

import json
import time

import pytest
from service_serving import PLACE

from policyd.cli.main import run

QUESTIONS = (
    ("fs.open", {"path": "/data/a", "flags": "read,write"}),
    ("agent.get-self-metadata", {}),
    ("http.send", {"url": "https://api.stripe.com/v1"}),
    ("rdbms.query", {"engine": "postgres", "address": "postgres://h/db", "sql": "select a from t"}),
    ("kv.get", {"bucket": "orders", "key": "1"}),
    ("agent.local", {}),
)


@pytest.mark.parametrize(("operation", "arguments"), QUESTIONS, ids=[q[0] for q in QUESTIONS])
def test_the_same_answer_as_the_command_line(shop, capsys, monkeypatch, operation, arguments):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    body = {"snapshot": PLACE, "agent": "Cart", "operation": operation, "arguments": arguments}
    answer = shop.ask("/v1/decisions", body)
    assert answer.status_code == 200, answer.text
    given = [part for name, value in arguments.items() for part in ("--arg", f"{name}={value}")]
    run(["check", PLACE, "--agent", "Cart", "--op", operation, *given, "--format", "json"])
    expected = json.loads(capsys.readouterr().out)
    told = answer.json()
    assert {name: told[name] for name in expected if name != "snapshot"} == {
        name: value for name, value in expected.items() if name != "snapshot"
    }
    batch = shop.ask(
        "/v1/decisions/batch", {"snapshot": PLACE, "questions": [{k: v for k, v in body.items() if k != "snapshot"}]}
    )
    assert batch.json()["answers"][0]["decision"]["admitted"] == told["admitted"]


def test_the_catalogue(shop):
    every = shop.client.get("/v1/operations").json()["operations"]
    assert len(every) > 200
    few = shop.client.get("/v1/operations", params={"search": "metadata", "cls": "agent"}).json()["operations"]
    assert {row["id"] for row in few} >= {"agent.get-self-metadata", "agent.get-metadata"}
    one = shop.client.get("/v1/operations/fs.open").json()
    assert one["targets"][0]["target"].startswith("filesystem(")
    assert shop.client.get("/v1/operations/fs.opn").status_code in (404, 422)


def test_what_cannot_be_asked(shop):
    """Both or neither of target and operation, an unknown operation or argument, an SDK that is none."""
    for body in (
        {},
        {"target": "network() : connect : a:1", "operation": "fs.open"},
        {"operation": "fs.opn"},
        {"operation": "fs.open", "arguments": {"pth": "/a"}},
        {"operation": "fs.open", "arguments": {"path": "/a"}, "sdk": "cobol"},
        {"target": "network() : connect : a:1", "arguments": {"path": "/a"}},
    ):
        answer = shop.ask("/v1/decisions", {"snapshot": PLACE, "agent": "Cart", **body})
        assert answer.status_code == 422, body
        assert answer.json()["findings"]


def test_hostile_statements_end_in_time(shop):
    """Calls nested a thousand times, and a statement of a megabyte, are answered without holding up the service."""
    for sql in (
        "select " + "f(" * 1000 + "1" + ")" * 1000,
        "select " + "(" * 5000 + "1",
        "select '" + "x" * 60_000,
        "select 1 from " + ", ".join(f"t{n}" for n in range(5000)),
    ):
        started = time.monotonic()
        arguments = {"engine": "postgres", "address": "postgres://h/db", "sql": sql}
        answer = shop.ask(
            "/v1/decisions", {"snapshot": PLACE, "agent": "Cart", "operation": "rdbms.query", "arguments": arguments}
        )
        assert answer.status_code in (200, 413, 422), answer.text[:200]
        if answer.status_code == 200:
            assert answer.json()["admitted"] != "yes"
        assert time.monotonic() - started < 10


def test_arguments_are_not_kept(shop):
    """The log of decisions holds the operation, and no argument: they may be values."""
    body = {
        "snapshot": PLACE,
        "agent": "Cart",
        "operation": "rdbms.query",
        "arguments": {"engine": "postgres", "address": "postgres://h/db", "sql": "select 'unseen-value' from t"},
        "log": True,
    }
    assert shop.ask("/v1/decisions", body).status_code == 200
    with shop.database.reading() as connection:
        rows = connection.exec_driver_sql("select * from decisions").fetchall()
    assert any("rdbms.query" in map(str, row) for row in rows)
    assert "unseen-value" not in str(rows)
