"""Access: tokens, scopes, tenants, foreign pages, and the log of writes."""

import re

import pytest
from service_serving import AT, PLACE, TARGET, WALLET

from policyd.core.cards import Timestamp
from policyd.service.description import EXAMPLES, PARAMETERS
from policyd.store.tokens import revoke_token


def _bearer(text):
    return {"Authorization": f"Bearer {text}"}


@pytest.fixture(scope="module")
def tokens(guarded):
    """A token of each kind; those of `shop` and of the other account reach one snapshot each."""
    return {
        "admin": guarded.token("admin", "admin"),
        "write": guarded.token("write", "write", "acme@example.com", "shop"),
        "read": guarded.token("read", "read", "acme@example.com", "shop"),
        "other": guarded.token("other", "read", "other@example.com"),
        "elsewhere": guarded.token("elsewhere", "write", "acme@example.com", "another"),
    }


def _operations(guarded):
    document = guarded.client.get("/v1/openapi.json").json()
    for path, operations in document["paths"].items():
        for method in operations:
            named = set(re.findall(r"{(\w+)}", path))
            filled = path.format(**{name: PARAMETERS[name] for name in named})
            known = {parameter["name"] for parameter in operations[method].get("parameters", ())}
            query = {name: PARAMETERS[name] for name in ("place", "agent") if name in PARAMETERS and name in known}
            yield method, path, filled, query


OPEN = {"/healthz", "/readyz", "/.well-known/authzen-configuration"}


def test_every_operation_asks_for_a_token(guarded):
    """No token, a wrong one, and a wrong scheme are refused everywhere, before anything is read."""
    for method, path, filled, query in _operations(guarded):
        for headers in ({}, _bearer("pd_000000000000_" + "A" * 43), {"Authorization": "Basic YTpi"}):
            answer = guarded.client.request(method, filled, params=query, headers=headers, json=EXAMPLES.get(path))
            assert answer.status_code == (200 if path in OPEN else 401), (method, path)
            if path not in OPEN:
                assert answer.headers["www-authenticate"].startswith("Bearer")
                assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/v1/imports/manifest", "/v1/imports/platform"])
def test_reading_tokens_do_not_write(guarded, tokens, path):
    answer = guarded.client.post(path, json=EXAMPLES[path], headers=_bearer(tokens["read"]))
    assert (answer.status_code, answer.json()["code"]) == (403, "STORE051")


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/tokens"), ("POST", "/v1/tokens"), ("GET", "/v1/audit-log")])
def test_only_administrators_see_tokens_and_the_log(guarded, tokens, method, path):
    answer = guarded.client.request(method, path, json=EXAMPLES["/v1/tokens"], headers=_bearer(tokens["write"]))
    assert answer.status_code == 403


def test_a_writer_may_not_write_for_another_application(guarded, tokens):
    """Neither by a manifest, nor by an export, nor by a wallet that names its environment."""
    export = guarded.client.get("/v1/snapshots/1/export", headers=_bearer(tokens["admin"])).content
    for token in (tokens["elsewhere"],):
        manifest = guarded.client.post(
            "/v1/imports/manifest", json=EXAMPLES["/v1/imports/manifest"], headers=_bearer(token)
        )
        documents = [
            guarded.client.post("/v1/imports/platform", content=data, headers=_bearer(token))
            for data in (export, WALLET)
        ]
        assert [answer.status_code for answer in (manifest, *documents)] == [403, 403, 403]


def test_a_tenant_cannot_tell_anothers_snapshot_from_none(guarded, tokens):
    """Every way to name a snapshot gives the same answer for another tenant's as for one that is not there."""
    mine, theirs, missing = "@4", "@1", "@999"
    headers = _bearer(tokens["other"])
    assert guarded.client.get("/v1/snapshots/4", headers=headers).status_code == 200

    def plain(answer):
        text = answer.text.replace(theirs, "@?").replace(missing, "@?")
        return answer.status_code, re.sub(r"@acme@example.com/shop/\w+", "@?", text)

    for method, path, _, query in _operations(guarded):
        if "{number}" not in path:
            continue
        answers = []
        for number in (1, 999):
            filled = path.format(**{**PARAMETERS, "number": number})
            answers.append(plain(guarded.client.request(method, filled, params=query, headers=headers)))
        assert answers[0] == answers[1], path
        assert answers[0][0] == 404, path
    for path in ("/v1/decisions", "/v1/decisions/batch", "/v1/who-can", "/v1/what-can"):
        answers = []
        for place in (theirs, missing, PLACE, "@acme@example.com/shop/nowhere"):
            body = {**EXAMPLES[path], "snapshot": place}
            answers.append(plain(guarded.client.post(path, json=body, headers=headers)))
        assert {status for status, _ in answers} == {404}, path
        assert answers[0] == answers[1]
        assert answers[2] == answers[3]
    evaluation = {**EXAMPLES["/access/v1/evaluation"], "context": {"snapshot": theirs}}
    assert guarded.client.post("/access/v1/evaluation", json=evaluation, headers=headers).status_code == 404
    listed = guarded.client.get("/v1/snapshots", headers=headers).json()["snapshots"]
    assert [row["snapshot"] for row in listed] == [mine]
    for query in ({"account": "acme@example.com"}, {"account": "acme@example.com", "application": "shop"}):
        found = guarded.client.get("/v1/snapshots", params=query, headers=headers).json()
        assert found == {"snapshots": [], "next": None}


