"""Values never come out: not of an answer, an error, a log, a report, an export, a dump or the bytes of a database.

Every place that may hold a value holds a canary; every verb, page and route is asked about it, also where the
document around it is broken. What retry predicates compare with is a fact of the policy, and no value here.
"""

import io
import json

import httpx
import pytest
from lsprotocol.types import Position
from service_serving import AT, listening

from policyd.cli.main import run
from policyd.lsp.session import Session
from policyd.service import logs
from policyd.service.app import create_app
from policyd.settings import Settings

CANARY = "canary"
MANIFEST = """\
manifestVersion: 1.6.0
app: shop
environments:
  prod: {server: cloud, account: acme@example.com}
components:
  "shop:cart":
    dir: cart
    templates: rust
    env: {TOKEN: canary01, DATABASE_URL: "postgres://u:canary02@db.example.com/x?password=canary03#canary04"}
    config: {deep: {list: [canary05, {inner: canary06}]}}
    plugins: [{name: log, version: "1", parameters: {key: canary07}}]
agents:
  Cart:
    env: {AGENT_TOKEN: canary08} # canary09
    config: {secret: "canary10"}
    plugins: [{name: trace, version: "1", parameters: {apiKey: canary11}}]
    initialCard:
      lowerBound:
        positive:
          - "kv(?env) @ ?agent : read : orders.*"
          - "secret(?env) @ ?agent : reveal : stripe.key"
          - "network() @ ?agent : connect : api.stripe.com:443"
          - "rdbms(?env) @ ?agent : query : shop.public.*"
        negative:
          - "kv(?env) @ ?agent : delete : never.*"
secretDefaults:
  prod:
    stripe: {key: canary12}
    list: [canary13, {deep: "canary14"}]
tools:
  inventory: {component: "shop:cart", env: {X: canary15}, config: {y: canary16}}
  middleware:
    audit: {component: "shop:cart", env: {M: canary17}}
retryPolicyDefaults:
  prod:
    calls:
      priority: 1
      predicate: {propEq: {property: noun-uri, value: "https://api.example.com/"}}
      policy: {countBox: {maxRetries: 3, inner: {periodic: 1s}}}
"""
BROKEN = {
    "whole": MANIFEST,
    "bad grant": MANIFEST.replace("read : orders.*", "raed : orders.*"),
    "unknown key": MANIFEST.replace("    dir: cart", "    dir: cart\n    tokn: canary30"),
    "wrong type": MANIFEST.replace("env: {TOKEN: canary01,", "env: [canary31, {TOKEN: canary01}]\n    x: {"),
    "not yaml": MANIFEST.replace("agents:", "agents: [canary32"),
    "open quote": MANIFEST.replace('"canary10"}', '"canary10}'),
    "tab": MANIFEST.replace("  prod:\n    stripe", "\tprod:\n    stripe"),
    "twice": MANIFEST.replace("TOKEN: canary01,", "TOKEN: canary01, TOKEN: canary33,"),
    "alias": MANIFEST.replace("TOKEN: canary01", "TOKEN: *canary34"),
    "tag": MANIFEST.replace("TOKEN: canary01", "TOKEN: !canary35 canary01"),
    "control": MANIFEST.replace("canary01", "canary01\x07"),
    "scalar": MANIFEST.replace("    env: {AGENT_TOKEN: canary08} # canary09", "    env: canary36"),
    "old version": MANIFEST.replace("1.6.0", "1.0.0"),
}
"""The manifest, and what goes wrong while writing it."""

ERROR = """\
2026-11-20T10:00:00Z ERROR Authorization: Bearer canary20
Permission denied: holder acme@example.com/shop/prod/shop:cart/Cart may not `connect`
url=https://user:canary21@api.stripe.com:8443/v1?token=canary22 password=canary23
query: SELECT * FROM public.users WHERE password = 'canary24'
PermissionDenied { class: "network", verb: "connect", resource: "api.stripe.com:8443" }
"""
SQL = "SELECT name FROM secrets WHERE token = 'canary25' AND name IN ('canary18', 'canary19')"
BARE = "user:canary44@api.stripe.com/?key=canary47"
URL = "https://user:canary26@api.stripe.com/x?key=canary27#canary28"
LOG = "\n".join(
    json.dumps({"time": "2026-11-20T10:00:00Z", "agent": "Cart", "outcome": "admitted", **line})
    for line in (
        {"operation": "http.send", "arguments": {"url": URL}},
        {"operation": "rdbms.query", "arguments": {"sql": SQL}},
        {"operation": "rdbms.query", "arguments": {"sql": "SELEC 'canary29"}},
        {"operation": "http.send", "arguments": {"url": "ht!tp:canary37"}},
        {"operation": "http.send", "arguments": {"nonsense": "canary38"}},
        {"target": "kv(?env) : read : orders.1", "token": "canary39"},
    )
)
TESTS = f"""\
manifest: golem.yaml
envs: [prod]
tests:
  - name: operations
    agents: [Cart]
    operations:
      - {{op: http.send, args: {{url: "{URL}"}}, expect: {{admitted: "no"}}}}
      - {{op: rdbms.query, args: {{sql: "{SQL}"}}, expect: {{admitted: "no"}}}}
    deny: ["kv(?env) : read : orders.1"]
"""
RETRY = json.dumps(
    {
        "name": "r",
        "priority": 1,
        "predicate": {"propEq": {"property": "noun-uri", "value": "https://api.example.com/"}},
        "policy": "never",
        "headers": {"authorization": "canary40"},
    }
)

