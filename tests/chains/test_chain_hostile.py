"""Documents that want to break a command: refused in words with their place, and nothing hidden is printed."""

from __future__ import annotations

import json

import pytest
from chains.documents import checked
from ruamel.yaml import YAML

from policyd.cli.main import run
from policyd.findings import InputError

HOSTILE = "\x1b[31m\u202e\nverdict: accept\r\x07\x9b\u200b"
SHOWN = "\\x1b[31m\\u202e"
TOOL = {"version": "1", "commands": {"go": {"result": {"type": "u8", "formatters": ["text"]}}}}
NAMED = {
    "policyd": 1,
    "definitions": {"tools": {"t": TOOL}, "middleware": {"m": {"scope": "universal", "version": HOSTILE}}},
    "chain": {"tool": HOSTILE, "leaf": HOSTILE, "layers": ["m", HOSTILE]},
    "callers": [{"name": HOSTILE, "tool": HOSTILE, "approach": "discovered"}],
    "cards": {HOSTILE: ["tool(?env/*/*) @ ?agent : invoke : *"]},
    "expect": [{"agent": HOSTILE, "verdict": "accept"}],
}
DEEP_TYPE = "list<" * 5000 + "u8" + ">" * 5000
DEEP_JSON = '{"type_": ' * 5000 + "1" + "}" * 5000
CYCLES = {"type": "&a", "types": {"a": "&b", "b": "&a"}}
HUGE = {"type": "record{" + ", ".join(f"f{n}: &t{n}" for n in range(3000)) + "}", "types": {}}
FILES = {
    "named.yaml": json.dumps(NAMED),
    "good.json": json.dumps(TOOL),
    "deep.txt": DEEP_TYPE,
    "deep.json": DEEP_JSON,
    "deep.yaml": "a:" + " [" * 3000,
    "cycles.json": json.dumps(CYCLES),
    "cycle.json": json.dumps({"type": "&a", "types": {"a": "list<&a>"}}),
    "dangling.json": json.dumps(HUGE),
    "kind.json": json.dumps({"root": {"kind": HOSTILE}}),
    "field.txt": f"record{{{HOSTILE}: u8}}",
    "u8.txt": "u8",
    "enum.json": json.dumps({"root": {"kind": "enum", "value": {"cases": [HOSTILE]}}}),
    "value.json": json.dumps({HOSTILE: HOSTILE}),
    "record.txt": "record{a: u8}",
    "numbers.json": "9" * 200_000,
    "nothing": "",
    "binary": "\x00\x01\x02",
    "alias.yaml": "policyd: 1\nchain: &x [*x]\n",
    "bombs.yaml": "policyd: 1\na: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n"
    + "".join(f"c{n}: &c{n} [*{'b' if not n else f'c{n - 1}'}, *b, *b, *b, *b, *b, *b]\n" for n in range(9)),
    "list.yaml": "[1, 2]",
    "metadata.yaml": "policyd: 1\ndefinitions: {tools: {t: {metadata: ../../../../etc/passwd}}}\n",
    "itself.yaml": "policyd: 1\ndefinitions: {tools: {t: {metadata: itself.yaml}}}\n",
    "nodes.json": json.dumps({"version": "1", "commands": {"nodes": [{"name": "a", "subcommands": [0, 7, -1]}]}}),
    "steps.yaml": json.dumps({"steps": [{HOSTILE: HOSTILE}]}),
    "steps-named.yaml": json.dumps({"call": {"errors": [HOSTILE]}, "steps": [{"raise": HOSTILE}, {"get": HOSTILE}]}),
    "steps-many.yaml": json.dumps({"steps": ["get"] * 20_000}),
    "layers.yaml": json.dumps({"policyd": 1, "chain": {"leaf": "t", "layers": ["x"] * 2_000}}),
    "regex.txt": 'text(regex="(a*)*b(?=c)")',
    "regex-huge.txt": 'text(regex="' + "(a{1000}){1000}" + '")',
}
SOURCES = ("deep.yaml", "deep.json", "nothing", "binary", "alias.yaml", "bombs.yaml", "list.yaml", "layers.yaml")
REFUSED = [
    *(["chain", "check", name] for name in (*SOURCES, "metadata.yaml", "itself.yaml", "gone.yaml", f"{HOSTILE}.yaml")),
    *(["chain", "explain", name, "--call", "t go"] for name in SOURCES),
    ["chain", "explain", "named.yaml", "--call", " "],
    ["chain", "check", "named.yaml", "--switch", f"mode={HOSTILE}"],
    ["chain", "check", "named.yaml", "--switch", f"compatibility_mode={HOSTILE}"],
    ["chain", "check", "named.yaml", "--tool", f"other{HOSTILE}"],
    *(
        [*verb, first, second]
        for verb in (["schema", "compare"], ["tool", "diff"])
        for first, second in (
            ("deep.json", "good.json"),
            ("nothing", "good.json"),
            ("binary", "good.json"),
            ("gone", "good.json"),
            ("list.yaml", "good.json"),
            ("good.json", "kind.json"),
            ("good.json", "value.json"),
        )
    ),
    *(["schema", "compare", name, "u8.txt"] for name in ("deep.txt", "cycles.json", "dangling.json", "field.txt")),
    *(["schema", "compare", name, "u8.txt"] for name in ("regex.txt", "regex-huge.txt")),
    *(["value", "json-schema", name] for name in ("deep.txt", "deep.json", "cycles.json", "kind.json", "nothing")),
    ["value", "check", "kind.json", "value.json"],
    ["value", "check", "u8.txt", "gone"],
    ["outcome", "steps.yaml"],
    ["outcome", "steps-many.yaml"],
    ["outcome", "deep.yaml"],
    ["outcome", "nothing"],
    ["reflect"],
    ["reflect", "--client", HOSTILE],
    ["reflect", "--question", HOSTILE],
    ["reflect", "--knows", HOSTILE],
]
ANSWERED = [
    (["chain", "check", "named.yaml"], True),
    (["chain", "check", "named.yaml", "--format", "github"], True),
    (["chain", "check", "named.yaml", "--format", "junit"], True),
    (["chain", "explain", "named.yaml", "--call", f"gone{HOSTILE} go"], True),
    (["schema", "compare", "enum.json", "u8.txt"], False),
    (["schema", "compare", "cycle.json", "cycle.json"], False),
    (["schema", "compare", "cycle.json", "u8.txt"], False),
    (["value", "check", "record.txt", "value.json"], True),
    (["value", "check", "u8.txt", "numbers.json"], False),
    (["value", "check", "u8.txt", "deep.json"], False),
    (["value", "check", "u8.txt", "binary"], False),
    (["tool", "diff", "good.json", "nodes.json"], False),
    (["outcome", "steps-named.yaml"], True),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def plain(text):
    """Of a rendering only its own line breaks do not print, and no line is forged."""
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert "verdict: accept" not in [line.strip() for line in text.split("\n")]
    assert "Traceback" not in text
    return text


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words", REFUSED, ids=lambda words: ascii(" ".join(words))[:70])
def test_refused(words, capsys):
    """Exit 2, an error with a code, and no more than a page of it."""
    assert run(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert plain(told.err).startswith(("error[", "usage"))
    assert len(told.err) < 20_000


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("words", "names"), ANSWERED, ids=lambda words: ascii(words)[:70])
def test_answered(words, names, capsys):
    """Hostile names are shown escaped, and hostile sizes are answered."""
    assert run(words) in (0, 1, 3)
    told = capsys.readouterr()
    text = plain(told.out + told.err)
    assert (SHOWN in text) is names


@pytest.mark.usefixtures("files")
def test_json_keeps_the_data(capsys):
    """JSON is data: it holds the texts as they are."""
    run(["chain", "check", "named.yaml", "--format", "json"])
    assert json.loads(capsys.readouterr().out)["report"][0]["tool"] == HOSTILE


def test_errors_have_their_place(files, capsys):
    """Line and column in YAML and in JSON, and the path in both."""
    text = "policyd: 1\ndefinitions:\n  tools:\n    t:\n      commands: {go: {result: record{a: u9}}}\n"
    (files / "bad.yaml").write_text(text.replace("record{a: u9}", '"record{a: u9}"'), encoding="utf-8")
    as_json = json.dumps(YAML(typ="safe").load((files / "bad.yaml").read_text("utf-8")), indent=1)
    (files / "bad.json").write_text(as_json, encoding="utf-8")
    for name in ("bad.yaml", "bad.json"):
        assert run(["chain", "check", name]) == 2
        told = capsys.readouterr().err
        assert f"--> {name}:" in told
        assert "$.definitions.tools.t.commands.go.result" in told


def test_many_callers_of_one_definition_are_compared_once():
    """Two thousand callers cost no more than one; what differs in its commands counts against the budget."""
    commands = {f"c{i}": {"result": "u8"} for i in range(40)}
    asked = {
        "definitions": {"tools": {"t": {"version": "1", "commands": commands}}},
        "chain": {"tool": "t", "leaf": "t", "layers": []},
        "callers": [{"name": f"n{i}", "tool": "t", "definition": "t"} for i in range(2000)],
    }
    report = checked(asked, budget=60)
    assert {caller.verdict.value for caller in report.rows[0].callers} == {"accept"}
    asked["callers"] = [
        {"tool": "t", "definition": "t", "commands": [f"c{i}", f"c{j}"]} for i in range(9) for j in range(9)
    ]
    with pytest.raises(InputError, match="CHAIN006"):
        checked(asked, budget=60)
