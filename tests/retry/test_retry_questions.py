"""Questions as users ask them on the command line, and what they are answered."""

import json
import os
import shlex
from pathlib import Path
from time import process_time
from typing import Any
from xml.etree import ElementTree

import pytest
from retry_notation import CASES, case_ids, load_cases

from policyd.cli.main import run


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a command among the documents of the cases; gives exit code, output and what goes to stderr."""
    monkeypatch.chdir(CASES / "questions")

    def asked(arguments: str) -> tuple[int, str, str]:
        code = run(shlex.split(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return asked


@pytest.mark.parametrize("case", load_cases("questions.yaml"), ids=case_ids)
def test_question(case: dict[str, Any], ask: Any) -> None:
    """The answer has the exit code and the texts that the case names."""
    code, out, err = ask(case["ask"])
    assert code == case["exit"], out + err
    for text in case.get("has", ()):
        assert text in out, out
    for text in case.get("not", ()):
        assert text not in out, out
    for text in case.get("err", ()):
        assert text in err, err


@pytest.mark.parametrize(
    "arguments",
    [
        "retry resolve shop.yaml --site rpc",
        "retry simulate shop.yaml --runs 20",
        "retry limits shop.yaml",
        "retry lint shop.yaml",
        "retry diff shop.yaml shop-next.yaml",
        "retry compile lower.yaml",
        "retry sites",
        "saga sagas.yaml --agent Checkout",
        "saga sagas.yaml --agent Checkout --steps denied.yaml",
    ],
)
def test_json(arguments: str, ask: Any) -> None:
    """Every answer also comes as JSON, with the same exit code as in words."""
    code, _, _ = ask(arguments)
    as_json, out, _ = ask(f"{arguments} --format json")
    assert as_json == code
    assert json.loads(out)


def test_picture_is_well_formed(ask: Any) -> None:
    """The picture is an XML document with one group for each policy."""
    _, out, _ = ask("retry simulate shop.yaml --format svg")
    root = ElementTree.fromstring(out)
    assert len([child for child in root if child.tag.endswith("}g")]) == 6


def test_continuation_leads_through_a_whole_saga(ask: Any, tmp_path: Path) -> None:
    """What each decision hands on is taken by the next, until the policy gives up."""
    handed = tmp_path / "c.json"
    arguments = "saga sagas.yaml --agent Checkout --format json"
    for attempt in range(1, 6):
        more = f" --attempt {attempt} --elapsed {attempt * 10}s"
        more += f" --continuation {shlex.quote(os.fspath(handed))}" if attempt > 1 else ""
        code, out, _ = ask(arguments + more)
        answer = json.loads(out)
        if code:
            break
        assert answer["nextAttempt"] == attempt + 1
        handed.write_text(json.dumps(answer["continuation"]), encoding="utf-8")
    assert attempt == 4
    assert answer["verdict"] == "EXHAUSTED"
    assert answer["result"] == "RetryExhausted"


HOSTILE = {
    "broken": ('[\n {"name": "a",,}\n]', 2, ":2:15"),
    "digits": ("[" + "9" * 50_000 + "]", 2, "a number is too long"),
    "deep": ("[" * 200_000, 2, "nested too deeply"),
    "not a number": ('[{"name": "a", "priority": 1, "predicate": true, "policy": {"jitter": {"factor": NaN, "inner":'
                     ' "immediate"}}}]', 2, ":1:82"),
    "negative": ('[{"name": "a", "priority": -1, "predicate": true, "policy": "never"}]', 2, ":1:28"),
    "values": ('{"values": [\n{"name": "a", "priority": 1, "predicate": 5, "policy": "never"}]}', 2, ":2:43"),
}  # fmt: skip


@pytest.mark.parametrize("verb", ["resolve --site saga", "simulate", "limits", "lint"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_are_bad_input_with_their_place(ask: Any, tmp_path: Path, name: str, verb: str) -> None:
    """No traceback, and a place as far as the document has one."""
    text, expected, words = HOSTILE[name]
    document = tmp_path / "rules.json"
    document.write_text(text, encoding="utf-8")
    verb, *flags = verb.split(" ")
    code, _, err = ask(f"retry {verb} {document} {' '.join(flags)}")
    assert (code, words in err) == (expected, True), err


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("countBox:\n  maxRetries: -1\n  inner: immediate\n", ":2:15"),
        ("exponential: {baseDelay: 1s, factor: .inf}", ":1:38"),
        ("countBox: {maxRetries: 1\n  inner", ":3:1"),
        ("a: &a [*a]", ":1:1"),
        ("- " * 5_000, ":1:1"),
    ],
)
def test_policies_that_cannot_be_compiled_have_a_place(ask: Any, tmp_path: Path, text: str, where: str) -> None:
    """Mistakes of a policy in YAML are told with line and column."""
    document = tmp_path / "policy.yaml"
    document.write_text(text + "\n", encoding="utf-8")
    code, _, err = ask(f"retry compile {document}")
    assert (code, f"{document}{where}" in err) == (2, True), err


@pytest.mark.parametrize("verb", ["simulate --runs 1000", "limits", "lint", "resolve --site saga"])
def test_large_documents_are_answered_in_time(ask: Any, tmp_path: Path, verb: str) -> None:
    """Wide choices, long globs and large trees take a bounded effort."""
    tree: object = "immediate"
    for number in range(150):
        tree = {"union": [{"countBox": {"maxRetries": 4_294_967_295 - number, "inner": {"periodic": "1ns"}}}, tree]}
    choice = {"propIn": {"property": "uri-host", "values": [f"h{number}" for number in range(20_000)]}}
    text = {"propContains": {"property": "uri-path", "substring": "x" * 50_000}}
    glob = {"propMatches": {"property": "uri-path", "pattern": "*a" * 5_000}}
    rules = [
        {"name": f"r{number}", "priority": number, "predicate": predicate, "policy": tree}
        for number, predicate in enumerate((choice, text, glob, {"not": glob}))
    ]
    document = tmp_path / "rules.json"
    document.write_text(json.dumps(rules), encoding="utf-8")
    before = process_time()
    verb, *flags = verb.split(" ")
    code, _, _ = ask(f"retry {verb} {document} {' '.join(flags)}")
    assert code in (0, 1, 3)
    assert process_time() - before < 15


def test_more_rules_than_are_compared_are_refused(ask: Any, tmp_path: Path) -> None:
    """A list that is too long is bad input, at once."""
    rule = {"name": "a", "priority": 1, "predicate": "true", "policy": "immediate"}
    document = tmp_path / "rules.json"
    document.write_text(json.dumps([rule] * 1_001), encoding="utf-8")
    code, _, err = ask(f"retry limits {document}")
    assert code == 2
    assert "at most 1000 of one environment" in err
    assert f"{document}:1:" in err


LISTED = "[{name: http, priority: 10, predicate: true, policy: never}]"


@pytest.mark.parametrize(
    ("section", "where"), [(f"{{prod: {LISTED}}}", ":4:29"), (LISTED, ":4:22"), ("{prod: []}", ":4:29")]
)
@pytest.mark.parametrize("verb", ["resolve --site saga", "simulate", "limits", "lint", "diff golem.yaml"])
def test_rules_as_a_list_are_refused_with_what_to_write(
    ask: Any, tmp_path: Path, section: str, where: str, verb: str
) -> None:
    """The form of older documents is named, and the form in its place is shown."""
    text = (
        "manifestVersion: 1.5.0\napp: shop\nenvironments: {prod: {server: cloud, account: a@x.io}}\n"
        f"retryPolicyDefaults: {section}\n"
    )
    document = tmp_path / "golem.yaml"
    document.write_text(text, encoding="utf-8")
    verb, *flags = verb.replace("golem.yaml", str(document)).split(" ")
    code, _, err = ask(f"retry {verb} {document} {' '.join(flags)}")
    assert code == 2, err
    assert f"golem.yaml{where}" in err
    assert "a list is the form of older documents (1.5); a map by name is wanted" in err
    form = "`<name>: {priority: …, predicate: …, policy: …}`" if "name" in section else "under its name"
    assert form in err
