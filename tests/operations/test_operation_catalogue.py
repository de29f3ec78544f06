"""The catalogue: complete, consistent with the classes, and refused where a file does not hold together."""

from __future__ import annotations

from pathlib import Path

import pytest
from ruamel.yaml import YAML

from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants.classes import SNAPSHOT_CLASSES
from policyd.core.operations import Combine, RecordClass, Side
from policyd.core.operations.parameters import ParameterKind
from policyd.core.operations.readers import _READERS
from policyd.core.operations.targets import _resource
from policyd.syntax import parse_resource
from policyd.syntax.operations import catalogue, load_catalogue
from policyd.syntax.operations.loader import FILES, CatalogueError

ROWS: dict[str, list[str]] = YAML(typ="safe").load(Path(__file__).parent.parent / "cases" / "operations" / "rows.yaml")
ALL = catalogue().operations

INERT = {
    ("secret", "mint"),
    ("system", "view-default-plan"),
    ("plan", "create"),
    ("account.plugin", "restore"),
    ("environment", "rollback"),
    ("environment", "write-deployment-record"),
    *((f"environment.{name}", "restore") for name in (
        "security-scheme", "http-api-deployment", "mcp-deployment", "agent-secret", "resource-definition",
        "retry-policy",
    )),
}  # fmt: skip
UNUSED_CLASSES = {
    "account.oauth2-identity",
    "environment.initial-files",
    "environment.kv-bucket",
    "environment.blob-bucket",
}


@pytest.mark.parametrize("section", ROWS)
def test_every_row_is_there(section: str) -> None:
    assert [id for id in ROWS[section] if id not in ALL] == []


def test_every_verb_with_an_enforcement_point_is_asked_for() -> None:
    """And no other: the verbs that nothing checks stay inert."""
    asked = {(t.cls.name, t.verb) for operation in ALL.values() for t in operation.targets}
    asked |= {("rdbms", "query"), ("rdbms", "mutate")}
    verbs = {(c.name, v) for c in SNAPSHOT_CLASSES for v in c.verbs if c.name not in UNUSED_CLASSES}
    assert verbs - asked == INERT
    assert asked - {("rdbms", "{verb}")} - verbs == set()


@pytest.mark.parametrize("id", sorted(ALL))
def test_an_operation_is_whole(id: str) -> None:
    """It has a source, parameters that are used or read by others, and one record class that fits its side."""
    operation = ALL[id]
    assert operation.source.split()[0] in ("host", "sdk-facts")
    assert operation.is_part_of(NEXT)
    holes = " ".join(template.resource for template in operation.targets)
    for parameter in operation.parameters:
        if parameter.kind not in (ParameterKind.PLAIN, ParameterKind.FLAGS):
            assert f"{{{parameter.name}}}" in holes
    records = {operation.record.p2, operation.record.p3}
    if operation.side is Side.SERVICE:
        assert records <= {RecordClass.SERVICE, RecordClass.UNGATED}
    if RecordClass.FILTERED in records:
        assert operation.combine is Combine.FILTER or id in ("agent.start", "agent.identity")


def test_constant_resources_are_what_their_text_says() -> None:
    """A template without holes asks for the resource that the grant language reads in its text."""
    seen = 0
    for operation in ALL.values():
        for template in operation.targets:
            if "{" not in template.resource and not template.each:
                text = template.resource
                assert _resource(template, {}) == parse_resource(text, template.cls, template.verb), template.text
                seen += 1
    assert seen > 100


def test_every_kind_of_parameter_has_a_reader() -> None:
    assert set(_READERS) == set(ParameterKind)


def test_families_are_files() -> None:
    assert {operation.family for operation in ALL.values()} == {path.stem for path in FILES.glob("*.yaml")}


@pytest.mark.parametrize(
    "cls, verb, expected",
    [
        ("kv", "list", ["kv.keys"]),
        ("tool", "invoke", ["tool.invoke"]),
        ("environment", "deploy", ["environment.deploy", "environment.rollback"]),
        ("rdbms", "mutate", ["rdbms.begin-transaction", "rdbms.query", "rdbms.query-stream", "rdbms.execute"]),
        ("secret", "mint", []),
    ],
)
def test_from_a_verb_back_to_operations(cls: str, verb: str, expected: list[str]) -> None:
    assert [operation.id for operation in catalogue().asking_for(cls, verb)] == expected


