"""The worked examples of the operations, row by row: targets, verdicts and what is remarked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from operation_questions import CART, asked, target_text
from ruamel.yaml import YAML

from policyd.core.admission import FacetName, OperationVerdict, Why
from policyd.core.operations import Combine

EXAMPLES = Path(__file__).parent.parent / "cases" / "operations" / "worked-examples.yaml"
CASES: list[dict[str, Any]] = YAML(typ="safe").load(EXAMPLES)


def cases_with(member: str) -> list[Any]:
    """The cases that expect something of this kind."""
    return [pytest.param(c, id=f"{c['row']}: {c['title']}") for c in CASES if member in c["expect"]]


def verdict_of(case: dict[str, Any]) -> Any:
    """The verdict that a case is about: of the whole, or of one target."""
    answer = asked(case)
    about = case["expect"].get("of")
    if about is None:
        return answer.verdict
    (found,) = [t.verdict for t in answer.targets if t.asked.target.text == target_text(about)]
    return found


def test_every_row_is_there() -> None:
    assert sorted({case["row"] for case in CASES}) == list(range(1, 121))


@pytest.mark.parametrize("case", cases_with("targets"))
def test_targets(case: dict[str, Any]) -> None:
    """The targets of the row, in its order; rows about one step of several name a part of them."""
    texts = [item.asked.target.text for item in asked(case).targets]
    expected = [target_text(text, case.get("agent", CART)) for text in case["expect"]["targets"]]
    if case["expect"].get("partial"):
        texts = [text for text in texts if text in expected]
    assert texts == expected


@pytest.mark.parametrize("case", cases_with("admitted"))
def test_admission(case: dict[str, Any]) -> None:
    assert verdict_of(case).admitted.value == case["expect"]["admitted"]


@pytest.mark.parametrize("case", cases_with("because"))
def test_the_reason_of_a_denial(case: dict[str, Any]) -> None:
    """The floor fails, or a ceiling of the card that the row names."""
    wanted = case["expect"]["because"]
    answer = asked(case)
    verdict = verdict_of(case) if "of" in case["expect"] else refused(answer).verdict
    reasons = verdict.because(FacetName.ADMITTED)
    lends = any(reason.why is Why.GRANTED for reason in reasons)
    if wanted == "floor":
        assert not lends
        return
    sign, card = wanted.split()
    why = Why.WITHHELD if sign == "upper+" else Why.CEILING_FORBIDS
    assert lends
    assert {(reason.why, reason.card) for reason in reasons if reason.why is not Why.GRANTED} == {(why, card)}


def refused(answer: OperationVerdict) -> Any:
    found = answer.first_refused
    assert found is not None
    return found


@pytest.mark.parametrize("case", cases_with("first-refused"))
def test_the_target_that_is_named(case: dict[str, Any]) -> None:
    assert refused(asked(case)).asked.target.text == target_text(case["expect"]["first-refused"])


@pytest.mark.parametrize("case", cases_with("refused"))
def test_no_target_can_be_made(case: dict[str, Any]) -> None:
    """Refused before any card is asked, so that no wider grant would help."""
    for cards in (case["cards"], [{"lower": [], "default": True, "initial": True}]):
        verdict = asked({**case, "cards": cards}).verdict
        (reason,) = verdict.because(FacetName.ADMITTED)
        assert reason.why is Why.TARGET_REFUSED
        assert verdict.admitted.value == "no"
        assert case["expect"]["refused"] in REFUSALS
        assert REFUSALS[case["expect"]["refused"]] in reason.detail


REFUSALS = {
    "address": "IPv4",
    "environment": "another environment",
    "path": "guest path",
    "resource": "env resource",
    "sql": "cannot be extracted safely",
    "url": "outbound URL",
}


@pytest.mark.parametrize("case", cases_with("entries"))
def test_entries_stay_or_go_by_themselves(case: dict[str, Any]) -> None:
    answer = asked(case)
    assert answer.operation.combine is Combine.FILTER
    assert [item.verdict.admitted.value for item in answer.targets] == case["expect"]["entries"]


@pytest.mark.parametrize("case", cases_with("disguise"))
def test_how_a_service_tells_it(case: dict[str, Any]) -> None:
    assert refused(asked(case)).asked.template.disguise == case["expect"]["disguise"]


@pytest.mark.parametrize("case", cases_with("surface"))
def test_how_a_guest_sees_it(case: dict[str, Any]) -> None:
    denial = asked(case).operation.denial
    assert denial is not None
    surfaces = dict(denial.surfaces)
    for surface, text in case["expect"]["surface"].items():
        assert text in surfaces[surface]


@pytest.mark.parametrize("case", cases_with("remark"))
def test_what_is_remarked(case: dict[str, Any]) -> None:
    assert any(case["expect"]["remark"] in remark for remark in asked(case).operation.remarks)


@pytest.mark.parametrize("case", cases_with("replay-stable"))
def test_replay(case: dict[str, Any]) -> None:
    assert asked(case).verdict.replay_stable.value == case["expect"]["replay-stable"]


@pytest.mark.parametrize("case", cases_with("bounded"))
def test_bounded(case: dict[str, Any]) -> None:
    assert asked(case).verdict.bounded.value == case["expect"]["bounded"]
