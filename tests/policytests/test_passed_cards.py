"""A grant for somebody else lends its own holder nothing, and still is a change that tests have to notice."""

import json

import pytest

from policyd.cli.main import run

MANIFEST = """manifestVersion: 1.6.0
app: shop
environments: {{prod: {{server: cloud, account: acme@x.io}}}}
components: {{'a:b': {{dir: a, templates: rust}}}}
agents:
  Ant:
    initialCard:
      lowerBound: {{positive: ["{own}", "secret(?env) @ acme@x.io/shop/prod/a:b/Bee : reveal : a.b"]}}
  Bee: {{initialCard: {{lowerBound: {{positive: ["env(?agent) @ ?agent : read : A"]}}}}}}
"""
PASSING = "card(?account) @ ?agent : * : *"
KEEPING = "env(?agent) @ ?agent : read : A"
REACH = {"name": "r", "agent": "Bee", "reach": [{"to": "secret(?env) : reveal : a.b", "expect": "path"}]}


def mutated(folder, monkeypatch, capsys, own, *more):
    """The JSON about all changes of the manifest."""
    monkeypatch.chdir(folder)
    (folder / "golem.yaml").write_text(MANIFEST.format(own=own), encoding="utf-8")
    tests = [{"name": "a", "agent": "Ant", "deny": ["secret(?env) : reveal : a.b"]}, *more]
    (folder / "a.test.yaml").write_text(json.dumps({"manifest": "golem.yaml", "tests": tests}), encoding="utf-8")
    run(["test", "a.test.yaml", "--mutate", "--format", "json"])
    return json.loads(capsys.readouterr().out)["mutation"]


def dropped(mutation):
    """What is told of leaving out the grant for Bee."""
    return [one for one in mutation["mutants"] if "/Bee : reveal" in one["grant"] and one["change"] == "dropped"]


def test_a_change_for_a_receiver_is_named(tmp_path, monkeypatch, capsys):
    (one,) = dropped(mutated(tmp_path, monkeypatch, capsys, PASSING))
    assert one["what"] == "survives"
    assert one["witness"] == "secret(?env) : reveal : a.b (by Bee with a card of Ant)"


def test_a_test_of_reach_notices_it(tmp_path, monkeypatch, capsys):
    assert dropped(mutated(tmp_path, monkeypatch, capsys, PASSING, REACH)) == []


@pytest.mark.parametrize("verb", ["revoke", "inspect"])
def test_where_nobody_passes_cards_it_makes_no_difference(verb, tmp_path, monkeypatch, capsys):
    for own in (KEEPING, f"card(?account) @ ?agent : {verb} : *"):
        assert dropped(mutated(tmp_path, monkeypatch, capsys, own)) == []
