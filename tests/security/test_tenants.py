"""A tenant reads, infers and changes nothing of another: every route, every text in it, made from the description."""

import contextlib

import pytest
from security_tenants import (
    ACCOUNTS,
    APPLICATIONS,
    INTERFACE,
    MISSING,
    PLACES,
    card_of,
    interface,
    manifest_of,
    pages,
    send,
    wallet_of,
    word_of,
)
from sqlalchemy import event

from policyd.findings import InputError
from policyd.store.session import Database
from policyd.store.snapshots import EVERYTHING, Scope
from policyd.usecases.recent import Recent
from policyd.usecases.snapshots import StoredSnapshots

HERE = "@acme@example.com/shop/prod"
PAIRS = (
    ("@8", "@9", "@5"),
    ("@acme@example.com/mart/prod", "@acme@example.com/none/prod", HERE),
    pytest.param("@6", "@9", "@5", marks=pytest.mark.acceptance),
    pytest.param("@brig@example.com/shop/prod", "@none@example.com/shop/prod", HERE, marks=pytest.mark.acceptance),
)
"""A foreign snapshot, one that does not exist, and the tenant's own."""

NAMED_ALIKE = ("GET /v1/reflect query.question",)
"""The questions of `reflect` are named `A8` and `A9`, and near names are told: nothing stored is asked."""

OWN = ("acme@example.com", "shop")


def plain(answer, reference):
    """An answer as bytes, apart from the reference it was asked about and what differs by itself."""
    headers = {
        name: value for name, value in answer.headers.items() if name not in ("date", "x-request-id", "content-length")
    }
    body = answer.text
    for form in (reference, reference.replace("@", "%40").replace("/", "%2F"), reference.replace("@", "/")):
        body = body.replace(form, "?")
        headers = {name: value.replace(form, "?") for name, value in headers.items()}
    return answer.status_code, headers, body


def everything(tenants):
    """Every place for a text, of the interface and of the pages."""
    document = tenants.running.client.get("/v1/openapi.json").json()
    asked = [a for a in interface(document) if (a.method, a.path) != ("POST", "/v1/tokens")]
    shown = [a for a in pages() if a.path not in ("/sign-in", "/sign-out")]
    assert len({a.path for a in shown}) > 15
    return [a for a in (*asked, *shown) if a.name not in NAMED_ALIKE]


@pytest.mark.parametrize(("foreign", "missing", "own"), PAIRS)
def test_a_foreign_snapshot_answers_as_one_that_does_not_exist(tenants, foreign, missing, own):
    """Put in every place for a text of every route, both give the same bytes; the tenant's own gives others."""
    told = set()
    for asked in everything(tenants):
        is_page = not asked.path.startswith(INTERFACE)
        headers = (tenants.cookie if is_page else tenants.bearer)("read", *OWN)
        theirs = plain(send(tenants, asked, foreign, headers), foreign)
        nobodys = plain(send(tenants, asked, missing, headers), missing)
        assert theirs == nobodys, asked.name
        assert theirs[0] < 500, asked.name
        if plain(send(tenants, asked, own, headers), own) != nobodys:
            told.add(asked.name)
    by_name = "/" in own
    assert {name for name in told if name.startswith("POST /v1/")} >= {
        "POST /v1/decisions body.snapshot",
        "POST /v1/decisions/batch body.snapshot",
        "POST /v1/differences body.new",
        "POST /v1/differences body.old",
        "POST /v1/explanations body.snapshot",
        "POST /v1/proofs body.other",
        "POST /v1/proofs body.snapshot",
        "POST /v1/reach body.snapshot",
        "POST /v1/retry/diff body.new.snapshot",
        "POST /v1/retry/diff body.old.snapshot",
        "POST /v1/retry/lint body.snapshot",
        "POST /v1/retry/saga body.snapshot",
        "POST /v1/synthesis body.snapshot",
        "POST /v1/unused body.snapshot",
        "POST /v1/what-can body.snapshot",
        "POST /v1/what-if body.snapshot",
        "POST /v1/who-can body.snapshot",
    }
    assert {"GET /check query.snapshot", "GET /diff query.old", "POST /explain form.snapshot"} <= told
    assert by_name or {"GET /v1/snapshots/{number} path.number", "GET /snapshots/{number} path.number"} <= told


