"""What a client may expect of any route: HEAD, known parameters, pages for browsers, tokens that make sense."""

import pytest
from service_serving import PLACE, TARGET

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.mark.parametrize("path", ["/", "/check", "/snapshots/1", "/v1/snapshots", "/v1/snapshots/1/export", "/healthz"])
def test_head_gives_what_get_gives_without_a_body(shop, path):
    got, head = shop.client.get(path), shop.client.head(path)
    assert (head.status_code, head.content) == (got.status_code, b"") == (200, b"")
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers.get("etag") == got.headers.get("etag")
    assert shop.client.head("/v1/nowhere").status_code == 404
    assert shop.client.head("/v1/decisions").status_code == 405


def test_a_browser_at_an_address_that_cannot_be_gets_a_page(shop):
    """A part of the address that is no number names no page; a program gets the problem document as before."""
    for path in ("/snapshots/abc", "/snapshots/abc/agent?name=Cart", "/nowhere"):
        found = shop.client.get(path, headers=BROWSER)
        assert (found.status_code, found.headers["content-type"].split(";")[0]) == (404, "text/html")
    missing = shop.client.get("/snapshots/1/agent", headers=BROWSER)
    assert (missing.status_code, missing.headers["content-type"].split(";")[0]) == (422, "text/html")
    plain = shop.client.get("/snapshots/abc")
    assert (plain.status_code, plain.headers["content-type"]) == (422, "application/problem+json")


@pytest.mark.parametrize(
    ("path", "help"),
    [
        ("/v1/snapshots?limt=3", "did you mean `limit`?"),
        ("/v1/snapshots?latest=true&verbose=1", "known: "),
        ("/v1/snapshots/1?x=1", "known: digest"),
        ("/v1/tokens?all=1", "known: none"),
    ],
)
def test_unknown_parameters_are_refused(shop, path, help):
    """A misspelt filter would otherwise give everything."""
    refused = shop.client.get(path)
    assert (refused.status_code, refused.json()["code"]) == (422, "STORE055")
    assert refused.json()["detail"].startswith("unknown query parameter `")
    assert refused.json()["help"].startswith(help)
    assert shop.client.get("/check?utm_source=mail").status_code == 200


@pytest.mark.parametrize(
    "more",
    [
        {"scope": "admin", "account": "acme@example.com"},
        {"application": "shop"},
        {"expires_at": "2020-01-01T00:00:00Z"},
    ],
)
def test_tokens_that_contradict_themselves_are_malformed(shop, more):
    body = {"name": "odd", "scope": "read", **{"expiresAt" if k == "expires_at" else k: v for k, v in more.items()}}
    refused = shop.ask("/v1/tokens", body)
    assert (refused.status_code, refused.json()["code"]) == (422, "STORE012")
    assert "odd" not in [token["name"] for token in shop.client.get("/v1/tokens").json()["tokens"]]


def test_a_logged_decision_is_read_with_its_reasons(shop):
    asked = {"snapshot": PLACE, "agent": "Cart", "target": TARGET, "log": True}
    reasons = shop.ask("/v1/decisions", asked).json()["reasons"]
    number = shop.client.get("/v1/snapshots/resolve", params={"place": PLACE}).json()["number"]
    logged = shop.client.get(f"/v1/snapshots/{number}/decisions").json()["decisions"][-1]
    assert logged["reasons"] == [{key: reason[key] for key in ("facet", "code", "text")} for reason in reasons]