@pytest.mark.parametrize(
    "word, cls, some",
    [
        ("METADATA", "", "agent.get-self-metadata"),
        ("golem_rust::http", "", "http.send"),
        ("agent files", "", "svc.fs.list"),
        ("create_retry_policy", "", "environment.retry-policy.create"),
        ("", "filesystem", "debug.connect"),
    ],
)
def test_search(word: str, cls: str, some: str) -> None:
    assert some in [operation.id for operation in catalogue().search(word, cls)]
    assert catalogue().search("no such operation") == ()


@pytest.mark.parametrize(
    "id, names",
    [
        ("kv.get", ("bucket", "key")),
        ("fs.rename", ("from", "to")),
        ("fs.write-stream", ("path", "preopen", "opened", "wasi")),
        ("http.send", ("url", "wasi")),
        ("rdbms.begin-transaction", ("engine", "address")),
        ("agent.invoke", ("method", "account", "application", "environment", "component", "agent")),
        ("environment.retry-policy.get", ("name", "account", "application", "environment")),
        ("environment.mcp-deployment.create", ("domain", "account", "application", "environment")),
        ("card.install", ("type", "card", "account", "application", "environment", "component")),
        ("wasi.clocks", ()),
    ],
)
def test_the_arguments_that_a_question_may_give(id: str, names: tuple[str, ...]) -> None:
    assert ALL[id].arguments == names


def test_discovery_and_streams_are_unknown_where_nothing_is_published() -> None:
    unknown = {id for id, operation in ALL.items() if operation.is_unknown(NEXT)}
    assert unknown == {"agent.discovery", "tool.discovery", "stream.read", "stream.append"}
    assert not ALL["tool.discovery"].is_unknown(SNAPSHOT)
    assert not ALL["stream.read"].is_part_of(SNAPSHOT)


GATED = "{id: x, wit: [a], record: recorded, denial: d, "
HEAD = "family: f\nsource: host 2.1\nside: agent\ndenials: {d: {wit: refused}}\noperations:\n"


@pytest.mark.parametrize(
    "row, why",
    [
        (GATED + 'asks: ["kv({E}) : red : *"]}', "no verb"),
        (GATED + 'asks: ["kw({E}) : read : *"]}', "no class"),
        (GATED + 'asks: ["kv({X}) : read : *"]}', "OwnerHole"),
        (GATED + 'asks: ["kv({E}) : read : {b}.{k}"]}', "no parameter"),
        (GATED + 'takes: {k: texts}, asks: ["kv({E}) : read : b.{k}"]}', "once per item"),
        (GATED + 'takes: {k: text?}, asks: ["kv({E}) : read : b.{k}"]}', "left out"),
        ('{id: x, wit: [a], record: recorded, asks: ["kv({E}) : read : b.k"]}', "denial shows"),
        ('{id: x, wit: [a], record: ungated, denial: d, asks: ["kv({E}) : read : b.k"]}', "not ungated"),
        ("{id: x, record: ungated}", "nobody can call it"),
        ("{id: X!, wit: [a], record: ungated}", "an id is made of"),
        ("{id: x, wit: [a], record: sometimes}", "RecordClass"),
        ("{id: x, wit: [a], record: ungated, whatever: 1}", "unknown member"),
        ("{id: x, wit: [a], record: ungated, unknown-under: nothing}", "no such switch"),
        ("{id: x, wit: [a], record: ungated, edition: other}", "no such edition"),
        ("{id: x, wit: [1], record: ungated}", "list of texts"),
        (GATED + 'asks: [{ask: "kv({E}) : read : b.k", when: [w]}]}', "no flag"),
        ("{id: x, wit: [a], record: ungated}\n  - {id: x, wit: [a], record: ungated}", "twice"),
    ],
)  # fmt: skip
def test_a_file_that_does_not_hold_together_is_refused(tmp_path: Path, row: str, why: str) -> None:
    (tmp_path / "f.yaml").write_text(f"{HEAD}  - {row}\n", encoding="utf-8")
    with pytest.raises(CatalogueError, match=why):
        load_catalogue(tmp_path)
