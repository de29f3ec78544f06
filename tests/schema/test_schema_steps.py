"""Steps of work: taken together however bounds are nested, and never the reason for another answer."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial

import pytest
from schema.shorthand import graph

from policyd.cli.main import run
from policyd.core.edition import Rules
from policyd.core.schema.json_faults import NEWEST_FORM
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.steps import OutOfStepsError, spend, within
from policyd.core.tools.chain import Verdict
from policyd.core.tools.profile import Profile
from policyd.findings import InputError
from policyd.usecases import schema_compare, tool_diff, value_check
from policyd.usecases.schema_compare import TOO_MUCH, Relation, answer_json, answer_lines, compare_schemas, well_formed
from policyd.usecases.tool_diff import diff_json, diff_lines, diff_tools
from policyd.usecases.tool_documents import tools_of
from policyd.usecases.value_check import check_value

TREE = {"T": "record{a: list<&T>, b: variant(x: &T | y), c: map<string, enum(p|q)>}"}
OTHER = {"T": "record{a: list<&T>, b: variant(y | x: &T | z), c: map<string, enum(q)>}"}
PAIRS = {
    "the same": (graph("&T", TREE), graph("&T", TREE)),
    "parted": (graph("&T", TREE), graph("&T", OTHER)),
    "a leaf": (graph("u8"), graph("u8(..3)")),
    "a union": (
        graph('union(a: string if prefix("x"))'),
        graph('union(a: string if prefix("x") | b: string if prefix("y"))'),
    ),
}
BUDGETS = (*range(40), 60, 100, 200, 400, 1000)
TOOL = {"version": "1", "commands": {"go": {"result": {"type": "variant(a)", "formatters": ["text"]}}}}
WIDER = {"version": "2", "commands": {"go": {"result": {"type": "variant(a | b)", "formatters": ["text"]}}}}


def test_without_a_bound_everything_may_be_spent():
    """Nothing is counted."""
    spend(10**9)


def test_all_steps_may_be_taken_and_not_one_more():
    """The last one is still there."""
    with within(3):
        spend(3)
    with pytest.raises(OutOfStepsError), within(3):
        spend(4)


def test_bounds_within_each_other_count_together():
    """An inner bound is no way around the outer one, and what is taken inside is taken outside."""
    with within(10):
        with within(1000):
            spend(6)
        with pytest.raises(OutOfStepsError), within(1000):
            spend(5)
    with within(10):
        with pytest.raises(OutOfStepsError), within(2):
            spend(3)
        spend(7)
    spend(10**9)


def test_threads_and_contexts_have_bounds_of_their_own():
    """What one question spends is not taken from another that runs beside it."""
    with within(5), ThreadPoolExecutor(1) as others:
        others.submit(spend, 10**9).result()
        Context().run(spend, 10**9)
        spend(5)


@pytest.mark.parametrize("relation", Relation, ids=lambda relation: relation.value)
@pytest.mark.parametrize("name", PAIRS)
def test_fewer_steps_give_the_same_answer_or_none(name, relation):
    """With every budget: undecided, or the verdict that there is without a bound; more steps never take it back."""
    source, target = PAIRS[name]
    whole = compare_schemas(source, target, relation)
    answers = [compare_schemas(source, target, relation, steps) for steps in BUDGETS]
    assert {answer.verdict for answer in answers} <= {"undecided", whole.verdict}
    decided = [not answer.is_undecided for answer in answers]
    assert decided == sorted(decided)
    assert answers[0].is_undecided
    assert answers[-1] == whole
    assert all(not answer.shown and not answer.risks for answer in answers if answer.is_undecided)


def test_an_undecided_comparison_says_why():
    """In both forms, and not that they part somewhere."""
    source, target = PAIRS["parted"]
    answer = compare_schemas(source, target, Relation.PROJECT, 1)
    assert answer_lines(answer, source, target) == ["source projects to target: undecided", TOO_MUCH]
    told = answer_json(answer, source, target)
    assert (told["verdict"], told["reason"]) == ("undecided", TOO_MUCH)
    assert not {"path", "here", "witness", "noWitness"} & told.keys()


def test_a_schema_that_cannot_be_checked_in_time_is_refused():
    """It is not taken to be well-formed."""
    with pytest.raises(InputError, match="too large to be checked"):
        well_formed(PAIRS["parted"][0], "source", 3)


def test_a_value_that_cannot_be_looked_at_in_time_is_undecided():
    """Neither valid nor invalid."""
    found = check_value("[1,2,300]", graph("list<u8>"), NEWEST_FORM, steps=2)
    assert (found.verdict, [b.rule for b in found.broken]) == (Validity.UNDECIDED, ["OutOfSteps"])
    assert check_value("[1,2,300]", graph("list<u8>"), NEWEST_FORM).verdict is Validity.INVALID


def test_tools_that_cannot_be_compared_in_time_are_undecided():
    """With every budget each mode and the callers: undecided, or what there is without a bound."""
    old, new = tools_of(TOOL, WIDER)
    profile = Profile.of(Rules())
    whole = diff_tools(old, new, profile)
    for steps in BUDGETS:
        found = diff_tools(old, new, profile, steps)
        for answer, known in zip(found.modes, whole.modes, strict=True):
            assert answer.verdict in (Verdict.UNDECIDED, known.verdict)
        assert found.caller_verdict in (Verdict.UNDECIDED, whole.caller_verdict)
    none = diff_tools(old, new, profile, 0)
    assert none.is_undecided
    assert {mode["verdict"] for mode in diff_json(none)["modes"]} == {"undecided"}
    assert [line.strip() for line in diff_lines(none)].count(TOO_MUCH) == 4


@pytest.mark.parametrize(
    ("module", "name", "words"),
    [
        (schema_compare, "compare_schemas", ["schema", "compare", "a.txt", "a.txt"]),
        (value_check, "check_value", ["value", "check", "a.txt", "v.json"]),
        (tool_diff, "diff_tools", ["tool", "diff", "t.json", "t.json"]),
    ],
)
def test_the_command_line_says_undecided(module, name, words, tmp_path, monkeypatch, capsys):
    """Exit 3, in text and JSON."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("list<u8>")
    (tmp_path / "v.json").write_text("[1]")
    (tmp_path / "t.json").write_text(json.dumps(TOOL))
    monkeypatch.setattr(module, name, partial(getattr(module, name), steps=0))
    for form in ("text", "json"):
        assert run([*words, "--format", form]) == 3
        assert "undecided" in capsys.readouterr().out
