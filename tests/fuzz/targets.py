"""What is fuzzed: every reader of text from outside, and the HTTP surface.

A target takes bytes and may raise `PolicydError` only; where a law holds for what could be read, the target asserts it.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import shutil
import tempfile
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import httpx

from policyd.core.edition import NEXT, SNAPSHOT, Rules
from policyd.core.operations.sql import Engine
from policyd.core.schema.json_faults import NEWEST_FORM
from policyd.core.schema.outcomes import Validity
from policyd.core.tools.profile import Profile
from policyd.findings import PolicydError
from policyd.manifest import load_text
from policyd.manifest.layout import canonical_layout
from policyd.policytests import test_file_of_json
from policyd.syntax import Form, parse_grants, parse_target
from policyd.syntax.denials import recognise
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.queries import parse_query
from policyd.syntax.sql import SqlTables
from policyd.syntax.type_text import parse_type
from policyd.syntax.wallets import read_cards, read_wallet
from policyd.usecases.audit_manifest import audit_manifest
from policyd.usecases.chain_check import check_chains
from policyd.usecases.chain_sources import sent_sources
from policyd.usecases.outcome import follow_sent
from policyd.usecases.retry_documents import read_document
from policyd.usecases.retry_sources import policy_of
from policyd.usecases.schema_compare import Relation, compare_schemas, well_formed
from policyd.usecases.tool_diff import diff_tools
from policyd.usecases.tool_documents import document_of, schema_of, tools_of
from policyd.usecases.value_check import check_value

STEPS = 200_000
"""Effort of one question: a fuzzer is after what breaks, not after what is slow."""

SHOP = Path(__file__).parents[2] / "examples" / "shop" / "golem.yaml"

Target = Callable[[bytes], None]
EDITIONS: tuple[Rules, ...] = (NEXT, SNAPSHOT)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def grants(data: bytes) -> None:
    """Grants and targets: what is read is written in a form that reads as the same."""
    text = _text(data)
    for rules in EDITIONS:
        for form in Form:
            try:
                found = parse_grants(text, form, rules)
            except PolicydError:
                continue
            if len(found) == 1:
                assert parse_grants(found[0].text, form, rules) == found
        for slots in (False, True):
            try:
                target = parse_target(text, rules, slots=slots)
            except PolicydError:
                continue
            assert parse_target(target.text, rules, slots=slots) == target


def queries(data: bytes) -> None:
    """Queries over all calls."""
    for rules in EDITIONS:
        try:
            parse_query(_text(data), rules)
        except PolicydError:
            continue


def manifests(data: bytes) -> None:
    """A manifest, read from bytes, audited and laid out: a second layout changes nothing."""
    for rules in EDITIONS:
        loaded = load_text(data, rules=rules)
        audit_manifest(loaded, rules=rules)
        document = loaded.documents[0]
        if document.root is not None and document.is_read:
            once = canonical_layout(document, rules).text
            again = load_text(once, rules=rules).documents[0]
            assert canonical_layout(again, rules).text == once


def cards(data: bytes) -> None:
    """Cards and wallets as JSON."""
    value = _json(data)
    for read in (read_cards, read_wallet):
        try:
            read(value, NEXT)
        except PolicydError:
            continue


def retries(data: bytes) -> None:
    """Retry policies as JSON and as YAML."""
    for is_json in (True, False):
        try:
            read_document(_text(data), "policy", policy_of, is_json=is_json)
        except PolicydError:
            continue


def chains(data: bytes) -> None:
    """Documents of chains, decided."""
    try:
        check_chains(sent_sources([("chain.yaml", _text(data))], [], NEXT, Profile()), steps=STEPS, budget=STEPS)
    except PolicydError:
        return


def schemas(data: bytes) -> None:
    """Schemas: what is well-formed projects onto itself."""
    try:
        graph = well_formed(schema_of(document_of("schema.json", _text(data)).value, "schema"), "schema", STEPS)
        for relation in Relation:
            compare_schemas(graph, graph, relation, STEPS)
    except PolicydError:
        return


def notations(data: bytes) -> None:
    """Types as people write them."""
    try:
        parse_type(_text(data))
    except PolicydError:
        return


def tools(data: bytes) -> None:
    """Metadata of tools, compared with themselves."""
    try:
        value = document_of("tool.json", _text(data)).value
        old, new = tools_of(value, value)
        diff_tools(old, new, Profile(), STEPS)
    except PolicydError:
        return


def values(data: bytes) -> None:
    """A schema and a value, one line each: a canonical value that is valid stays so."""
    first, _, second = _text(data).partition("\n")
    try:
        graph = well_formed(schema_of(document_of("schema.json", first).value, "schema"), "schema", STEPS)
        answer = check_value(second, graph, NEWEST_FORM, steps=STEPS)
        if answer.verdict is Validity.VALID and answer.has_canonical:
            again = check_value(json.dumps(answer.canonical), graph, NEWEST_FORM, steps=STEPS)
            assert again.verdict is Validity.VALID
    except PolicydError:
        return


def denials(data: bytes) -> None:
    """Pasted errors."""
    recognise(_text(data))


def statements(data: bytes) -> None:
    """SQL for every engine."""
    for engine in Engine:
        SqlTables().tables(engine, _text(data))


def addresses(data: bytes) -> None:
    """URLs."""
    reader = OutboundUrls()
    reader.outbound(_text(data), {"http": 80, "https": 443})
    reader.path_of(_text(data))


def policy_tests(data: bytes) -> None:
    """Files of policy tests."""
    try:
        document = document_of("policy.test.yaml", _text(data))
        document.surfaced("MANIF091", lambda: test_file_of_json(document.value))
    except PolicydError:
        return


def outcomes(data: bytes) -> None:
    """Declared sequences of a call."""
    try:
        follow_sent(_json(data))
    except PolicydError:
        return


def http(data: bytes) -> None:
    """One request: the first line is method and address, the rest the body; whatever it is, it is no defect of ours."""
    head, _, body = data.partition(b"\n")
    method, _, address = _text(head).partition(" ")
    if method not in ("GET", "POST", "DELETE", "PUT") or not address.startswith("/") or address.startswith("//"):
        return
    try:
        request = httpx.Request(
            method, f"http://localhost{address}", content=body, headers={"content-type": "application/json"}
        )
    except (httpx.InvalidURL, UnicodeError):
        return
    loop, client = _client()
    answer = asyncio.run_coroutine_threadsafe(client.send(request), loop).result()
    assert answer.status_code < 500, answer.text


@cache
def _client() -> tuple[asyncio.AbstractEventLoop, httpx.AsyncClient]:
    """The service over a database with one deployment, started once."""
    from policyd.core.cards import Timestamp
    from policyd.service.app import create_app
    from policyd.settings import Settings
    from policyd.store import migrate
    from policyd.store.session import Database
    from policyd.usecases.deployments import Selection
    from policyd.usecases.import_deployment import Writer, import_manifest

    folder = tempfile.mkdtemp(prefix="policyd-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    url = f"sqlite:///{folder}/policyd.db"
    database = Database.at(url)
    migrate.upgrade(database)
    by = Writer("fuzz", Timestamp.parse("2026-06-01T00:00:00Z"))
    import_manifest(database, load_text(SHOP.read_bytes(), "golem.yaml"), Selection("prod"), NEXT, by)
    database.close()
    app = create_app(Settings(database_url=url, require_tokens=False))
    # a thread of its own: a browser of other tests may keep a loop running in this one
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(app.router.lifespan_context(app).__aenter__(), loop).result()
    return loop, httpx.AsyncClient(transport=httpx.ASGITransport(app))


TARGETS: dict[str, Target] = {
    "grants": grants,
    "queries": queries,
    "manifests": manifests,
    "cards": cards,
    "retries": retries,
    "chains": chains,
    "schemas": schemas,
    "notations": notations,
    "tools": tools,
    "values": values,
    "denials": denials,
    "statements": statements,
    "addresses": addresses,
    "policy-tests": policy_tests,
    "outcomes": outcomes,
    "http": http,
}
