"""Unused authority over HTTP, on its page, and from the log of the service itself: the command line says the same."""

import json

import pytest
from service_serving import PLACE, TARGET, imported_shop, served

from policyd.cli.main import run

AT = "2026-12-01T00:00:00Z"
LINES = "\n".join(
    json.dumps({"time": "2026-11-20T10:00:00Z", "agent": 'Cart("u1")', "target": target, "outcome": outcome})
    for target, outcome in ((TARGET, "admitted"), ("kv(?env) : delete : orders.1", "denied"))
)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    with served(tmp_path_factory.mktemp("unused"), require_tokens=False) as running:
        imported_shop(running)
        yield running


def test_the_same_as_the_command_line(shop, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    log = tmp_path / "log.jsonl"
    log.write_text(LINES, encoding="utf-8")
    answer = shop.ask("/v1/unused", {"snapshot": PLACE, "log": LINES, "at": AT, "budget": 10})
    assert answer.status_code == 200, answer.text
    assert run(["unused", PLACE, "--log", str(log), "--at", AT, "--format", "json"]) == 0
    told, expected = answer.json(), json.loads(capsys.readouterr().out)
    named = expected.pop("source")
    assert {name: told[name] for name in expected} == expected
    assert told["source"].startswith("@")
    assert named.startswith(PLACE)
    states = {g["grant"]: g["state"] for h in told["holders"] if h["name"] == "Cart" for g in h["grants"]}
    assert states["secret(?env) @ ?agent : reveal : stripe.key"] == "needed"
    assert states["secret(?env) @ ?agent : hold : stripe.key"] == "unused"


def test_its_own_log_is_read_and_exported(shop, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    for target, agent in ((TARGET, 'Cart("u1")'), ("kv(?env) : read : orders.1", "Cart")):
        shop.decide(target, agent=agent, log=True)
    shop.ask(
        "/v1/decisions",
        {"snapshot": PLACE, "agent": "Cart", "operation": "fs.open", "arguments": {"path": "/a"}, "log": True},
    )
    own = shop.ask("/v1/unused", {"snapshot": PLACE, "agent": "Cart"}).json()
    assert own["log"]["used"] == 2
    assert own["log"]["unclearOperations"] == {"fs.open": 1}, "arguments are never logged"
    assert any("asked of policyd" in note for note in own["notes"])
    assert run(["unused", PLACE, "--agent", "Cart", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["log"]["used"] == 2
    exported = tmp_path / "own.jsonl"
    assert run(["export", PLACE, "--decisions", "--output", str(exported)]) == 0
    assert run(["unused", PLACE, "--agent", "Cart", "--log", str(exported), "--format", "json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["log"]["used"] == 2
    assert [g["state"] for g in again["holders"][0]["grants"]] == [g["state"] for g in own["holders"][0]["grants"]]


def test_what_cannot_be_asked(shop):
    for body in ({"log": "x"}, {"window": "soon"}, {"agent": "Nobody"}, {"at": "now"}, {"log": 7}):
        answer = shop.ask("/v1/unused", {"snapshot": PLACE, **body})
        assert answer.status_code == 422, body
        assert answer.headers["content-type"] == "application/problem+json"
    assert shop.ask("/v1/unused", {"snapshot": "@99"}).status_code == 404


def test_the_page(shop):
    shop.decide(TARGET, agent='Cart("u1")', log=True)
    html = shop.client.get("/unused", params={"snapshot": PLACE}).text
    assert "Grants of Cart" in html
    assert "The least card" in html
    assert "Not observable" in html
    hostile = shop.client.get("/unused", params={"snapshot": PLACE, "agent": "<script>x</script>"})
    assert hostile.status_code == 422
    assert "<script>" not in hostile.text


def test_a_log_with_texts_that_no_encoding_holds(shop):
    line = json.dumps({"time": "2026-11-20T10:00:00Z", "agent": "\ud800", "target": TARGET, "outcome": "denied"})
    answer = shop.ask("/v1/unused", {"snapshot": PLACE, "log": LINES + "\n" + line, "at": AT})
    assert answer.status_code == 200, answer.text
    assert answer.json()["log"]["used"] == 2


def test_the_report_is_that_of_the_command_line(shop, capsys, monkeypatch):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    told = shop.ask("/v1/reports", {"snapshot": PLACE, "at": AT, "budget": 10})
    assert told.status_code == 200, told.text
    assert run(["report", PLACE, "--at", AT, "--format", "json"]) in (0, 3)
    expected = json.loads(capsys.readouterr().out)
    assert {name: told.json()[name] for name in expected} == expected
    assert [a["agent"] for a in expected["agents"] if a["origin"] == "imported wallet"]
    assert shop.ask("/v1/reports", {"snapshot": PLACE, "edition": "snapshot"}).status_code == 422
    assert shop.ask("/v1/reports", {"snapshot": "@99"}).status_code == 404