TARGET = "network() : connect : api.stripe.com:8443"
BASE = ["golem.yaml", "--env", "prod"]
VERBS = [
    ["audit", *BASE],
    ["audit", *BASE, "--format", "json"],
    ["audit", *BASE, "--format", "sarif"],
    ["show", *BASE, "--agent", "Cart"],
    ["show", *BASE, "--agent", "Cart", "--format", "json"],
    ["check", *BASE, "--agent", "Cart", TARGET],
    ["check", *BASE, "--agent", "Cart", "--op", "http.send", "--arg", f"url={URL}"],
    ["check", *BASE, "--agent", "Cart", "--op", "rdbms.query", "--arg", f"sql={SQL}"],
    ["explain", *BASE, "--agent", "Cart", TARGET],
    ["explain", *BASE, "--agent", "Cart", "--op", "http.send", "--arg", f"url={URL}"],
    [
        "explain",
        *BASE,
        "--agent",
        "Cart",
        "--op",
        "http.send",
        "--arg",
        f"url={BARE}",
    ],
    ["check", *BASE, "--agent", "Cart", "--op", "http.send", "--arg", f"url={BARE}"],
    ["explain", *BASE, "--agent", "Cart", "--op", "rdbms.query", "--arg", f"sql={SQL}"],
    ["explain", *BASE, "--agent", "Cart", "--error", ERROR],
    ["explain", *BASE, "--agent", "Cart", "--error", ERROR, "--format", "json"],
    ["fmt", "golem.yaml", "--check"],
    ["reach", *BASE, "--to", TARGET],
    ["report", *BASE],
    ["report", *BASE, "--format", "json"],
    ["report", *BASE, "--format", "markdown"],
    ["unused", *BASE, "--log", "log.jsonl", "--at", "2026-12-01T00:00:00Z"],
    ["unused", *BASE, "--log", "log.jsonl", "--at", "2026-12-01T00:00:00Z", "--format", "json"],
    ["unused", *BASE, "--log", "log.jsonl", "--at", "2026-12-01T00:00:00Z", "--format", "markdown"],
    ["test", "a.test.yaml"],
    ["test", "a.test.yaml", "--format", "json"],
    ["test", "a.test.yaml", "--format", "junit", "--coverage"],
    ["init", *BASE, "--dry-run"],
    ["retry", "lint", *BASE],
    ["retry", "limits", *BASE],
    ["saga", *BASE, "--agent", "Cart"],
    ["chain", "check", *BASE],
    ["prove", *BASE, "--never", "secret(any) : any : any"],
    ["what-if", *BASE, "--agent", "Cart", "--remove", "golem.yaml:25"],
    ["fleet", "audit", "golem.yaml", "--no-keep"],
    ["fleet", "audit", "golem.yaml", "--format", "json"],
    ["import", *BASE],
    ["import", "retry.json", "--account", "acme@example.com", "--application", "shop", "--env", "prod"],
    ["export", "@1"],
    ["report", "@1"],
    ["db", "dump"],
]
CHEAP = {"audit", "show", "explain", "fmt", "check", "retry", "import", "init", "fleet", "test"}


def canaries(text):
    """The canaries in a text."""
    return sorted({text[at : at + 8] for at in range(len(text)) if text.startswith(CANARY, at)})


