"""The core and the model of `tests/reference` agree on surfaces, attenuation and the choice of a parent."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import FEW, HOLDERS, RECIPIENTS, C, bounds, every_target, families, targets, wallets
from reference.cards_model import RefusalError, attenuate, authorize, select

from policyd.core.cards import (
    Attenuates,
    Bound,
    CardId,
    MultipleRequired,
    NotPermitted,
    ScopeCard,
    SingleParent,
    TooBroad,
    select_parent,
    surface_of,
)
from policyd.core.cards import attenuate as core_attenuate

LISTS = dict(zip(Bound, ("lp", "ln", "up", "un"), strict=True))


def texts(value, card_id=""):
    return {"id": card_id, **{name: [g.text for g in value.of(bound)] for bound, name in LISTS.items()}}


def as_request(target):
    return f"{target.cls.name}({target.owner.text}) @ * : {target.verb} : {target.resource.text}"


SCOPE_ID = CardId("00000000-0000-0000-0000-0000000000ff")


def _agree(cards, holder, scope, target):
    surface = surface_of(cards, holder, None if scope is None else ScopeCard(SCOPE_ID, scope))
    expected = authorize(
        [texts(c.bounds) for c in cards], holder.text, as_request(target), None if scope is None else texts(scope)
    )
    assert surface.allows(target) == expected


@given(wallets(), st.sampled_from(HOLDERS), st.none() | bounds(), st.lists(targets(), min_size=5, max_size=5))
def test_surfaces(cards, holder, scope, calls):
    for target in calls:
        _agree(cards, holder, scope, target)


@pytest.mark.acceptance
@settings(max_examples=200, derandomize=True)
@given(wallets(), st.sampled_from(HOLDERS), st.none() | bounds())
def test_surfaces_over_every_call_of_the_world(cards, holder, scope):
    for target in every_target(FEW):
        _agree(cards, holder, scope, target)


def _told(run):
    try:
        return run()
    except RefusalError as refusal:
        return refusal.args


anyone = st.one_of(
    families(recipients=RECIPIENTS),
    families(recipients=("*", "ana@lab.io/atlas/qa", f"{C}/*", f"{C}/Mapper"), names=("kv",)),
    st.tuples(wallets(names=("kv", "env"), most=2), bounds(names=("kv", "env"), most=2)),
)


def _attenuation_agrees(parents, child):
    outcome = core_attenuate(parents, child)
    expected = _told(lambda: attenuate([texts(c.bounds, c.id) for c in parents], texts(child)))
    if isinstance(outcome, Attenuates):
        assert list(outcome.witnesses) == expected
    else:
        assert (outcome.kind, outcome.grant.text if outcome.grant else None) == expected


@settings(max_examples=100)
@given(anyone)
def test_attenuation(family):
    _attenuation_agrees(*family)


@pytest.mark.acceptance
@settings(max_examples=5000, derandomize=True)
@given(anyone)
def test_attenuation_of_many_families(family):
    _attenuation_agrees(*family)


@given(anyone)
def test_selection(family):
    wallet, child = family
    expected = _told(lambda: select([texts(c.bounds, c.id) for c in wallet], texts(child)))
    match select_parent(wallet, child):
        case SingleParent(card):
            assert card == expected
        case MultipleRequired():
            assert expected is None
        case NotPermitted():
            assert expected == ("NotPermitted", None)
        case TooBroad() as outcome:
            assert (outcome.kind, outcome.grant.text if outcome.grant else None) == expected