FULL = pytest.mark.acceptance
VIEWS = [
    ("acme@example.com", "shop"),
    pytest.param("acme@example.com", "mart", marks=FULL),
    pytest.param("acme@example.com", "", marks=FULL),
    pytest.param("brig@example.com", "shop", marks=FULL),
    pytest.param("brig@example.com", "mart", marks=FULL),
    ("brig@example.com", ""),
]


@pytest.mark.parametrize(("account", "application"), VIEWS)
def test_no_answer_holds_a_word_of_another_tenant(tenants, account, application):
    """Every route and page, asked about every snapshot there is, shows words of the tenant's own documents only."""
    own = [p for p in PLACES if p.startswith(f"@{account}/{application}")]
    foreign = [word_of(place) for place in PLACES if place not in own]
    seen = ""
    for asked in everything(tenants):
        if not asked.where.endswith(("snapshot", "number", "place", "cursor", "account", "after")):
            continue
        is_page = not asked.path.startswith(INTERFACE)
        headers = (tenants.cookie if is_page else tenants.bearer)("read", account, application)
        for number in range(1, 9):
            answer = send(tenants, asked, f"@{number}", headers)
            words = [word for word in foreign if word in answer.text or word in str(answer.headers)]
            assert words == [], (asked.name, number)
            seen += answer.text
    assert all(word_of(place) in seen for place in own)


@pytest.mark.parametrize(
    ("foreign", "missing"), [("@8", "@9"), ("@acme@example.com/mart/prod", "@acme@example.com/none/prod")]
)
def test_both_take_the_same_steps(tenants, foreign, missing):
    """What is out of reach asks the database the same statements, also at first, so the time tells nothing."""
    statements = []
    database = Database.at(tenants.running.url)
    known = Recent(1000)

    @event.listens_for(database.engine, "before_cursor_execute")
    def _(connection, cursor, statement, *rest):
        statements.append(statement)

    def asked(reference, scope):
        statements.clear()
        with contextlib.suppress(InputError):
            StoredSnapshots(database, scope, known).resolve(reference)
        return tuple(statements)

    mine = Scope(*OWN)
    asked(missing, mine)  # the first connection is set up
    assert asked(foreign, mine) == asked(missing, mine) == asked(foreign, mine)
    first, second = asked("@5", mine), asked("@5", mine)
    assert len(second) < len(first)
    assert StoredSnapshots(database, EVERYTHING, known).resolve("@8").number == 8
    assert asked(foreign, mine) == asked(missing, mine)
    database.close()


def test_lists_count_what_is_the_tenants(tenants):
    """Lists, their cursors and the front page: as if there were nobody else."""
    for account in ACCOUNTS:
        for application in APPLICATIONS:
            headers = tenants.bearer("read", account, application)
            first = tenants.running.client.get("/v1/snapshots", params={"limit": 1}, headers=headers).json()
            rest = tenants.running.client.get(
                "/v1/snapshots", params={"limit": 1, "cursor": first["next"]}, headers=headers
            ).json()
            assert len(first["snapshots"]) == len(rest["snapshots"]) == 1
            end = tenants.running.client.get("/v1/snapshots", params={"cursor": rest["next"]}, headers=headers).json()
            assert end == {"snapshots": [], "next": None}
            assert {row["account"] for row in first["snapshots"] + rest["snapshots"]} == {account}
            front = tenants.running.client.get("/", headers=tenants.cookie("read", account, application)).text
            assert front.count("/prod") >= 1
            assert not any(place[1:] in front for place in PLACES if place != f"@{account}/{application}/prod")


def stored(tenants):
    """What is stored of everybody, as an administrator sees it."""
    headers = tenants.bearer("admin")
    paths = ["/v1/snapshots", "/v1/tokens", "/v1/audit-log", *(f"/v1/snapshots/{n}/decisions" for n in range(1, 9))]
    return [tenants.running.client.get(path, headers=headers).text for path in paths]


