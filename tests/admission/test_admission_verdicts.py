"""Verdicts: what is told of a decision, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from policyd.core.admission import Call, FacetName, HeldCard, TypeAnswer, Wallet, admit_type
from policyd.core.cards import Bounds, Card, CardId, ScopeCard, Timestamp
from policyd.core.grants import AgentContext, Grant
from policyd.syntax import Form, parse_grants, parse_recipient, parse_target

CASES = Path(__file__).parent.parent / "cases" / "admission"


def read_cases() -> list[Any]:
    """Every case of every file, named after its title."""
    yaml = YAML(typ="safe")
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        found += [pytest.param(case, id=f"{path.stem}: {case['title']}") for case in yaml.load(path)]
    return found


def grants(texts: list[str], form: Form) -> tuple[Grant, ...]:
    return tuple(g for text in texts for g in parse_grants(text, form))


def bounds_of(raw: dict[str, list[str]], form: Form) -> Bounds:
    return Bounds(*(grants(raw.get(name, []), form) for name in ("lower", "lower-not", "upper", "upper-not")))


def wallet_of(case: dict[str, Any]) -> Wallet:
    account, app, env, component, agent_type = case["holder"].split("/")
    context = AgentContext(account, app, env, component, agent_type, case.get("agent"))
    held = []
    for name, raw in case.get("cards", {}).items():
        template = bool(raw.get("template"))
        expires = Timestamp.parse(raw["expires"]) if "expires" in raw else None
        card = Card(
            CardId(name), bounds_of(raw, Form.POLYMORPHIC if template else Form.CONCRETE), template, expires_at=expires
        )
        held.append(HeldCard(card, bool(raw.get("initial")), raw.get("installed-by", "self") == "self"))
    revoked = frozenset(CardId(name) for name in case.get("revoked", []))
    holder = parse_recipient(case["holder"])
    return Wallet.of(holder, tuple(held), context, case.get("recorded-account", ""), revoked)


def asked(case: dict[str, Any]) -> TypeAnswer:
    wallet = wallet_of(case)
    assert wallet.context is not None
    scope = None
    if "scope" in case:
        scope = ScopeCard(CardId("scope"), bounds_of(case["scope"], Form.CONCRETE), (CardId("root"),))
    target = parse_target(case["call"], slots=True).filled(wallet.context)
    at = Timestamp.parse(case["at"]) if "at" in case else None
    return admit_type(wallet, Call(target, at, scope))


@pytest.mark.parametrize("case", read_cases())
def test_verdict(case: dict[str, Any]) -> None:
    """The facets and the codes of the reasons are as the case says, card by card where it names them."""
    answer = asked(case)
    verdict = answer.verdict
    expect = case["expect"]
    for name in FacetName:
        if name.value in expect:
            assert verdict.of(name).value == expect[name.value], verdict.reasons
    if "reasons" in expect:
        told = [
            {"code": r.why.value, **({"card": str(r.card)} if r.card else {})}
            for r in verdict.because(FacetName.ADMITTED)
        ]
        for wanted in expect["reasons"]:
            assert any(wanted.items() <= given.items() for given in told), told
        if expect.get("only"):
            assert len(told) == len(expect["reasons"]), told
    if "bounded-because" in expect:
        assert expect["bounded-because"] in [r.why.value for r in verdict.because(FacetName.BOUNDED)]
    if "reach" in expect:
        assert answer.reach.value == expect["reach"]
    if "until" in expect:
        assert (verdict.holds_until.text if verdict.holds_until else None) == expect["until"]
    if "from" in expect:
        assert (verdict.holds_from.text if verdict.holds_from else None) == expect["from"]
