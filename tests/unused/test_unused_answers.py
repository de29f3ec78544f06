"""What a log says about grants, case by case; and that the least card does what is said of it."""

import json
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from unused_deployments import answer_to, holders, logged, manifest

from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext
from policyd.findings import InputError, NoSuchName, Severity
from policyd.syntax import parse_target
from policyd.usecases.unused_words import unused_json, unused_markdown, unused_text

CASES = YAML(typ="safe").load(Path(__file__).parent.parent / "cases" / "unused" / "answers.yaml")


def _of(case):
    text = manifest(case["positive"], case.get("negative", ()), case.get("ceiling", ()))
    return text, answer_to(text, [logged(line) for line in case["log"]])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["title"])
def test_answers(case):
    """States of grants, the least card, and what did not count."""
    _, answer = _of(case)
    (cart,) = answer.holders
    states = {f"{g.ref.bound.value} {g.written.rstrip()}": g.state.value for g in cart.grants}
    assert states == case["states"]
    log = answer.log
    told = {"drift": log.drift_count, "elsewhere": log.elsewhere, "other edition": log.other_edition}
    told |= {"outside": log.outside, "bad": log.bad_count, "type only": log.type_only, "used": log.used}
    assert told == {name: case.get(name, 0) for name in told}
    assert dict(log.unknown) == case.get("unknown", {})
    assert dict(log.unclear) == case.get("unclear", {})
    if "least" in case:
        assert cart.least.made.added
        assert not cart.least.made.refusal
        told = [text for text in cart.least.made.added if "GOLEM_" not in text]
        assert sorted(told) == sorted(case["least"])
        assert sorted(cart.least.made.denied) == sorted(case.get("least negative", ()))
        for change in cart.least.changes:
            assert not change.started.count
            assert not change.started.undecided
            calls = {witness.call.rstrip() for witness in change.stopped.witnesses}
            assert set(case.get("takes", ())) <= calls
    if "no least" in case:
        assert cart.least.why_not == case["no least"]


@pytest.mark.parametrize("case", [c for c in CASES if "least" in c], ids=lambda case: case["title"])
def test_the_least_card_admits_what_was_seen(case):
    """As manifest text, read again as a manifest, for each agent that asked."""
    text, answer = _of(case)
    (cart,) = answer.holders
    card = YAML(typ="safe").load(cart.least.made.yaml)["initialCard"]
    document = json.loads(text)
    document["agents"]["Cart"]["initialCard"]["lowerBound"] = card["lowerBound"]
    least = holders(json.dumps(document)).by_name["Cart"]
    for line in map(json.loads, map(logged, case["log"])):
        if "target" in line and "agent" in line:
            context = AgentContext("acme@example.com", "shop", "prod", "shop:cart", "Cart", line["agent"])
            target = parse_target(line["target"], NEXT, slots=True).filled(context)
            assert least.surface(line["agent"]).allows(target) is (line["outcome"] == "admitted")


def test_all_forms_tell_the_same_and_escape_hostile_names():
    text = manifest(['kv(?env) @ ?agent : read : "<script>".*', "kv(?env) @ ?agent : read : a.*"])
    lines = [
        logged('Cart("u1") admitted kv(?env) : read : a.1'),
        logged('Evil<script>\u202e|`x`("\u0007") admitted kv(?env) : read : a.1'),
        logged('Cart("\u202e<b>") admitted kv(?env) : write : a.1'),
        b'{"password": "hunter2"',
    ]
    answer = answer_to(text, lines)
    for form in (unused_text(answer), unused_markdown(answer)):
        assert "\u202e" not in form
        assert "\u0007" not in form
        assert "hunter2" not in form
    told = unused_json(answer)
    assert json.dumps(told) == json.dumps(unused_json(answer_to(text, lines)))
    assert told["log"]["badCount"] + told["log"]["used"] + sum(told["log"]["unknownHolders"].values()) == 4
    assert told["log"]["contradictionCount"] == 1
    assert answer.worst is Severity.WARNING


def test_a_log_of_nothing_but_mistakes_is_refused_and_an_empty_one_is_told():
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    with pytest.raises(InputError) as refused:
        answer_to(text, [b"x", b"y"])
    assert [f.span.line for f in refused.value.findings] == [1, 2]
    answer = answer_to(text, [])
    assert any("nothing was observed" in note for note in answer.notes)
    assert answer.worst is None


def test_one_agent_type_or_agent_can_be_named():
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    lines = [logged('Cart("u1") admitted kv(?env) : read : a.1'), logged('Cart("u2") admitted kv(?env) : read : a.2')]
    assert answer_to(text, lines, only="Cart").log.used == 2
    one = answer_to(text, lines, only='Cart("u2")')
    assert (one.log.used, one.log.others) == (1, 1)
    with pytest.raises(NoSuchName):
        answer_to(text, lines, only="Crat")


def test_counts_are_added_up():
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    line = json.loads(logged('Cart("u1") admitted kv(?env) : read : a.1'))
    answer = answer_to(text, [json.dumps({**line, "count": count}).encode() for count in (5, 7)])
    assert answer.holders[0].grants[0].calls == 12


def test_more_calls_than_a_least_card_takes_are_told(monkeypatch):
    monkeypatch.setattr("policyd.usecases.unused_reader.MAX_CALLS", 3)
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    answer = answer_to(text, [logged(f'Cart("u1") admitted kv(?env) : read : a.{n}') for n in range(5)])
    assert "different calls were seen" in answer.holders[0].least.why_not
    assert answer.holders[0].grants[0].calls == 5
    none = answer_to(text, [logged('Cart("u1") admitted kv(?env) : read : a.1')], most_least=0)
    assert "--agent" in none.holders[0].least.why_not


def test_long_texts_of_a_log_are_told_shortened_and_not_kept():
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    long = "x" * 50_000
    lines = [
        logged(f'Cart("{long}") admitted kv(?env) : read : a.1'),
        logged(f'Cart("u1") admitted kv(?env) : read : a.{long}'),
        logged(f'Cart("{long}") denied kv(?env) : read : a.1'),
        *(logged(f'Nobody{n}{long}("1") admitted kv(?env) : read : a.1') for n in range(120)),
    ]
    answer = answer_to(text, lines)
    assert len(json.dumps(unused_json(answer))) < 60_000
    assert answer.log.used == 3
    assert answer.log.unknown["other names"] == 20
    assert answer.holders[0].grants[0].calls == 2
    assert "different calls were seen" in answer.holders[0].least.why_not


def test_texts_that_no_encoding_holds_are_told(capsys):
    text = manifest(["kv(?env) @ ?agent : read : a.*"])
    line = {"time": "2026-11-20T10:00:00Z", "outcome": "admitted", "target": "kv(?env) : read : a.1"}
    lines = [json.dumps({**line, "agent": agent}).encode() for agent in ("\ud800", 'Cart("\ud800")')]
    answer = answer_to(text, lines)
    assert answer.log.used + answer.log.bad_count + sum(answer.log.unknown.values()) == 2
    json.dumps(unused_json(answer), ensure_ascii=False).encode("utf-8")
    unused_text(answer).encode("utf-8")