def changing(tenants, number, place, headers):
    """Attempts to write to a place by every route that writes."""
    client = tenants.running.client
    account, application, environment = place[1:].split("/")
    where = {"account": account, "application": application, "environment": environment}
    text = manifest_of(place).replace("read :", "* :")
    admin = tenants.bearer("admin")
    export = client.get(f"/v1/snapshots/{number}/export", headers=admin).content if number else wallet_of(place, 1)
    other = wallet_of(place, number or 1).replace(b"x.*", b"y.*")
    bare = b'{"cards": [' + other.partition(b'"cards": [')[2]
    yield client.post("/v1/imports/manifest", json={"documents": [{"name": "g", "text": text}]}, headers=headers)
    yield client.post(
        "/v1/imports/manifest",
        json={"documents": [{"name": "g", "text": text}], "account": account, "environment": "prod"},
        headers=headers,
    )
    yield client.post("/v1/imports/platform", content=export, headers=headers)
    yield client.post("/v1/imports/platform", content=other, headers=headers)
    yield client.post("/v1/imports/platform", content=bare, params=where, headers=headers)
    yield client.post("/v1/imports/platform", content=b"[" + other + b"]", headers=headers)


def test_nothing_of_another_is_changed(tenants):
    """Every route that writes, into a place of another tenant that exists and into one that does not."""
    before = stored(tenants)
    nowhere = {2: "@acme@example.com/none/prod", 3: "@none@example.com/shop/prod", 4: "@none@example.com/mart/prod"}
    for kind in ("read", "write"):
        headers = tenants.bearer(kind, *OWN)
        for number, place in enumerate(PLACES[1:], 2):
            theirs = [plain(a, place) for a in changing(tenants, number, place, headers)]
            nobodys = [plain(a, nowhere[number]) for a in changing(tenants, 0, nowhere[number], headers)]
            assert {status for status, _, _ in theirs} <= {403, 422}, place
            assert theirs == nobodys
        for number in (6, 7, 8):
            body = {"snapshot": f"@{number}", "agent": "Cart", "target": "kv(?env) : read : x.1", "log": True}
            assert tenants.running.client.post("/v1/decisions", json=body, headers=headers).status_code == 404
    for kind, account, application in tenants.tokens:
        if kind != "admin":
            headers = tenants.bearer(kind, account, application)
            known, unknown = (
                tenants.running.client.delete(f"/v1/tokens/{name}", headers=headers)
                for name in ("read-all", "read-not")
            )
            assert plain(known, "read-all") == plain(unknown, "read-not")
            made = {"name": "mine", "scope": "admin"}
            assert known.status_code == 403
            assert tenants.running.client.post("/v1/tokens", json=made, headers=headers).status_code == 403
            assert tenants.running.client.get("/v1/audit-log", headers=headers).status_code == 403
    assert stored(tenants) == before


def test_a_reading_token_logs_nothing(tenants):
    before = stored(tenants)
    body = {"snapshot": "@5", "agent": "Cart", "target": "kv(?env) : read : x.1", "log": True}
    assert (
        tenants.running.client.post("/v1/decisions", json=body, headers=tenants.bearer("read", *OWN)).status_code == 403
    )
    batch = {"snapshot": "@5", "log": True, "questions": [{"agent": "Cart", "target": "kv(?env) : read : x.1"}]}
    answer = tenants.running.client.post("/v1/decisions/batch", json=batch, headers=tenants.bearer("read", *OWN))
    assert answer.status_code == 403
    assert stored(tenants) == before


def test_cards_with_the_same_id_do_not_meet(tenants):
    """Another tenant's card of the same id is not seen: neither its family nor a contradiction to it."""
    headers = tenants.bearer("read", *OWN)
    for number in (2, 3, 4):
        paths = (f"/v1/snapshots/5/cards/{card_of(number)}", f"/v1/snapshots/5/cards/{card_of(9)}")
        theirs, nobodys = (tenants.running.client.get(path, headers=headers) for path in paths)
        assert plain(theirs, card_of(number)) == plain(nobodys, card_of(9))
        assert theirs.status_code == 404


def test_counts_of_all_accounts_are_not_for_one(tenants):
    for account in ACCOUNTS:
        answer = tenants.running.client.get("/metrics", headers=tenants.bearer("write", account))
        assert answer.status_code == 403
        assert MISSING not in answer.text
    assert tenants.running.client.get("/metrics", headers=tenants.bearer("read")).status_code == 200