def test_a_tenants_pages_show_nothing_of_others(guarded, tokens):
    client_cookies = {"policyd_token": tokens["other"]}
    front = guarded.client.get("/", headers={"Cookie": f"policyd_token={client_cookies['policyd_token']}"})
    assert "other@example.com/shop/prod" in front.text
    assert "acme@example.com/shop" not in front.text
    cookie = {"Cookie": f"policyd_token={tokens['other']}"}
    assert guarded.client.get("/snapshots/1", headers=cookie).status_code == 404
    check = guarded.client.get("/check", params={"snapshot": "@1", "agent": "Cart", "target": TARGET}, headers=cookie)
    assert check.status_code == 404


def test_a_token_ends_with_its_expiry_and_its_revocation(guarded):
    past = guarded.token("past", "read", expires=Timestamp.parse("2026-06-02T00:00:00Z"))
    future = guarded.token("future", "read", expires=Timestamp.parse("2999-01-01T00:00:00Z"))
    assert guarded.client.get("/v1/rules", headers=_bearer(past)).status_code == 401
    assert guarded.client.get("/v1/rules", headers=_bearer(future)).status_code == 200
    revoke_token(guarded.database, "future", at=AT, by="test")
    assert guarded.client.get("/v1/rules", headers=_bearer(future)).status_code == 401


def test_a_token_is_shown_once_and_named_in_the_log(guarded, tokens):
    headers = _bearer(tokens["admin"])
    made = guarded.client.post("/v1/tokens", json={"name": "once", "scope": "read"}, headers=headers)
    secret = made.json()["token"]
    assert made.status_code == 201
    assert guarded.client.get("/v1/rules", headers=_bearer(secret)).status_code == 200
    listed = guarded.client.get("/v1/tokens", headers=headers).text
    log = guarded.client.get("/v1/audit-log", headers=headers)
    assert secret not in listed
    assert secret.rpartition("_")[2] not in log.text
    last = log.json()["entries"][-1]
    assert (last["action"], last["subject"]) == ("token.create", made.json()["id"])
    assert guarded.client.delete("/v1/tokens/once", headers=headers).json()["revokedAt"]
    assert guarded.client.get("/v1/rules", headers=_bearer(secret)).status_code == 401
    assert guarded.client.delete("/v1/tokens/once", headers=headers).status_code == 404


def test_imports_are_in_the_log_with_their_actor(guarded, tokens):
    text = EXAMPLES["/v1/imports/manifest"]
    answer = guarded.client.post("/v1/imports/manifest", json=text, headers=_bearer(tokens["write"]))
    assert answer.status_code == 201
    entries = guarded.client.get("/v1/audit-log", headers=_bearer(tokens["admin"])).json()["entries"]
    wrote = [entry for entry in entries if entry["action"] == "import"][-1]
    public_id = tokens["write"].split("_")[1]
    assert (wrote["actor"], wrote["subject"], wrote["account"]) == (
        public_id,
        answer.json()["snapshot"],
        "acme@example.com",
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
        {"Host": "127.0.0.1.evil.example"},
    ],
)
def test_without_tokens_only_this_machine_may_ask(shop, headers):
    """A page of another site cannot use the browser of someone who serves on loopback."""
    answer = shop.client.get("/v1/snapshots", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "STORE057")
    assert shop.client.get("/", headers=headers).status_code == 403


def test_a_form_of_our_own_page_has_no_origin(shop):
    """A page without referrer sends its forms with the origin `null`: ours are told from others by the browser."""
    form = {"snapshot": "", "agent": ""}
    ours = {"origin": "null", "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate"}
    assert shop.client.post("/explain", data=form, headers=ours).status_code == 200
    for site in ("cross-site", "same-site", "none"):
        other = shop.client.post("/explain", data=form, headers={**ours, "sec-fetch-site": site})
        assert other.status_code == 403, site
    assert shop.client.post("/explain", data=form, headers={"origin": "null"}).status_code == 403


def test_the_sign_in_page_keeps_a_good_token_in_a_strict_cookie(guarded, tokens):
    unknown = guarded.client.get("/check?snapshot=@1")
    assert (unknown.status_code, unknown.headers["location"]) == (303, "/sign-in?next=%2Fcheck%3Fsnapshot%3D%401")
    wrong = guarded.client.post("/sign-in", data={"token": "pd_x", "next": "/"})
    assert wrong.status_code == 401
    for target, place in (("/check", "/check"), ("//evil.example", "/"), ("https://evil.example", "/")):
        good = guarded.client.post("/sign-in", data={"token": tokens["read"], "next": target})
        assert (good.status_code, good.headers["location"]) == (303, place)
        cookie = good.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
    guarded.client.cookies.clear()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 303),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "http://evil.example", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": "null", "sec-fetch-site": "same-site"}, 403),
        ({"origin": "null", "sec-fetch-site": "same-origin"}, 303),
        ({"origin": "https://behind.a.proxy", "sec-fetch-site": "same-origin"}, 303),
    ],
)
def test_no_other_site_signs_a_browser_in(guarded, tokens, headers, status):
    answer = guarded.client.post("/sign-in", data={"token": tokens["read"], "next": "/"}, headers=headers)
    assert answer.status_code == status
    assert ("set-cookie" in answer.headers) is (status == 303)
    guarded.client.cookies.clear()


def test_metrics_of_all_accounts_are_not_for_the_token_of_one(guarded):
    for name, account, status in (("one-account", "acme@example.com", 403), ("all-accounts", "", 200)):
        token = guarded.token(name, "read", account)
        answer = guarded.client.get("/metrics", headers={"authorization": f"Bearer {token}"})
        assert answer.status_code == status, account
        assert ("policyd_" in answer.text) is (status == 200)
