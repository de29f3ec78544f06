"""A grant is needed exactly where the plain evaluator decides otherwise without it; what is used covers the call."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from laws.strategies import HOLDERS, every_target, wallets

from policyd.core.admission import decide
from policyd.core.admission.usage import UsageIndex
from policyd.core.cards import surface_of

FEW = ("kv", "env")


def without(surface, ref):
    """The surface with one grant removed."""

    def part(each):
        return replace(
            each,
            positive=tuple(r for r in each.positive if r != ref or r.index != ref.index or r.bound != ref.bound),
            negative=tuple(r for r in each.negative if r != ref or r.index != ref.index or r.bound != ref.bound),
        )

    return replace(surface, lower=tuple(map(part, surface.lower)), upper=tuple(map(part, surface.upper)))


def refs_of(surface):
    return [ref for part in (*surface.lower, *surface.upper) for ref in (*part.positive, *part.negative)]


@settings(max_examples=150, deadline=None)
@given(wallets(least=1, most=3, names=FEW), st.sampled_from(HOLDERS), st.randoms(use_true_random=False))
def test_needed_is_what_turns_a_decision(cards, holder, random):
    surface = surface_of(cards, holder)
    index = UsageIndex(surface)
    for target in random.sample(every_target(FEW), 12):
        decision = decide(surface, target)
        usage = index.usage(target)
        assert usage.is_admitted is decision.is_admitted
        turning = {
            (ref.card, ref.bound, ref.index)
            for ref in refs_of(surface)
            if decide(without(surface, ref), target).is_admitted is not decision.is_admitted
        }
        assert {(ref.card, ref.bound, ref.index) for ref in usage.needed} == turning
        assert all(ref.grant.target.covers(target) for ref in (*usage.covering, *usage.stopping))
        if decision.is_admitted:
            assert decision.granted_by in usage.covering
            assert not usage.stopping
            assert set(usage.needed) <= set(usage.covering)
        else:
            named = [f.denying for f in decision.forbidden] + [w.denying for w in decision.withheld if w.denying]
            assert not usage.covering
            assert {(r.card, r.bound) for r in named} <= {(r.card, r.bound) for r in usage.stopping}
