"""What attenuation promises, and where it does not: each gap by name, with a call that slips through."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import HOLDERS, NESTED_RECIPIENTS, UUID, bounds, every_target, families, grants, wallets

from policyd.core.cards import (
    Attenuates,
    Bounds,
    Card,
    CardId,
    SingleParent,
    TooBroad,
    attenuate,
    deploy_envelopes,
    select_parent,
    surface_of,
    validate_initial_card,
)
from policyd.core.grants import AgentContext, agent_holder
from policyd.syntax import Form, parse_grant, parse_recipient, parse_target

NAMES = ("kv", "env")
CHILD = CardId("99999999-0000-0000-0000-000000000000")
CALLS = every_target(NAMES)


def admitted(wallet, holder):
    surface = surface_of(wallet, holder)
    return {t.text for t in CALLS if surface.allows(t)}


@given(families(), st.sampled_from(HOLDERS))
def test_a_child_admits_nothing_that_its_parents_deny(family, holder):
    """The promise: where two recipients that name a common holder cover one another in one direction."""
    parents, child = family
    if isinstance(attenuate(parents, child), Attenuates):
        assert admitted([Card(CHILD, child)], holder) <= admitted(parents, holder)


@given(families())
def test_the_families_tried_are_of_both_sorts(family):
    """A child that names a grant which no parent covers is refused for it, in child order."""
    parents, child = family
    outcome = attenuate(parents, child)
    uncovered = [
        g for g in child.lower_positive if not any(p.covers(g) for c in parents for p in c.bounds.lower_positive)
    ]
    if uncovered:
        assert isinstance(outcome, TooBroad)
        assert outcome.is_lower
    elif isinstance(outcome, Attenuates):
        assert set(outcome.witnesses) <= {c.id for c in parents}


@given(wallets(least=1, most=1, names=NAMES))
def test_a_card_attenuates_itself(wallet):
    """Restating everything is always narrow enough; the witness is the card, if it says anything that counts."""
    (card,) = wallet
    outcome = attenuate(wallet, card.bounds)
    assert isinstance(outcome, Attenuates)
    counts = card.bounds.lower_positive or card.bounds.upper_positive or card.bounds.upper_negative
    assert outcome.witnesses == ((card.id,) if counts else ())


@given(families(), grants(recipients=NESTED_RECIPIENTS, names=NAMES))
def test_a_further_negative_of_the_child_refuses_nothing(family, grant):
    parents, child = family
    if isinstance(attenuate(parents, child), Attenuates):
        stricter = replace(
            child, lower_negative=(*child.lower_negative, grant), upper_negative=(*child.upper_negative, grant)
        )
        assert isinstance(attenuate(parents, stricter), Attenuates)


@given(families(), bounds(names=NAMES))
def test_selection_finds_a_parent_that_would_do_alone(family, other):
    parents, child = family
    for wanted in (child, other):
        outcome = select_parent(parents, wanted)
        if isinstance(outcome, SingleParent):
            (parent,) = (c for c in parents if c.id == outcome.card)
            assert isinstance(attenuate([parent], wanted), Attenuates)


# The gaps. Each is the platform's own, kept as it is.

E = "ana@lab.io/atlas/qa"
MAPPER = parse_recipient(f"{E}/geo:core/Mapper")
ROUTER = parse_recipient(f"{E}/geo:core/Router")
PARENT = CardId("00000000-0000-0000-0000-000000000001")
OTHER = CardId("00000000-0000-0000-0000-000000000002")


def lists(lower=(), lower_not=(), upper=(), upper_not=(), form=Form.CONCRETE):
    return Bounds(*(tuple(parse_grant(t, form) for t in texts) for texts in (lower, lower_not, upper, upper_not)))


def test_gap_a_ceiling_for_a_recipient_that_overlaps_in_neither_direction():
    """A6 compares ceilings whose recipients cover one another; `a/*/*/*/*` and `a/p/e` do not, and share agents."""
    parent = Card(PARENT, lists([f"kv({E}) @ * : * : *.**"], upper=[f"kv({E}) @ {E} : read : *.**"]))
    child = lists(
        [f"kv({E}) @ * : * : *.**"],
        upper=[f"kv({E}) @ {E} : read : *.**", f"kv({E}) @ ana@lab.io/*/*/*/* : write : *.**"],
    )
    assert isinstance(attenuate([parent], child), Attenuates)
    slips = parse_target(f"kv({E}) : write : s.k")
    assert not surface_of([parent], MAPPER).allows(slips)
    assert surface_of([Card(CHILD, child)], MAPPER).allows(slips)


def test_gap_wallet_selection_ignores_the_ceilings_of_other_cards():
    """A8: what the holder may not do itself it may hand on, if the ceiling stands on another card."""
    gives = Card(PARENT, lists([f"kv({E}) @ * : * : *.**"]))
    caps = Card(OTHER, lists(upper=[f"kv({E}) @ * : read : *.**"]))
    child = lists([f"kv({E}) @ {ROUTER.text} : write : s.k"])
    assert select_parent([gives, caps], child) == SingleParent(PARENT)
    slips = parse_target(f"kv({E}) : write : s.k")
    assert not surface_of([gives, caps], MAPPER).allows(slips)
    assert not surface_of([gives, caps], ROUTER).allows(slips)
    assert surface_of([Card(CHILD, child)], ROUTER).allows(slips)


def test_gap_lower_negatives_end_with_a_child_without_lower_positives():
    """A2: a card derived without positives drops the negatives, so that a card derived from it lacks them, too.

    The grandchild cannot regain the positives, so no call slips through here; what is lost is the restating.
    """
    parent = Card(PARENT, lists([f"kv({E}) @ * : * : *.**"], [f"kv({E}) @ * : write : *.**"]))
    assert attenuate([parent], lists()) == Attenuates(())
    assert isinstance(attenuate([parent], lists([f"kv({E}) @ * : read : s.k"])), TooBroad)


def test_gap_lower_negatives_of_one_parent_do_not_bind_what_another_grants():
    """A1: with several parents, a later card without the negative serves; the wallet grants it as well."""
    denies = Card(PARENT, lists([f"kv({E}) @ * : * : *.**"], [f"kv({E}) @ * : write : *.**"]))
    grants_ = Card(OTHER, lists([f"kv({E}) @ * : write : *.**"]))
    child = lists([f"kv({E}) @ * : write : s.k"])
    assert attenuate([denies, grants_], child) == Attenuates((OTHER,))
    slips = parse_target(f"kv({E}) : write : s.k")
    assert not surface_of([denies], MAPPER).allows(slips)
    assert surface_of([Card(CHILD, child)], MAPPER).allows(slips)


def test_gap_a_phantom_owns_more_than_the_type_wildcard_that_its_card_was_checked_against():
    """D2, O6: the envelope of `?agent` is the text `T(*)`, which `T(*)` covers; the id of a phantom it does not."""
    deployer = [Card(PARENT, lists([f"env({E}/geo:core/Mapper(*)) @ * : read : *"]))]
    initial = lists([f"env(?agent) @ {MAPPER.text} : read : *"], form=Form.POLYMORPHIC)
    assert validate_initial_card(initial, deployer, "Mapper").parents == (PARENT,)
    phantom = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", f'Mapper("n1")[{UUID}]')
    card = Card(CHILD, initial, is_polymorphic=True).for_agent(phantom)
    slips = parse_grant(f'env({E}/geo:core/Mapper("n1")[{UUID}]) @ * : read : KEY').target
    assert not surface_of(deployer, MAPPER).allows(slips)
    assert surface_of([card], agent_holder(phantom)).allows(slips)


def test_gap_an_instance_owns_more_than_the_literal_of_its_envelope_where_its_id_holds_a_slash():
    """M1: `?agent` may become an id that no text can name; coverage by the component wildcard remains."""
    odd = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", 'Mapper("a/b")')
    card = Card(CHILD, lists(["env(?agent) @ * : read : *"], form=Form.POLYMORPHIC), is_polymorphic=True)
    (grant,) = card.for_agent(odd).bounds.lower_positive
    assert parse_grant(f"env({E}/geo:core/*) @ * : read : *").covers(grant)
    assert parse_grant(f"env({E}/geo:core/Mapper(*)) @ * : read : *").covers(grant)


@pytest.mark.parametrize("text", [f"env({E}/geo:core/Mapper(*)) @ * : read : *", f"kv({E}) @ {E} : read : s.k"])
def test_the_envelope_of_a_concrete_grant_is_the_grant(text):
    grant = parse_grant(text)
    assert deploy_envelopes(Bounds((grant,))) == Bounds((grant,))