def folder(tmp_path, monkeypatch, text):
    """A folder with everything in it, and a migrated database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICYD_DATABASE_URL", f"sqlite:///{tmp_path}/policyd.db")
    for name, content in (("golem.yaml", text), ("log.jsonl", LOG), ("a.test.yaml", TESTS), ("retry.json", RETRY)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert run(["db", "upgrade"]) == 0


def written(tmp_path):
    """What policyd wrote: everything that we did not."""
    ours = {"golem.yaml", "log.jsonl", "a.test.yaml", "retry.json"}
    files = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ours]
    return {path.name: path.read_bytes().decode("latin-1") for path in files}


FORMS = [
    name if name in ("whole", "not yaml", "twice") else pytest.param(name, marks=pytest.mark.acceptance)
    for name in BROKEN
]


@pytest.mark.parametrize("broken", FORMS)
def test_no_verb_shows_a_value(tmp_path, monkeypatch, capsys, broken):
    """Every verb over the whole manifest, and the quick ones over each broken one; then the bytes of the database."""
    folder(tmp_path, monkeypatch, BROKEN[broken])
    seen = set()
    for arguments in VERBS:
        if broken != "whole" and arguments[0] not in CHEAP:
            continue
        code = run(arguments)
        told = capsys.readouterr()
        assert canaries(told.out + told.err) == [], arguments
        assert "Traceback" not in told.out + told.err
        seen.add((code, arguments[0]))
    if broken == "whole":
        wrong = {verb for code, verb in seen if code == 2} - {"chain", "retry"}
        assert wrong == set()
        assert run(["init", *BASE]) == 0
        capsys.readouterr()
    for name, content in written(tmp_path).items():
        assert canaries(content) == [], name


def test_no_route_and_no_log_of_the_service_shows_a_value(tmp_path, monkeypatch):
    """The same over HTTP: answers, problems, the decision log, the log lines, metrics and the database."""
    folder(tmp_path, monkeypatch, MANIFEST)
    stream = io.StringIO()
    settings = Settings(database_url=f"sqlite:///{tmp_path}/policyd.db", require_tokens=False)
    told = ""
    place = {"snapshot": "@1", "agent": "Cart"}
    with (
        listening(create_app(settings, logs.json_lines(stream))) as base,
        httpx.Client(base_url=base, timeout=60) as client,
    ):
        for text in BROKEN.values():
            documents = [{"name": "golem.yaml", "text": text}]
            for path, body in (
                ("/v1/audits", {"documents": documents}),
                ("/v1/imports/manifest", {"documents": documents, "environment": "prod"}),
                ("/v1/retry/lint", {"documents": documents, "environment": "prod"}),
                ("/v1/explanations", {"documents": documents, "agent": "Cart", "target": TARGET}),
            ):
                told += client.post(path, json=body, timeout=60).text
        for path, body in (
            ("/v1/explanations", {**place, "error": ERROR}),
            ("/v1/explanations", {**place, "operation": "http.send", "arguments": {"url": URL}}),
            ("/v1/decisions", {**place, "operation": "http.send", "arguments": {"url": URL}, "log": True}),
            ("/v1/decisions", {**place, "operation": "rdbms.query", "arguments": {"sql": SQL}}),
            ("/v1/unused", {"snapshot": "@1", "log": LOG, "window": "30d", "at": "2026-12-01T00:00:00Z"}),
            ("/v1/imports/platform", {**json.loads(RETRY), "secretValue": "canary41"}),
            ("/v1/decisions", {**place, "target": 5, "token": {"x": ["canary43"]}}),
        ):
            told += client.post(path, json=body, timeout=60).text
        told += client.post("/explain", data={**place, "error": ERROR}, timeout=60).text
        for path in (
            "/v1/snapshots/1/export",
            "/v1/snapshots/1/decisions",
            "/v1/audit-log",
            "/metrics",
            "/",
            "/snapshots/1",
        ):
            told += client.get(path, headers={"x-token": "canary45", "cookie": "a=canary46"}).text
        told += client.get("/v1/nowhere/canary47?x=canary48").text
        assert '"admitted"' in told
    assert canaries(told) == []
    assert '"route"' in stream.getvalue()
    assert canaries(stream.getvalue()) == []
    for name, content in written(tmp_path).items():
        assert canaries(content) == [], name


@pytest.mark.parametrize("broken", BROKEN)
def test_an_editor_is_told_no_value(tmp_path, broken):
    """Diagnostics, hovers and completions at every line of the manifest."""
    path = tmp_path / "golem.yaml"
    path.write_text(BROKEN[broken], encoding="utf-8")
    (tmp_path / "a.test.yaml").write_text(TESTS, encoding="utf-8")
    session = Session(lambda *_: None)
    told = [str(session.quick(path)), str(session.full(path, AT))]
    for line, text in enumerate(BROKEN[broken].splitlines()):
        for column in range(0, len(text), 9):
            told += [session.hover(path, Position(line, column)), str(session.completion(path, Position(line, column)))]
    assert canaries("".join(told)) == []
