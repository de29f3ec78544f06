"""Laws of the effective surface (cards 5.1, 5.2)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from laws.strategies import HOLDERS, bounds, cards, every_target, grants, wallets

from policyd.core.cards import Bound, Bounds, Card, CardId, ScopeCard, surface_of
from policyd.core.grants import AgentContext
from policyd.syntax import Form

holders = st.sampled_from(HOLDERS)
FEW = ("kv", "env", "agent")


def admitted(wallet, holder, scope=None):
    surface = surface_of(wallet, holder, scope)
    return {i for i, target in enumerate(every_target(FEW)) if surface.allows(target)}


def with_grant(card, bound, grant):
    lists = {b: card.bounds.of(b) for b in Bound}
    lists[bound] = (*lists[bound], grant)
    return replace(card, bounds=Bounds(*lists.values()))


@st.composite
def _one_of_many(draw):
    wallet = draw(wallets(least=1, most=3))
    return wallet, draw(st.integers(0, len(wallet) - 1))


def _changed(case, bound, grant):
    wallet, at = case
    return [with_grant(card, bound, grant) if i == at else card for i, card in enumerate(wallet)]


@given(_one_of_many(), holders, st.sampled_from((Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE)), grants(names=FEW))
def test_a_further_negative_never_admits_more(case, holder, bound, grant):
    assert admitted(_changed(case, bound, grant), holder) <= admitted(case[0], holder)


@given(_one_of_many(), holders, grants(names=FEW))
def test_a_further_lower_positive_never_admits_less(case, holder, grant):
    assert admitted(_changed(case, Bound.LOWER_POSITIVE, grant), holder) >= admitted(case[0], holder)


@given(wallets(most=3), cards(), holders)
def test_a_further_card_without_ceiling_never_admits_less(wallet, card, holder):
    lower_only = replace(
        card,
        id=CardId("ffffffff-0000-0000-0000-000000000000"),
        bounds=Bounds(card.bounds.lower_positive, card.bounds.lower_negative),
    )
    assert admitted([*wallet, lower_only], holder) >= admitted(wallet, holder)


@given(wallets(most=3), cards(), holders)
def test_a_further_card_without_lower_positives_never_admits_more(wallet, card, holder):
    capping = replace(card, bounds=replace(card.bounds, lower_positive=()))
    assert admitted([*wallet, capping], holder) <= admitted(wallet, holder)


@given(wallets(most=4), holders, st.randoms(use_true_random=False))
def test_neither_order_nor_duplicates_matter(wallet, holder, random):
    mixed = []
    for card in wallet:
        lists = []
        for bound in Bound:
            grants_ = [*card.bounds.of(bound), *card.bounds.of(bound)[:1]]
            random.shuffle(grants_)
            lists.append(tuple(grants_))
        mixed.append(replace(card, bounds=Bounds(*lists)))
    mixed += mixed[:1]
    random.shuffle(mixed)
    assert admitted(mixed, holder) == admitted(wallet, holder)


@given(wallets(most=2), bounds(most=2), holders)
def test_a_scope_card_caps_the_whole_wallet_and_lends_besides(wallet, scope, holder):
    """E8: what is admitted with it is inside its ceiling; without one, nothing is lost."""
    with_scope = admitted(wallet, holder, ScopeCard(CardId("x"), scope))
    lower_only = Bounds(scope.lower_positive, scope.lower_negative)
    assert admitted(wallet, holder, ScopeCard(CardId("x"), lower_only)) >= admitted(wallet, holder)
    assert with_scope <= admitted(wallet, holder, ScopeCard(CardId("x"), lower_only))


@given(holders, bounds(most=3))
def test_a_card_without_grants_for_the_holder_lends_and_withholds_nothing(holder, some):
    """E1, E5: after filtering only grants for the holder count."""
    kept = Bounds(*(tuple(g for g in some.of(b) if g.recipient.covers(holder)) for b in Bound))
    one, other = (Card(CardId("x"), lists) for lists in (some, kept))
    assert admitted([one], holder) == admitted([other], holder)


SELF = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", 'Mapper("n1")')


@given(cards(form=Form.POLYMORPHIC))
def test_filling_a_template_changes_owners_only(card):
    """M1, M3: recipients, verbs and resources stay, in order; filling twice is filling once."""
    filled = card.for_agent(SELF)
    assert not filled.is_polymorphic
    assert filled.for_agent(SELF) == filled
    for (bound, index, before), (b2, i2, after) in zip(card.bounds.each(), filled.bounds.each(), strict=True):
        assert (bound, index, before.recipient, before.target.verb, before.target.resource) == (
            b2,
            i2,
            after.recipient,
            after.target.verb,
            after.target.resource,
        )
        assert after.target.owner.slot is None
        assert before.target.owner.slot is not None or before == after
