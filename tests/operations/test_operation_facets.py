"""The three facets of operations, case by case."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from operation_questions import CART, PORTS, asked, call_of, context, wallet_of
from ruamel.yaml import YAML

from policyd.core.admission import Facet, FacetName, HeldCard, Reach, Wallet, admit_operation_type, look_at_self
from policyd.core.cards import Timestamp
from policyd.core.grants import account_holder

CASES: list[dict[str, Any]] = YAML(typ="safe").load(
    Path(__file__).parent.parent / "cases" / "operations" / "facets.yaml"
)


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_facets(case: dict[str, Any]) -> None:
    """Each facet, the reasons that are named, and how long the answer holds."""
    answer = asked({"edition": "next", **case})
    verdict, expect = answer.verdict, case["expect"]
    for name in FacetName:
        if name.value in expect:
            assert verdict.of(name).value == expect[name.value], name
        assert verdict.because(name), "every facet has a reason"
    codes = {reason.why.value for reason in verdict.reasons}
    assert codes >= set(expect.get("why", []))
    assert not codes & set(expect.get("why-not", []))
    if "targets" in expect:
        assert [item.asked.target.text for item in answer.targets] == expect["targets"]
    if "alternatives" in expect:
        assert {g.value: f.value for g, f in answer.alternatives} == expect["alternatives"]
    if "until" in expect:
        assert verdict.holds_until == Timestamp.parse(expect["until"])


@pytest.mark.parametrize(
    "lower, operation, arguments, admitted, reach",
    [
        (["kv(?env) : read : *.**"], "kv.get", {"bucket": "s", "key": "a"}, "yes", Reach.ALL),
        (["agent(?agent) : view :"], "agent.get-self-metadata", {}, "yes", Reach.ALL),
        (["agent(?env/shop:cart/Cart(*)) : view :"], "agent.get-self-metadata", {}, "yes", Reach.ORDINARY),
        (['env(?env/shop:cart/Cart("7")) : read : A'], "env.get", {"names": "A"}, "no", Reach.SOME),
        ([], "wasi.clocks", {}, "yes", Reach.ALL),
        ([], "fs.stat-at", {"path": "/.."}, "no", Reach.ALL),
        (["agent(?agent) : fork :"], "agent.fork", {"agent": 'Cart("1")'}, "no", Reach.SOME),
    ],
)
def test_a_type_is_answered_for_its_instances(
    lower: list[str], operation: str, arguments: dict[str, Any], admitted: str, reach: Reach
) -> None:
    """While only the type is known, the answer says for whom it holds, with a refused instance as witness."""
    case = {"operation": operation, "arguments": arguments, "cards": [{"initial": True, "lower": lower}], "agent": None}
    found, full = admit_operation_type(wallet_of(case), call_of(case), PORTS)
    assert (found.verdict.admitted.value, found.reach) == (admitted, reach)
    assert full.verdict == found.verdict
    assert found.instance.startswith("Cart(")


def test_one_agent_is_answered_as_itself() -> None:
    case = {"operation": "agent.fork", "cards": [{"initial": True}]}
    found, full = admit_operation_type(wallet_of(case), call_of(case), PORTS)
    assert (found.reach, found.instance) == (Reach.ONE, CART)
    assert found.verdict == full.verdict == asked({**case, "edition": "next"}).verdict


@pytest.mark.parametrize(
    "cards, granted, let_through",
    [
        ([{"initial": True, "default": True}], True, True),
        ([{"initial": True}, {"lower": ["agent(?agent) : view : *"]}], True, True),
        ([{"initial": True}], False, True),
        ([{"initial": True, "default": True, "upper": ["network() : * : *"]}], True, False),
        ([{"initial": True, "default": True}, {"upper": ["network() : * : *"]}], True, False),
        ([{"initial": True, "default": True}, {"upper-not": ["agent(?agent) : view : *"]}], True, False),
        ([{"initial": True, "upper": ["network() : * : *"]}], False, False),
    ],
)
def test_both_conditions_of_self_view_are_shown(cards: list[Any], granted: bool, let_through: bool) -> None:
    """Floor and ceilings apart, the ceiling of the initial card first, and together what the operation answers."""
    case = {"operation": "agent.get-self-metadata", "cards": cards}
    view = look_at_self(wallet_of(case))
    assert view is not None
    assert (view.is_granted, view.is_let_through) == (granted, let_through)
    assert len(view.ceilings) == len(cards)
    assert view.ceilings[0].is_initial
    assert view.is_admitted == (asked(case).verdict.admitted is Facet.YES)


def test_an_account_has_no_self_view() -> None:
    assert look_at_self(Wallet.of(account_holder("dev@acme.io"), ())) is None


def test_the_order_of_cards_decides_nothing() -> None:
    """The same cards under other ids give the same facets."""
    case = {"operation": "agent.get-self-metadata", "cards": [{"initial": True, "default": True}, {"upper": []}]}
    wallet = wallet_of(case)
    turned = Wallet.of(wallet.holder, tuple(HeldCard(h.card, h.is_initial) for h in reversed(wallet.cards)), context())
    assert look_at_self(turned) == look_at_self(wallet)
