"""Chains, tools, schemas and values over HTTP: what the command line answers, and no file of the server is read."""

import json

import pytest

from policyd.cli.main import run
from policyd.service.description import EXAMPLES

CHAIN = EXAMPLES["/v1/chains/check"]["documents"][0]["text"]
TOOL = {"version": "1", "commands": {"go": {"result": {"type": "variant(a)", "formatters": ["text"]}}}}
WIDER = {"version": "2", "commands": {"go": {"result": {"type": "variant(a | b)", "formatters": ["text"]}}}}
HOSTILE = "\x1b[31m\u202e\nverdict: accept\u200b"


def told(capsys, *words):
    """The JSON that the command line prints, and its exit code."""
    code = run([*map(str, words), "--format", "json"])
    return json.loads(capsys.readouterr().out), code


def sent(text=CHAIN, name="chain.yaml"):
    return [{"name": name, "text": text}]


def test_a_chain_is_decided_as_on_the_command_line(shop, capsys, tmp_path, monkeypatch):
    """Every member, payload and fingerprint; a refusal is an answer."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.yaml").write_text(CHAIN, encoding="utf-8")
    printed, code = told(capsys, "chain", "check", "chain.yaml")
    answer = shop.ask("/v1/chains/check", {"documents": sent()})
    assert (answer.status_code, code) == (200, 1)
    body = answer.json()
    assert {key: body[key] for key in ("report", "findings", "unmet", "notAnalysed")} == {
        key: printed[key] for key in ("report", "findings", "unmet", "notAnalysed")
    }
    assert body["report"][0]["deployment"]["verdict"] == "reject"
    assert body["findings"][0]["witness"] == '"backordered"'
    assert body["snapshot"] is None


def test_a_call_is_followed_as_on_the_command_line(shop, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chain.yaml").write_text(CHAIN, encoding="utf-8")
    printed, _ = told(capsys, "chain", "explain", "chain.yaml", "--call", "inventory adjust")
    body = shop.ask("/v1/chains/explain", {"documents": sent(), "call": "inventory adjust"}).json()
    assert {key: body[key] for key in printed} == printed
    assert body["found"] is True
    none = shop.ask("/v1/chains/explain", {"documents": sent(), "call": "other go"}).json()
    assert (none["found"], none["chain"], none["bound"]) == (False, None, ["inventory"])


def test_a_snapshot_is_decided_with_definitions_beside_it(shop, capsys, monkeypatch):
    """The chains of a stored deployment; a digest may be demanded."""
    monkeypatch.setenv("POLICYD_DATABASE_URL", shop.url)
    printed, _ = told(capsys, "chain", "check", "@1")
    answer = shop.ask("/v1/chains/check", {"snapshot": "@1"})
    body = answer.json()
    assert body["report"] == printed["report"]
    assert (body["snapshot"], answer.headers["Policyd-Snapshot"]) == ("@1", "@1")
    assert body["report"][0]["deployment"]["verdict"] == "undecided"
    defined = 'policyd: 1\ndefinitions: {tools: {bash: {version: "1", result: {type: u8, formatters: [text]}}}}\n'
    known = shop.ask("/v1/chains/check", {"snapshot": "@1", "definitions": sent(defined), "tool": "bash"}).json()
    assert known["report"][0]["deployment"]["verdict"] == "accept"
    assert shop.ask("/v1/chains/check", {"snapshot": "@1", "digest": "0" * 64}).status_code == 412
    assert shop.ask("/v1/chains/check", {"snapshot": "@99"}).status_code == 404


@pytest.mark.parametrize("body", [{}, {"snapshot": "@1", "documents": sent()}], ids=["neither", "both"])
def test_one_source_is_wanted(shop, body):
    answer = shop.ask("/v1/chains/check", body)
    assert (answer.status_code, answer.json()["code"]) == (422, "MANIF091")


@pytest.mark.parametrize("path", ["./secret.json", "/etc/passwd", "../../etc/hosts"])
def test_no_file_of_the_server_is_read(shop, path):
    """A document that is sent has nothing beside it, and the answer does not tell whether a file exists."""
    text = f"policyd: 1\ndefinitions: {{tools: {{t: {{metadata: {path}}}}}}}\n"
    answer = shop.ask("/v1/chains/check", {"documents": sent(text)})
    assert answer.status_code == 422
    assert answer.json()["detail"] == f"`{path}` cannot be read from here: write the metadata out"
    tool = shop.ask("/v1/tools/diff", {"old": {"metadata": path}, "new": TOOL})
    assert (tool.status_code, "cannot be read from here" in tool.text) == (422, True)
    beside = shop.ask("/v1/chains/check", {"documents": sent(), "definitions": sent(text)})
    assert (beside.status_code, "cannot be read from here" in beside.text) == (422, True)
    other = "app: shop\nmanifestVersion: 1.6.0\nenvironments: {prod: {server: local}}\nincludes: ['*.yaml']\n"
    assert shop.ask("/v1/chains/check", {"documents": sent(other, "/etc/golem.yaml")}).status_code in (200, 422)


def test_tools_schemas_and_values(shop, capsys, tmp_path, monkeypatch):
    """The other questions of the area, with the words of the command line."""
    monkeypatch.chdir(tmp_path)
    for name, value in (("old.json", TOOL), ("new.json", WIDER)):
        (tmp_path / name).write_text(json.dumps(value), encoding="utf-8")
    printed, code = told(capsys, "tool", "diff", "old.json", "new.json")
    body = shop.ask("/v1/tools/diff", {"old": TOOL, "new": WIDER}).json()
    assert code == 1
    assert [m["verdict"] for m in body["modes"]] == [m["verdict"] for m in printed["modes"]]
    assert (body["added"], body["removed"]) == (printed["added"], printed["removed"])
    (tmp_path / "a.txt").write_text("record{a: u16}", encoding="utf-8")
    (tmp_path / "b.txt").write_text("record{a: u8}", encoding="utf-8")
    for relation in ("project", "assign", "equivalent"):
        question = {"source": "record{a: u16}", "target": "record{a: u8}", "relation": relation}
        printed, _ = told(capsys, "schema", "compare", "a.txt", "b.txt", "--relation", relation)
        assert shop.ask("/v1/schemas/compare", question).json() == printed
    (tmp_path / "v.json").write_text('{"a": 300}', encoding="utf-8")
    printed, _ = told(capsys, "value", "check", "b.txt", "v.json")
    assert shop.ask("/v1/values/check", {"type": "record{a: u8}", "value": '{"a": 300}'}).json() == printed
    good = shop.ask("/v1/values/check", {"type": "record{a: u8}", "value": '{"a": 3}'}).json()
    assert (good["verdict"], good["canonical"]) == ("valid", {"a": 3})
    twice = shop.ask("/v1/values/check", {"type": "record{a: u8}", "value": '{"a": 3, "a": 4}'}).json()
    assert (twice["verdict"], twice["canonical"]) == ("valid", {"a": 4})
    deep = shop.ask("/v1/values/check", {"type": "u8", "value": "[" * 100_000}).json()
    assert (deep["verdict"], deep["broken"][0]["words"]) == ("invalid", "nested deeper than 127 levels")
    graph = {"root": {"kind": "ref", "value": {"id": "t"}}, "defs": [{"id": "t", "body": {"kind": "ref", "id": "t"}}]}
    for type_ in (graph, {"type": "&a", "types": {"a": "&a"}}):
        answer = shop.ask("/v1/values/json-schema", {"type": type_})
        assert answer.status_code == 422


def test_reflection_and_outcomes(shop, capsys):
    """The tables and the sequences."""
    printed, _ = told(capsys, "reflect", "--client", "discovered", "--question", "A7")
    assert shop.client.get("/v1/reflect", params={"client": "discovered", "question": "A7"}).json() == printed
    assert shop.client.get("/v1/reflect", params={"question": "Z9"}).status_code == 422
    assert len(shop.client.get("/v1/reflect").json()["keys"]) > 50
    known = shop.client.get("/v1/reflect", params={"knows": ["agent-id"]}).json()
    assert known["client"]
    answer = shop.ask("/v1/outcomes", {"call": {"observers": ["caller"]}, "steps": ["succeed", {"get": "caller"}]})
    assert [step["refused"] for step in answer.json()["steps"]] == [False, False]
    bad = shop.ask("/v1/outcomes", {"steps": ["nothing"]})
    assert (bad.status_code, bad.json()["findings"][0]["place"]["path"]) == (422, "$.steps[0]")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/schemas/compare", {"source": "list<" * 3000 + "u8" + ">" * 3000, "target": "u8"}),
        ("/v1/schemas/compare", {"source": "record{" + "a" * 100_000 + ": u8}", "target": f"record{{{HOSTILE}: u8}}"}),
        ("/v1/schemas/compare", {"source": {"type": "&a", "types": {"a": "&b", "b": "&a"}}, "target": "u8"}),
        ("/v1/schemas/compare", {"source": {"root": {"kind": HOSTILE}}, "target": "u8"}),
        ("/v1/values/check", {"type": 'text(regex="(a*)*(")', "value": '"a"'}),
        ("/v1/tools/diff", {"old": {"version": "1", "commands": {HOSTILE: {"x": 1}}}, "new": {}}),
        ("/v1/tools/diff", {"old": {"definition": []}, "new": {"commands": {"nodes": [{}]}}}),
        ("/v1/outcomes", {"steps": [{HOSTILE: HOSTILE}]}),
        ("/v1/outcomes", {"component": {HOSTILE: True}, "steps": []}),
        ("/v1/chains/check", {"documents": sent("policyd: 1\nchain: [" + "[" * 500)}),
        ("/v1/chains/check", {"documents": sent("policyd: 1\ndefinitions: {types: {a: &x [*x]}}\n")}),
        ("/v1/chains/check", {"documents": sent(), "switches": {"compatibility_mode": HOSTILE}}),
        ("/v1/chains/check", {"documents": sent(), "switches": {HOSTILE: "x"}}),
        ("/v1/chains/explain", {"documents": sent(), "call": " . "}),
    ],
)
def test_hostile_questions_are_refused(shop, path, body):
    """Too deep, too long, in circles, or not what it should be: a problem with a code, never a defect."""
    answer = shop.ask(path, body)
    assert answer.status_code == 422, answer.text
    assert answer.json()["code"] != "DEFECT"
    assert answer.headers["content-type"] == "application/problem+json"


def test_hostile_names_are_data_in_json(shop):
    """A name comes back as it was sent, and the finding that carries it is one line."""
    text = json.dumps({"policyd": 1, "chain": {"tool": HOSTILE, "leaf": HOSTILE, "layers": [HOSTILE]}})
    body = shop.ask("/v1/chains/check", {"documents": sent(text)}).json()
    assert body["report"][0]["tool"] == HOSTILE
    assert body["findings"]


def test_too_much_to_compare_is_refused(shop):
    """Layers and definitions that fit into a request, and would take minutes, are refused before they are compared."""
    commands = {f"c{n}": {"options": [{"long": f"o{i}", "type": "u8"} for i in range(9)]} for n in range(600)}
    definitions = {
        "tools": {"t": {"version": "1", "commands": commands}},
        "middleware": {f"m{n}": {"presents": "t", "expects": "t", "version": "1"} for n in range(20)},
    }
    chain = {"tool": "t", "leaf": "t", "layers": [f"m{n % 20}" for n in range(900)]}
    text = json.dumps({"policyd": 1, "definitions": definitions, "chain": chain})
    answer = shop.ask("/v1/chains/check", {"documents": sent(text)})
    assert (answer.status_code, answer.json()["code"]) == (422, "CHAIN006")
    assert answer.elapsed.total_seconds() < 20
