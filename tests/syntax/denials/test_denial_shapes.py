"""Each shape in several surroundings, from the case files."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from test_denial_quiet import TEMPLATES, excerpt_of

from policyd.syntax.denials import KINDS, Reading, recognise
from policyd.syntax.denials.call_sites import OPERATIONS
from policyd.syntax.denials.inverse import _BY_VERB, operations_of_class
from policyd.syntax.denials.shapes import SHAPES
from policyd.syntax.operations import catalogue

CASES = Path(__file__).parents[2] / "cases" / "denials"


def _cases() -> list[Any]:
    found = []
    for file in sorted((CASES / "shapes").glob("*.yaml")):
        for number, case in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
            for index, text in enumerate(case["texts"]):
                found.append(pytest.param(case, text, id=f"{file.stem}-{number}-{case['shape']}-{index}"))
    return found


def _everything(reading: Reading) -> str:
    return repr(reading)


def _check(case: dict[str, Any], reading: Reading) -> None:
    assert [d.shape for d in reading.denials] == [case["shape"]], [d.shapes for d in reading.denials]
    denial = reading.denials[0]
    assert denial.kind == case["kind"]
    assert denial.is_denial is case.get("is_denial", True)
    assert denial.is_denial is (denial.not_policy == "")
    if "target" in case:
        assert (denial.target.text if denial.target else None) == case["target"]
    if "target_text" in case:
        assert denial.target_text == case["target_text"]
    if "operations" in case:
        assert [g.operation for g in denial.operations][: len(case["operations"])] == case["operations"]
    for name, value in case.get("facts", {}).items():
        assert denial.facts.get(name) == value, dict(denial.facts)
    for secret in case.get("hides", []):
        assert secret not in _everything(reading)


@pytest.mark.parametrize("case, text", _cases())
def test_a_shape_is_recognised_in_its_surroundings(case: dict[str, Any], text: str) -> None:
    """The shape, the kind, the target, the operations and the facts are as the case says."""
    reading = recognise(text)
    _check(case, reading)
    assert reading.unrecognised == ""


def _embedded(text: str) -> dict[str, str]:
    return {
        "in a log": f"2026-11-30T10:00:00Z INFO started\n2026-11-30T10:00:01Z ERROR {text}\n2026-11-30T10:00:02Z INFO",
        "escaped": json.dumps({"level": "error", "msg": f"golem: {text}"}),
        "escaped twice": json.dumps({"log": json.dumps({"msg": f"golem: {text}"})}),
        "coloured": "".join(f"\x1b[3{i % 8}m{word}\x1b[0m " for i, word in enumerate(text.split(" "))).strip(),
        "with carriage returns": f"golem says:\r\n{text}\r\n\r\n",
    }


_ONE_LINERS = [
    p for p in _cases() if p.values[0].get("embed", True) and "\n" not in p.values[1] and "\x1b" not in p.values[1]
]


@pytest.mark.parametrize("case, text", _ONE_LINERS)
def test_a_shape_is_recognised_in_any_embedding(case: dict[str, Any], text: str) -> None:
    """Logs, JSON strings, colours and line ends of other systems change nothing about what is told."""
    for name, embedded in _embedded(text).items():
        reading = recognise(embedded)
        shapes = [d.shape for d in reading.denials]
        assert shapes == [case["shape"]], (name, embedded, [d.shapes for d in reading.denials])
        denial = reading.denials[0]
        assert denial.kind == case["kind"], name
        if "target" in case:
            assert (denial.target.text if denial.target else None) == case["target"], name


@pytest.mark.parametrize("case, text", _ONE_LINERS)
def test_a_shape_is_recognised_when_its_line_is_wrapped(case: dict[str, Any], text: str) -> None:
    """A terminal that breaks lines hides nothing: neither at a column nor between words."""
    hard = "\n".join(text[i : i + 67] for i in range(0, len(text), 67))
    words, lines = text.split(" "), [""]
    for word in words:
        if len(lines[-1]) + len(word) > 45 and lines[-1]:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    soft = "\n".join(lines)
    for broken in (hard, soft):
        reading = recognise(broken)
        assert case["shape"] in [d.shape for d in reading.denials], (broken, [d.shapes for d in reading.denials])
        if case.get("target"):
            assert case["target"] in [d.target_text for d in reading.denials], broken


@pytest.mark.parametrize("case, text", _cases())
def test_a_shape_is_found_once_in_a_long_log(case: dict[str, Any], text: str) -> None:
    """Thirty lines of other programs around it add nothing and take nothing away; common words alone are lost there."""
    is_bare = case["shape"] == "B-01"
    chooser = random.Random(len(text))
    lines = [excerpt_of(chooser.choice(TEMPLATES)["text"], number) for number in range(30)]
    log = "\n".join([*lines[:15], f"2026-11-30T10:00:00Z ERROR golem_worker_executor: {text}", *lines[15:]])
    reading = recognise(log)
    assert [d.shape for d in reading.denials] == ([] if is_bare else [case["shape"]]), log
    assert all(denial.line > 15 for denial in reading.denials)


def test_every_shape_has_at_least_three_surroundings() -> None:
    """No shape of the table is left out of the case files."""
    count = dict.fromkeys((name for name in SHAPES if not name.startswith(("A-0", "B-0", "L-0", "O-0"))), 0)
    for param in _cases():
        case = param.values[0]
        if case["shape"] in count:
            count[case["shape"]] += 1
    assert {shape: n for shape, n in count.items() if n < 3} == {}
    assert len(count) == 46


def test_every_operation_that_is_guessed_is_in_the_catalogue() -> None:
    """Guesses are ids of the catalogue, whichever table they come from."""
    known = set(catalogue().operations)
    guessed = {guess.operation for shape in SHAPES.values() for guess in shape.operations}
    guessed |= OPERATIONS | {name for names in _BY_VERB.values() for name in names.split()}
    for cls, verb in ((t.cls.name, t.verb) for o in catalogue().operations.values() for t in o.targets):
        guessed |= {guess.operation for guess in operations_of_class(cls, verb)}
    assert guessed <= known


def test_the_inverse_index_leads_to_operations_that_ask_for_the_target() -> None:
    """Whatever the index names for a class and a verb does ask for them by the catalogue."""
    wrong = []
    for (cls, verb), names in _BY_VERB.items():
        asking = {operation.id for operation in catalogue().asking_for(cls, verb)}
        wrong += [(cls, verb, name) for name in names.split() if name not in asking]
    assert wrong == []


def test_the_inverse_index_leaves_no_gated_operation_out() -> None:
    """Every class and verb that some operation asks for leads back to an operation."""
    missing = [
        (operation.id, target.text)
        for operation in catalogue().operations.values()
        for target in operation.targets
        if target.verb in target.cls.verbs
        and target.cls.name not in ("filesystem",)
        and not operations_of_class(target.cls.name, target.verb)
    ]
    assert missing == []


def test_kinds_are_those_of_the_checklists() -> None:
    """No shape names a kind that the list of kinds does not have."""
    assert {shape.kind for shape in SHAPES.values()} <= set(KINDS)
