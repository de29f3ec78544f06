"""Every way in which authority or data moves, on small deployments that were judged by hand."""

import pytest
import yaml
from reach_deployments import CASES, deployed

from policyd.usecases.reach import reach_to
from policyd.usecases.reach_hops import WAYS

ALL = yaml.safe_load((CASES / "ways.yaml").read_text())


@pytest.mark.parametrize("case", ALL, ids=[case["title"] for case in ALL])
def test_who_gets_there(case):
    found = deployed(case)
    asked = {"assume": case.get("assume", ())}
    if "ways" in case:
        answer = reach_to(found, case["to"], start=case["from"], **asked)
        assert answer.word == "path"
        assert [hop.way.id for hop in answer.chains[0].hops] == case["ways"]
    for name in case.get("not_from", ()):
        answer = reach_to(found, case["to"], start=name, **asked)
        assert (answer.word, answer.undecided) == ("none", ()), name


@pytest.mark.parametrize("case", [case for case in ALL if "ways" in case], ids=lambda case: case["title"])
def test_every_call_of_a_chain_is_admitted(case):
    """The exact evaluator is asked for the calls of each hop; ways that ask no card say where they are opened."""
    found = deployed(case)
    answer = reach_to(found, case["to"], start=case["from"], assume=case.get("assume", ()))
    for hop in answer.chains[0].hops:
        assert hop.calls or hop.way.id == "entrance"
        assert all(call.grants for call in hop.calls)


def test_every_way_has_a_case():
    shown = {way for case in ALL for way in case.get("ways", ())}
    assert shown | {"deploy"} == set(WAYS)
