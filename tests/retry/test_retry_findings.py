"""The worked examples on findings, and small rule sets of the same kinds."""

from typing import Any

import pytest
from retry_audit import RETRY_RULES, edition_of, told
from retry_notation import case_ids, load_cases, rule_of

from policyd.core.edition import Rules
from policyd.core.retry import Overlay


@pytest.mark.parametrize("case", load_cases("findings.yaml"), ids=case_ids)
def test_findings(case: dict[str, Any]) -> None:
    """Exactly these codes are told, as bad as the case says, each about the rules that it names."""
    found = told(case["rules"], edition_of(case))
    assert {f.code for f in found} == set(case["told"]), [(f.code, f.message) for f in found]
    for code, expected in case["told"].items():
        severity, *names = expected.split()
        own = [f for f in found if f.code == code]
        assert {f.severity.value for f in own} == {severity}
        for name in names:
            assert any(f"`{name}`" in f.message for f in own), (code, name)
    if "words" in case:
        assert any(case["words"] in f.message for f in found)


def test_existing_policy_is_not_replaced() -> None:
    """A policy of the environment with the same name and other contents is told, one with the same is not."""
    rule = "rpc@5 | and(exists verb, verb = invoke) | cb(3,per(1s))"
    other = rule_of("rpc@5 | and(exists verb, verb = invoke) | cb(4,per(1s))")
    assert [f.code for f in told([rule], Rules(), existing=[other])] == ["RETRY021"]
    assert told([rule], Rules(), existing=[rule_of(rule)]) == ()


def test_overlay_hides_or_pins() -> None:
    """A name that an agent removed or set for itself is told."""
    rule = "rpc@5 | and(exists verb, verb = invoke) | cb(3,per(1s))"
    assert [f.code for f in told([rule], Rules(), overlay=Overlay((), frozenset({"rpc"})))] == ["RETRY022"]
    pinned = told([rule], Rules(), overlay=Overlay((rule_of(rule),)))
    assert [f.code for f in pinned] == ["RETRY022"]
    assert "own copy" in pinned[0].message


def test_removed_default_is_told() -> None:
    """The removal of the built-in rule is told where any policy stands."""
    rule = "rpc@5 | and(exists verb, verb = invoke) | cb(3,per(1s))"
    assert "RETRY013" in {f.code for f in told([rule], Rules(), overlay=Overlay((), frozenset({"default"})))}


def test_every_label_has_its_rule() -> None:
    """The 34 conditions of the rules' document are 34 rules, in its order."""
    assert [rule.code for rule in RETRY_RULES] == [f"RETRY{n:03}" for n in range(1, 35)]
