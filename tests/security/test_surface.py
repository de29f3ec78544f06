"""What a browser, a proxy or a hostile client can do with the service; hostile names in what is shown elsewhere."""

import json
import socket
from html.parser import HTMLParser

import httpx
import pytest
from lsprotocol.types import Position
from security_tenants import pages
from service_serving import MANIFEST, served

from policyd.cli.main import run
from policyd.lsp.session import Session


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A service that asks for tokens."""
    with served(tmp_path_factory.mktemp("surface"), require_tokens=True) as service:
        service.add_manifest("", "prod")
        yield service


def raw(running, data):
    """What the server answers to these bytes, until it closes or is silent."""
    host, port = running.base.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=3) as connection:
        connection.sendall(data)
        answer = b""
        try:
            while part := connection.recv(65_536):
                answer += part
        except TimeoutError:
            pass
        return answer


SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: 0\r\nTransfer-Encoding: chunked\r\n",
        b"Content-Length: 4\r\nContent-Length: 0\r\n",
        b"Transfer-Encoding: chunked, identity\r\n",
        b"Transfer-Encoding: xchunked\r\n",
        b"Content-Length: +0\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Length : 0\r\n",
    ],
)
def test_ambiguous_lengths_smuggle_no_second_request(running, head):
    """A request whose length can be read in two ways is refused, and what follows it is not answered."""
    answer = raw(running, b"POST /v1/decisions HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n" + b"0\r\n\r\n" + SMUGGLED)
    assert b'{"status":"ok"}' not in answer or answer.count(b"HTTP/1.1 ") == 1
    assert answer.count(b"HTTP/1.1 200") == 0


def test_no_other_site_is_let_in(running):
    """No CORS header for anybody, whatever origin asks; preflights are refused."""
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method, path in (("OPTIONS", "/v1/decisions"), ("GET", "/v1/openapi.json"), ("GET", "/"), ("POST", "/sign-in")):
        answer = running.client.request(method, path, headers=headers)
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert running.client.options("/v1/decisions", headers=headers).status_code in (403, 405)


def test_a_cookie_opens_pages_only_and_no_other_site_can_send_it(running):
    """Strict, unreadable for scripts, no credential of the interface; foreign forms sign nobody in or out."""
    token = running.token("cookie", "admin")
    answer = running.client.post("/sign-in", data={"token": token, "next": "//evil.example"})
    kept = answer.headers["set-cookie"].lower()
    assert answer.headers["location"] == "/"
    assert "httponly" in kept
    assert "samesite=strict" in kept
    cookie = {"Cookie": f"policyd_token={token}"}
    running.client.cookies.clear()
    assert running.client.get("/", headers=cookie).status_code == 200
    assert running.client.get("/v1/snapshots", headers=cookie).status_code == 401
    assert running.client.post("/v1/tokens", json={"name": "x", "scope": "admin"}, headers=cookie).status_code == 401
    for path in ("/sign-in", "/sign-out"):
        for foreign in ({"Origin": "https://evil.example"}, {"Origin": "null", "Sec-Fetch-Site": "cross-site"}):
            refused = running.client.post(path, data={"token": token}, headers={**foreign, **cookie})
            assert refused.status_code == 403
            assert "set-cookie" not in refused.headers
    own = running.client.post("/sign-out", headers={"Sec-Fetch-Site": "same-origin", "Origin": "null"})
    assert own.status_code == 303
    running.client.cookies.clear()


def test_a_host_header_is_not_believed(running):
    """No address that a foreign host name could put into a page or a redirect."""
    for path in ("/", "/sign-in", "/check?snapshot=@1"):
        answer = running.client.get(path, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
        assert "evil.example" not in answer.text + str(answer.headers)


def test_every_page_and_problem_has_the_strict_headers(running):
    cookie = {"Cookie": f"policyd_token={running.token('look', 'read')}"}
    for path in {asked.path for asked in pages() if asked.method == "GET" and "{" not in asked.path}:
        answer = running.client.get(path, headers={**cookie, "Accept": "text/html"})
        assert answer.headers["content-security-policy"].startswith("default-src 'none'"), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"snapshot": "@1", "agent": "Cart", "target": "' + b"a" * 1_000_000 + b'"}',
        b'{"snapshot": "@' + b"9" * 5_000 + b'", "agent": "Cart", "target": "x"}',
        b'{"snapshot": 1e999999, "agent": NaN, "target": -0}',
        b'{"snapshot": "@1", "agent": "\\ud800", "target": "\\u0000"}',
        b"\xff\xfe" + b"\x00" * 1000,
    ],
    ids=["lists", "objects", "long", "digits", "numbers", "surrogates", "bytes"],
)
@pytest.mark.parametrize("path", ["/v1/decisions", "/v1/unused", "/v1/imports/platform", "/v1/chains/check"])
def test_bombs_are_refused_quickly(running, path, body):
    """Deep, long and strange bodies: 4xx with a code, never a defect."""
    headers = {"Authorization": f"Bearer {bearer(running)}", "Content-Type": "application/json"}
    answer = running.client.post(path, content=body, headers=headers, timeout=20)
    assert 400 <= answer.status_code < 500, answer.text[:300]
    assert answer.json()["code"]


def bearer(running, kept={}):  # noqa: B006  # one token for all
    """A token that may write."""
    if running.base not in kept:
        kept[running.base] = running.token("bombs", "write")
    return kept[running.base]


NAMES = {
    "Script": "<script>alert(1)</script>",
    "Image": '"><img src=x onerror=alert(1)>',
    "Link": "[x](javascript:alert(1)) ![y](http://evil.example/p.png)",
    "Row": "a | b\\n| c | d",
    "Fence": "```\\n<b>",
    "Escape": "\\e[31mred\\x1b]0;title\\a",
}


def hostile_manifest():
    """Names and keys that are code in HTML, Markdown or a terminal."""
    variables = "\n".join(f'      "{text}": "1"' for text in NAMES.values() if '"' not in text)
    grants = "\n".join(f"          - 'kv(?env) @ ?agent : read : {text}'" for text in NAMES.values() if "'" not in text)
    return (
        "manifestVersion: 1.6.0\napp: shop\nenvironments:\n  prod: {server: cloud, account: a@example.com}\n"
        "components:\n  'shop:<b>cart': {dir: c, templates: rust}\nagents:\n  Cart:\n"
        f"    env:\n{variables}\n    initialCard:\n      lowerBound:\n        positive:\n{grants}\n"
        "          - 'kv(?env) @ ?agent : read : <u>.*'\n"
    )


class Outline(HTMLParser):
    """What of a page is an element, and which attributes run code."""

    def __init__(self):
        super().__init__()
        self.bad = []

    def handle_starttag(self, tag, attributes):
        """Note what could run."""
        self.bad += [tag] if tag in ("script", "img", "iframe", "object", "b", "u") else []
        self.bad += [n for n, v in attributes if n.startswith("on") or (v or "").lower().startswith("javascript:")]


FORMS = [
    ["report", "golem.yaml", "--env", "prod"],
    ["report", "golem.yaml", "--env", "prod", "--format", "markdown"],
    ["fleet", "audit", "golem.yaml", "--no-keep", "--workers", "1", "--format", "markdown"],
    ["fleet", "audit", "golem.yaml", "--no-keep", "--workers", "1"],
    [
        "unused",
        "golem.yaml",
        "--env",
        "prod",
        "--log",
        "log.jsonl",
        "--at",
        "2026-12-01T00:00:00Z",
        "--format",
        "markdown",
    ],
    ["audit", "golem.yaml"],
    ["show", "golem.yaml", "--env", "prod", "--agent", "Cart"],
]


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_hostile_names_are_text_in_every_form(tmp_path, monkeypatch, capsys, form):
    """Reports, tables and terminals show such names; none becomes an element, a row, a link or an escape sequence."""
    folder = tmp_path / "x|<b>y"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "golem.yaml").write_text(hostile_manifest(), encoding="utf-8")
    lines = [
        {
            "time": "2026-11-20T10:00:00Z",
            "agent": f'Cart("{text}")',
            "target": f"kv(?env) : read : {text}",
            "outcome": "admitted",
        }
        for text in NAMES.values()
    ]
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    run(form)
    told = capsys.readouterr()
    assert "Traceback" not in told.out + told.err
    assert not [sign for sign in told.out + told.err if ord(sign) < 32 and sign not in "\n\t"]
    if form[0] == "report" and "markdown" not in form:
        outline = Outline()
        outline.feed(told.out)
        assert outline.bad == []
    if "markdown" in form:
        from markdown_it import MarkdownIt

        page = MarkdownIt("commonmark", {"html": True}).enable("table").render(told.out)
        outline = Outline()
        outline.feed(page)
        assert outline.bad == []


def test_hovers_of_hostile_grants_are_text(tmp_path):
    """An editor renders hovers as Markdown: nothing of a document is markup there."""
    from markdown_it import MarkdownIt

    path = tmp_path / "golem.yaml"
    text = hostile_manifest()
    path.write_text(text, encoding="utf-8")
    session = Session(lambda *_: None)
    seen = 0
    for line, content in enumerate(text.splitlines()):
        told = session.hover(path, Position(line, len(content) // 2))
        seen += bool(told)
        outline = Outline()
        outline.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(told))
        assert outline.bad == [], content
    assert seen > 0


def test_nothing_is_read_or_written_outside(tmp_path, monkeypatch, capsys):
    """Fixtures of policy tests and includes stay below their folder; what is refused is not quoted."""
    outside = tmp_path / "outside"
    inside = tmp_path / "work" / "policies"
    outside.mkdir()
    inside.mkdir(parents=True)
    (outside / "wallet.json").write_text('{"holder": "canary@example.com", "cards": []}', encoding="utf-8")
    (outside / "golem.yaml").write_text(MANIFEST, encoding="utf-8")
    (inside / "golem.yaml").write_text(MANIFEST, encoding="utf-8")
    (inside / "link.yaml").symlink_to(outside / "golem.yaml")
    monkeypatch.chdir(inside)
    for manifest, given in (
        ("golem.yaml", "{wallet: ../../outside/wallet.json}"),
        ("golem.yaml", f"{{wallet: {outside}/wallet.json}}"),
        ("../../outside/golem.yaml", "{}"),
        ("link.yaml", "{}"),
    ):
        head = f"manifest: {manifest}\nenvs: [prod]\ngiven: {given}\n"
        body = head + "tests:\n  - {name: a, agents: [Cart], deny: ['kv(?env) : read : x.y']}\n"
        (inside / "a.test.yaml").write_text(body, encoding="utf-8")
        assert run(["test", "a.test.yaml"]) == 2, (manifest, given)
        told = capsys.readouterr()
        assert "canary" not in told.out + told.err


def test_documents_sent_to_the_service_read_no_file(running):
    """`includes` of a manifest that is sent name nothing on the server."""
    text = MANIFEST + "includes: ['/etc/*', '../*', '*']\n"
    headers = {"Authorization": f"Bearer {bearer(running)}"}
    for path, body in (
        ("/v1/audits", {"documents": [{"name": "../../etc/passwd", "text": text}]}),
        ("/v1/imports/manifest", {"documents": [{"name": "/etc/golem.yaml", "text": text}], "environment": "prod"}),
    ):
        answer = httpx.post(running.base + path, json=body, headers=headers, timeout=30)
        assert "root:" not in answer.text
        assert answer.status_code in (200, 201, 422)
