"""Operations and explanations about a type speak of its agents with wallets of their own, on every way in."""

from __future__ import annotations

import json

import pytest
from test_own_wallets import KEY, MANIFEST, WALLETS, answer, places

from policyd.cli.main import run

__all__ = ["MANIFEST", "WALLETS", "places"]

REVEAL = ["--op", "secret.reveal", "--arg", "key=k"]
REVEALED = 'SecretAccessError::Reveal(SecretError::Unavailable("secret permission denied"))'


def told(item: dict) -> str:
    return json.dumps(item, ensure_ascii=False).replace('\\"', '"')


def test_an_operation_of_a_type_is_not_admitted_where_one_agent_is_not(places, capsys):
    found = answer(capsys, "check", places[1], *REVEAL, "--agent", "Cart")
    assert (found["admitted"], found["holdsFor"]) == ("no", "some instances")
    assert 'Cart("poor")' in told(found["reasons"])
    assert [t["admitted"] for t in found["targets"]] == ["no"]
    assert "holds for every instance" not in told(found)
    assert answer(capsys, "check", places[0], *REVEAL, "--agent", "Cart")["admitted"] == "yes"
    assert answer(capsys, "check", places[1], *REVEAL, "--agent", 'Cart("other")')["admitted"] == "yes"
    assert answer(capsys, "check", places[1], *REVEAL, "--agent", 'Cart("poor")')["admitted"] == "no"


def test_an_operation_of_a_type_names_the_agents_that_may(places, capsys):
    found = answer(capsys, "check", places[1], *REVEAL, "--agent", "Bare")
    assert (found["admitted"], found["exceptions"]) == ("no", ['Bare("rich")'])
    assert "holds for every instance" not in told(found)


def test_check_says_the_same_of_an_operation_and_of_its_target(places, capsys):
    for agent in ("Cart", "Bare", 'Cart("poor")', 'Bare("rich")', 'Bare("x")'):
        one = answer(capsys, "check", places[1], *REVEAL, "--agent", agent)
        other = answer(capsys, "check", places[1], KEY, "--agent", agent)
        assert [one[n] for n in ("admitted", "holdsFor", "exceptions")] == [
            other[n] for n in ("admitted", "holdsFor", "exceptions")
        ], agent


@pytest.mark.parametrize("asked", [REVEAL, [KEY]])
def test_a_question_about_a_type_is_explained_by_the_agent_that_may_not(places, capsys, asked):
    found = answer(capsys, "explain", places[1], *asked, "--agent", "Cart")
    (item,) = found["denials"]
    assert (found["outcome"], item["verdict"]["admitted"]) == ("explained", "no")
    assert item["sentence"].startswith('Cart("poor") may not')
    assert any("agents of the type without one may" in note for note in item["notes"])
    assert "every instance" not in told(item)


def test_a_denial_of_a_type_that_only_one_agent_can_have_met_is_not_from_elsewhere(places, capsys):
    words = ["explain", places[1], *REVEAL, "--error", REVEALED, "--agent", "Cart"]
    assert run(words) == 3
    assert capsys.readouterr().out.startswith("it depends on which agent was refused")
    (item,) = answer(capsys, *words)["denials"]
    assert 'Cart("poor")' in item["sentence"]
    assert item["verdict"] is None
    assert run([*words[:-1], 'Cart("other")']) == 0
    assert "came from elsewhere" in capsys.readouterr().out


@pytest.mark.parametrize("asked", [REVEAL, [KEY], [*REVEAL, "--error", REVEALED]])
def test_an_agent_that_may_is_named_beside_a_type_that_may_not(places, capsys, asked):
    found = answer(capsys, "explain", places[1], *asked, "--agent", "Bare")
    (item,) = found["denials"]
    assert item["sentence"].startswith("Bare may not")
    assert any('Bare("rich")` may' in note or 'Bare("rich")' in note for note in item["notes"])
    assert "every instance" not in told(item)


def test_agents_that_agree_are_named(places, capsys):
    (item,) = answer(capsys, "explain", places[1], "kv(?env) : read : a.b", "--agent", "Cart")["denials"]
    assert any("they get the same answer" in note for note in item["notes"])
