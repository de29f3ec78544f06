"""Explanations over HTTP and on their page: the same as on the command line, and nothing of a paste is kept."""

import json

import pytest
from service_serving import PLACE, ROOT

from policyd.cli.main import run

HOOKS = "network() : connect : hooks.stripe.com:443"
MARK = "sk_live_unseen_marker"
PASTE = (
    "2026-11-30T10:00:01Z ERROR KeyValueError(get): key-value permission denied: Unauthorized: The permission target"
    ' Kv(ClassPermissionTarget { verb: Some(Read), owner: EnvironmentOwnerPattern { account: "acme@example.com",'
    f' application: "shop", environment: "prod" }}, resource: {{ bucket: "x", key: "y" }} }}) is not allowed'
    f" token={MARK}"
)


@pytest.mark.parametrize(
    ("flags", "body"),
    [
        ([HOOKS], {"target": HOOKS}),
        (
            ["--op", "http.send", "--arg", "url=https://hooks.stripe.com/x"],
            {"operation": "http.send", "arguments": {"url": "https://hooks.stripe.com/x"}},
        ),
        (
            ["--error", "AgentOperationError::PermissionDenied in get_self_metadata"],
            {"error": "AgentOperationError::PermissionDenied in get_self_metadata"},
        ),
        (["--error", "all is well"], {"error": "all is well"}),
    ],
    ids=("target", "operation", "paste", "no denial"),
)
def test_the_same_as_the_command_line(shop, capsys, monkeypatch, flags, body):
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    answer = shop.ask("/v1/explanations", {"snapshot": PLACE, "agent": "Cart", **body})
    assert answer.status_code == 200, answer.text
    run(["explain", PLACE, *flags, "--agent", "Cart", "--format", "json"])
    expected = json.loads(capsys.readouterr().out)
    told = answer.json()
    assert {name: told[name] for name in expected} == expected


def test_documents_get_a_patch(shop):
    """With the manifest at hand the change is a patch, as it is on the command line."""
    text = (ROOT / "examples" / "shop" / "golem.yaml").read_text()
    body = {
        "documents": [{"name": "golem.yaml", "text": text}],
        "environment": "prod",
        "agent": "Cart",
        "target": HOOKS,
    }
    told = shop.ask("/v1/explanations", body).json()
    (item,) = told["denials"]
    assert item["fixes"]["proposed"][0]["patch"].startswith("--- a/golem.yaml")
    assert item["fixes"]["proposed"][0]["alsoOpens"] == []
    assert "hooks.stripe.com was asked" in item["sentence"]


def test_what_cannot_be_asked(shop):
    for body in (
        {},
        {"snapshot": PLACE},
        {"snapshot": PLACE, "agent": "Cart"},
        {"target": HOOKS, "agent": "Cart"},
        {"snapshot": PLACE, "documents": [{"name": "a", "text": "a: b"}], "target": HOOKS},
        {"snapshot": PLACE, "agent": "Cart", "operation": "no.such"},
        {"snapshot": PLACE, "agent": "Cart", "operation": "fs.open", "arguments": {"nope": 1}},
    ):
        answer = shop.ask("/v1/explanations", body)
        assert answer.status_code == 422, body
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_paste_is_in_no_link_and_no_answer(shop):
    told = shop.ask("/v1/explanations", {"snapshot": PLACE, "agent": "Cart", "error": PASTE})
    assert told.json()["denials"]
    assert MARK not in told.text
    page = shop.client.post("/explain", data={"snapshot": PLACE, "agent": "Cart", "error": PASTE})
    assert page.status_code == 200
    assert MARK not in page.text
    assert "key-value" not in str(page.url)


def test_the_page_answers_and_links(shop):
    page = shop.client.get("/explain", params={"snapshot": PLACE, "agent": "Cart", "target": HOOKS})
    assert page.status_code == 200
    for words in (
        "hooks.stripe.com was asked",
        "Nearest grants",
        "Change 1",
        "It opens nothing else",
        "Permanent link",
    ):
        assert words in page.text, words
    assert shop.client.get("/explain", params={"snapshot": PLACE, "agent": "Cart", "target": "x"}).status_code == 422
    nothing = shop.client.post("/explain", data={"snapshot": PLACE, "agent": "Cart", "error": "hello"})
    assert "Nothing in the text is a denial" in nothing.text
