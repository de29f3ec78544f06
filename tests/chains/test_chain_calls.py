"""One call followed through a chain and its outcome back, and declared sequences around a call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from chains.documents import checked
from ruamel.yaml import YAML

from policyd.core.tools.boundaries import ERASED, FORWARDING, Underlying, through_layers
from policyd.core.tools.guest_exports import ABSENT, Ask, Capability, absent_answer
from policyd.core.tools.profile import Profile
from policyd.usecases.chain_explain import follow_call, followed_json, followed_lines
from policyd.usecases.chain_outward import Outcome
from policyd.usecases.outcome import answer_json, answer_lines, follow_sequence

CASES = Path(__file__).parents[1] / "cases" / "chains"
CALLS = YAML(typ="safe").load((CASES / "calls.yaml").read_text("utf-8"))
SEQUENCES = YAML(typ="safe").load((CASES / "sequences.yaml").read_text("utf-8"))


@pytest.mark.parametrize("case", CALLS["cases"], ids=lambda case: case["id"])
def test_calls(case):
    """Every step is told, in order; the last one inward ends the call where the row has no way back."""
    chain = {
        "tool": case["leaf"],
        "layers": case["layers"],
        "leaf": case["leaf"],
        "mode": case.get("mode", "structural-subtype"),
    }
    report = checked({"definitions": CALLS["definitions"], "chain": chain})
    outcome = Outcome(case.get("result"), "result" in case, case.get("error", ""), case.get("payload"))
    row = report.rows[0]
    command = tuple(str(case.get("call", "")).split())
    followed = follow_call(row.chain, command, case["input"], outcome, Profile())
    for steps, words in ((followed.inward, case.get("says")), (followed.outward, case.get("back"))):
        if words is not None:
            told = [f"{step.words} {step.value}" for step in steps]
            assert len(told) == len(words), told
            assert all(str(word) in text for word, text in zip(words, told, strict=True)), told
    assert followed.reaches_leaf is ("back" in case and "stops" not in case)
    if not followed.reaches_leaf:
        assert followed.inward[-1].is_end
    assert len(followed_lines(followed)) > len(followed.inward)
    json.dumps(followed_json(followed))


def test_forwarding_keeps_or_erases():
    """After one forwarding layer nothing changes any more, and what is erased arrives as a constraint violation."""
    assert set(FORWARDING) == set(Underlying)
    for error in Underlying:
        once = through_layers(error, 1)
        assert through_layers(error, 5) is once
        assert (once is Underlying.CONSTRAINT_VIOLATION) is (error in {*ERASED, Underlying.CONSTRAINT_VIOLATION})


def test_absent_capabilities():
    """Lists are empty, look-ups and calls have their case, and what has no error result traps (E17)."""
    for (capability, ask), answer in ABSENT.items():
        if ask is Ask.LIST:
            assert answer.outcome == "empty list"
        elif capability in (Capability.TOOL, Capability.MIDDLEWARE):
            assert answer.outcome == "InvalidToolName"
    traps = {key for key, answer in ABSENT.items() if answer.outcome == "trap"}
    assert traps == {(Capability.AGENT, Ask.DEFINITION), (Capability.SNAPSHOT, Ask.SAVE)}
    assert absent_answer(Capability.TOOL, Ask.SAVE) is None


@pytest.mark.parametrize("case", SEQUENCES, ids=lambda case: case["id"])
def test_sequences(case, tmp_path):
    """What is seen at each step, what is owned, and what may never end."""
    path = tmp_path / "sequence.yaml"
    path.write_text(
        json.dumps({"policyd": 1, **{k: case[k] for k in ("component", "call", "steps") if k in case}}), "utf-8"
    )
    answer = follow_sequence(path)
    told = [("refused " if step.is_refused else "") + step.seen for step in answer.steps]
    assert len(told) == len(case["sees"]), told
    for words, text in zip(case["sees"], told, strict=True):
        assert words in text
    for words in case.get("owned", []):
        assert any(words in text for text in answer.owned), answer.owned
    assert len(answer.open_ends) == len(case.get("open", []))
    for words, text in zip(case.get("open", []), answer.open_ends, strict=True):
        assert words in text
    assert answer_lines(answer)
    json.dumps(answer_json(answer))
