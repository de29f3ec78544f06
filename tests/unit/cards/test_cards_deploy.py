"""Initial cards against the deployer's cards, case by case (cards 8.4, 10.1; G301 to G309, G369 to G372)."""

import json

import pytest
from case_files import CASES as FOLDER
from case_files import load_cases

from policyd.core.cards import (
    Bounds,
    Card,
    CardId,
    DeployAccepted,
    DeployRefused,
    ManagedBy,
    Timestamp,
    account_root_bounds,
    bounds_after_update,
    default_grants,
    validate_initial_card,
)
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.syntax import Form, parse_grants, parse_recipient

SHORT = ("l+", "l-", "u+", "u-")
LONG = ("lower_positive", "lower_negative", "upper_positive", "upper_negative")
HOLDER = "ana@lab.io/atlas/qa/geo:core/Mapper"
GOLDEN = [json.loads(line) for line in (FOLDER / "cards" / "deploy.jsonl").read_text(encoding="ascii").splitlines()]


def bounds(lists, form, rules, names=SHORT):
    return Bounds(*(tuple(g for t in lists.get(n, ()) for g in parse_grants(t, form, rules)) for n in names))


def uuid(number):
    return CardId(f"00000000-0000-0000-0000-{number:012d}")


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in GOLDEN])
def test_golden_deploys(case):
    deployer = [Card(CardId(c["id"]), bounds(c, Form.CONCRETE, SNAPSHOT, LONG)) for c in case["deployer"]]
    outcome = validate_initial_card(bounds(case["initial"], Form.POLYMORPHIC, SNAPSHOT, LONG), deployer, "Mapper")
    if case["expect"]["ok"]:
        assert outcome.parents == tuple(case["expect"]["witness"])
    else:
        assert outcome.cause.kind == case["expect"]["error"]
        assert outcome.cause.grant.text == case["expect"]["grant"]
        assert outcome.status == 400


CASES = [
    pytest.param(case, rules, id=f"{case['id']}-{rules.label}")
    for case in load_cases("cards/deploys.yaml")
    for rules in (SNAPSHOT, NEXT)
    if case.get("edition", rules.label) == rules.label
]


@pytest.mark.parametrize("case, rules", CASES)
def test_initial_cards(case, rules):
    deployer = [
        Card(uuid(n), account_root_bounds("ana@lab.io") if raw == "root" else bounds(raw, Form.CONCRETE, rules))
        for n, raw in enumerate(case["deployer"], 1)
    ]
    if case["initial"] == "default":
        initial = Bounds(default_grants(parse_recipient(HOLDER, rules=rules)))
    else:
        initial = bounds(case["initial"], Form.POLYMORPHIC, rules)
    outcome = validate_initial_card(initial, deployer, None if case.get("component") else "Mapper")
    expect = case["expect"]
    if "parents" in expect:
        assert isinstance(outcome, DeployAccepted)
        assert outcome.parents == tuple(map(uuid, expect["parents"]))
        assert outcome.bounds == initial
        return
    assert isinstance(outcome, DeployRefused)
    assert outcome.text == expect.get("text", outcome.text)
    if "refused" in expect:
        assert (outcome.cause.kind, outcome.cause.rule) == (expect["refused"], expect["rule"])
    if "grant" in expect:
        assert outcome.cause.grant.text == expect["grant"]


def test_the_stored_card_is_a_template_that_never_expires():
    """D4: parents are the witnesses, the lists stay polymorphic."""
    initial = bounds({"l+": [f"env(?agent) @ {HOLDER} : read : *"]}, Form.POLYMORPHIC, SNAPSHOT)
    outcome = validate_initial_card(initial, [Card(uuid(1), account_root_bounds("ana@lab.io"))], "Mapper")
    card = outcome.card(uuid(2), Timestamp(7), str(uuid(3)), 4, "Mapper")
    assert (card.parents, card.bounds, card.is_polymorphic) == ((uuid(1),), initial, True)
    assert (card.expires_at, card.is_system, card.created_at) == (None, False, Timestamp(7))
    members = (("componentId", str(uuid(3))), ("componentRevision", 4), ("agentType", "Mapper"))
    assert card.managed_by == ManagedBy("AgentInitial", members)
    component = outcome.card(uuid(2), Timestamp(7), str(uuid(3)), 4, None)
    assert component.managed_by == ManagedBy("ComponentInitial", members[:2])


def test_an_update_without_permissions_keeps_the_card():
    """G371, and its converse."""
    stored, given = Bounds(default_grants(parse_recipient(HOLDER))), Bounds()
    assert bounds_after_update(stored, None, "Mapper") is stored
    assert bounds_after_update(stored, given, "Mapper") is given
    assert bounds_after_update(None, given, "Mapper") is given


def test_an_update_with_a_new_agent_type_needs_permissions():
    """G372."""
    assert bounds_after_update(None, None, "Router") == DeployRefused(
        "Update introducing new agent type 'Router' is missing initial permissions in its provision config", 400
    )
