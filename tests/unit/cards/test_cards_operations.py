"""Dry runs of the guest operations, case by case (cards 6.2 to 6.7, A.1; G338 to G353)."""

from dataclasses import replace

import pytest
from case_files import load_cases

from policyd.core.cards import (
    Accepted,
    Bound,
    Bounds,
    Caller,
    Card,
    CardId,
    Change,
    Effect,
    Ledger,
    ManagedBy,
    Refused,
    ScopeCard,
    Timestamp,
    derive,
    derive_from_wallet,
    derive_scope,
    install,
    revoke,
)
from policyd.core.edition import NEXT, SNAPSHOT
from policyd.core.grants import AgentContext
from policyd.syntax import Form, parse_grants
from policyd.syntax.wanted import wanted_bounds

DATA = load_cases("cards/operations.yaml")
NOW = Timestamp.parse("2026-12-24T00:00:00Z")
SELF = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", 'Mapper("n1")')
LISTS = dict(zip(("l+", "l-", "u+", "u-"), Bound, strict=True))


def uuid(number):
    return CardId(f"00000000-0000-0000-0000-{number:012d}")


def made(name):
    raw = DATA["cards"][name]
    form = Form.POLYMORPHIC if raw.get("template") else Form.CONCRETE
    bounds = Bounds(*(tuple(g for t in raw.get(key, ()) for g in parse_grants(t, form)) for key in LISTS))
    if "scope" in raw:
        return ScopeCard(uuid(raw["id"]), bounds, tuple(map(uuid, raw["scope"])))
    return Card(
        uuid(raw["id"]),
        bounds,
        is_polymorphic=bool(raw.get("template")),
        parents=tuple(uuid(DATA["cards"][p]["id"]) for p in raw.get("parents", ())),
        expires_at=Timestamp.parse(raw["expires"]) if "expires" in raw else None,
        is_system=raw.get("system", False),
        managed_by=ManagedBy(raw["managed"]) if "managed" in raw else None,
    )


def target_of(name):
    match name:
        case "account":
            return None
        case "unreadable":
            return Refused("invalid-recipient", "invalid install target agent ID: Router(")
        case "self":
            return SELF
        case "self-type":
            return replace(SELF, agent_id='Mapper("n2")')
        case _:
            return replace(SELF, agent_type=name, agent_id=f'{name}("r1")')


def run(case, rules):
    wallet = tuple(made(name) for name in case["wallet"])
    handles = [case[key] for key in ("parent", "card") if key in case] + case.get("parents", [])
    scope = made(case["scope"]) if "scope" in case else None
    stored = {name: made(name) for name in [*case["wallet"], *case.get("stored", ()), *handles]}
    absent = case.get("unknown", [])
    ledger = Ledger.of(
        [c for n, c in stored.items() if isinstance(c, Card) and n not in absent and n not in case.get("revoked", ())],
        [made(name).id for name in case.get("revoked", ())],
    )
    caller = Caller(
        None if case.get("agent") == "none" else SELF,
        wallet,
        NOW,
        account=case.get("account", ""),
        scope=scope,
        minted=tuple(made(name) for name in case.get("minted", ())),
        has_invocation=not case.get("idle", False),
        is_unrestricted=case.get("plugin", False),
    )

    def handle(name):
        card = made(name)
        return replace(card, is_system=not card.is_system) if name in case.get("changed", ()) else card

    lists = {b: [tuple(i) if isinstance(i, list) else i for i in case.get(key, ())] for key, b in LISTS.items()}
    wanted, lifespan, fresh = wanted_bounds(lists, rules), case.get("lifespan"), uuid(99)
    match case["operation"]:
        case "derive":
            return derive(caller, ledger, handle(case["parent"]), wanted, lifespan, fresh, rules)
        case "derive-from-wallet":
            return derive_from_wallet(caller, ledger, wanted, lifespan, fresh, rules)
        case "derive-scope":
            return derive_scope(caller, ledger, [handle(name) for name in case["parents"]], wanted, fresh, rules)
        case "install":
            return install(caller, ledger, handle(case["card"]), target_of(case["target"]), fresh, rules)
        case "revoke":
            return revoke(caller, ledger, handle(case["card"]))
    raise AssertionError(case["operation"])


CASES = [
    pytest.param(case, rules, id=f"{case['id']}-{rules.label}")
    for case in DATA["cases"]
    for rules in (SNAPSHOT, NEXT)
    if case.get("edition", rules.label) == rules.label
]


@pytest.mark.parametrize("case, rules", CASES)
def test_what_an_operation_answers(case, rules):
    expect = case["expect"]
    outcome = run(case, rules)
    if "refused" in expect:
        assert isinstance(outcome, Refused)
        assert outcome.variant == expect["refused"]
        assert outcome.text == expect.get("text", outcome.text)
        assert (outcome.cause is not None) == outcome.variant.endswith("-bound-too-broad")
        return
    assert isinstance(outcome, Accepted)

    def named(names):
        return tuple(uuid(DATA["cards"][name]["id"]) for name in names)

    if "witnesses" in expect:
        assert outcome.witnesses == named(expect["witnesses"])
    if "parents" in expect:
        assert outcome.card.parents == named(expect["parents"])
    if "roots" in expect:
        assert outcome.card.roots == named(expect["roots"])
    if "expires" in expect:
        assert (outcome.expires_at.text if outcome.expires_at else None) == expect["expires"]
    if "effects" in expect:
        assert [f"{e.change.value} {int(e.card[-12:])}" for e in outcome.effects] == expect["effects"]
    for key, bound in LISTS.items():
        if key in expect:
            assert [g.text for g in outcome.card.bounds.of(bound)] == expect[key]


def test_the_child_of_a_derivation_is_an_ordinary_card():
    """One parent, made now, no system card, in no wallet yet (cards 6.2)."""
    case = next(c for c in DATA["cases"] if c["id"] == "derive-expires")
    child = run(case, NEXT).card
    assert (child.created_at, child.is_system, child.is_polymorphic) == (NOW, False, False)
    assert child.expires_at == Timestamp.parse("2026-12-24T01:00:00Z")


def test_every_change_has_words():
    assert all(change.words for change in Change)
    assert Effect(Change.STORED, uuid(1)) != Effect(Change.REVOKED, uuid(1))
