"""Laws of the call sets, checked against trying every call of small worlds."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from reference.callsets_brute import (
    HOLDER,
    RECIPIENTS,
    WORLDS,
    Brute,
    World,
    changed_surface,
    random_bounds,
    random_grant,
    random_surface,
)

from policyd.core.callsets import (
    Fails,
    Holds,
    Standing,
    Universe,
    admitted_by,
    always,
    below,
    calls_of,
    ceiling_effects,
    compare,
    contains,
    difference,
    disjoint,
    effects,
    equivalent,
    holders_of,
    implies,
    is_empty,
    minus,
    never,
    slips,
)
from policyd.core.callsets.index import ClassIndex
from policyd.core.cards import Attenuates, Card, CardId, GrantRef, Part, Surface, attenuate, surface_of
from policyd.core.grants import Target
from policyd.syntax import parse_target

BRUTES = [Brute(make()) for make in WORLDS]
IDS = [b.world.cls.name for b in BRUTES]
ALL = Universe()


def _only_world(brute: Brute, surface: Surface) -> Surface:
    """The surface with verbs that the world has, so that nothing lies outside of what is tried."""
    verbs = brute.world.verbs

    def kept(refs: tuple[GrantRef, ...]) -> tuple[GrantRef, ...]:
        return tuple(
            r if r.grant.target.verb != "*" else replace(r, grant=_with_verb(r, verbs[r.index % len(verbs)]))
            for r in refs
        )

    def part(p: Part) -> Part:
        return Part(p.card, kept(p.positive), kept(p.negative))

    return replace(surface, lower=tuple(map(part, surface.lower)), upper=tuple(map(part, surface.upper)))


def _with_verb(ref: GrantRef, verb: str) -> object:
    return replace(ref.grant, target=replace(ref.grant.target, verb=verb))


def _surfaces(brute: Brute, count: int, seed: int) -> list[Surface]:
    rng = random.Random(seed)
    return [_only_world(brute, random_surface(brute.world, rng)) for _ in range(count)]


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_nothing_differs_from_itself(brute: Brute) -> None:
    """The difference of a wallet and an equal one, cards in another order, is proved empty."""
    for surface in _surfaces(brute, 20, 3):
        other = replace(surface, lower=surface.lower[::-1], upper=surface.upper[::-1])
        assert difference(admitted_by(surface), admitted_by(other), ALL).is_proved_empty


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_membership_is_the_plain_decision(brute: Brute) -> None:
    """A call belongs to the set of a surface exactly when the surface allows it."""
    for surface in _surfaces(brute, 5, 4):
        admitted = admitted_by(surface)
        for call in brute.world.calls[::7]:
            assert contains(admitted.calls, call) is surface.allows(call)


def _query(world: World, rng: random.Random) -> Target:
    target = random_grant(world, rng).target
    resource = below(target.resource) if rng.random() < 0.5 else target.resource
    return replace(target, verb=rng.choice(world.verbs), resource=resource)


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_proofs_agree_with_trying_every_call(brute: Brute) -> None:
    """Never, always, implied and disjoint hold exactly when no call speaks against them."""
    rng = random.Random(5)
    surfaces = _surfaces(brute, 15, 5)
    for left, right in pairwise(surfaces):
        asked = _query(brute.world, rng)
        bits, ours, theirs = brute.covered(asked), brute.admitted(left), brute.admitted(right)
        a, b = admitted_by(left), admitted_by(right)
        for answer, counter in (
            (never(a, calls_of([asked]), ALL), bits & ours),
            (always(a, calls_of([asked]), ALL), bits & ~ours),
            (implies(a, b, ALL), ours & ~theirs),
            (disjoint(a, b, ALL), ours & theirs),
            (equivalent(a, b, ALL), ours ^ theirs),
            (is_empty(minus(a.calls, calls_of([asked])), ALL), ours & ~bits),
            (is_empty(minus(minus(calls_of([asked]), a.calls), b.calls), ALL), bits & ~ours & ~theirs),
        ):
            assert isinstance(answer, Fails if counter else Holds)


def _without(surface: Surface, ref: GrantRef) -> Surface:
    def part(p: Part) -> Part:
        return Part(p.card, tuple(r for r in p.positive if r is not ref), tuple(r for r in p.negative if r is not ref))

    return replace(surface, lower=tuple(map(part, surface.lower)), upper=tuple(map(part, surface.upper)))


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_effects_agree_with_removing_the_grant(brute: Brute) -> None:
    """A grant is needed exactly when some call is decided otherwise without it, and its witness is such a call."""
    for surface in _surfaces(brute, 6, 6):
        found = effects(admitted_by(surface), ALL)
        refs = [r for p in (*surface.lower, *surface.upper) for r in (*p.positive, *p.negative)]
        assert {e.ref for e in found} == set(refs)
        for effect in found:
            other = _without(surface, effect.ref)
            changes = brute.admitted(surface) ^ brute.admitted(other)
            assert (effect.standing is Standing.NEEDED) is bool(changes)
            if effect.witness is not None:
                assert surface.allows(effect.witness) is not other.allows(effect.witness)
            if effect.standing is Standing.SHADOWED:
                assert all(r.grant.target.covers(effect.ref.grant.target) for r in effect.related)


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_ceilings_bind_when_lifting_them_admits_more(brute: Brute) -> None:
    """A ceiling never binds exactly when nothing more is admitted without its positives."""
    for surface in _surfaces(brute, 20, 7):
        found = ceiling_effects(admitted_by(surface), ALL)
        places = [n for n, p in enumerate(surface.upper) if p.positive]
        for place, effect in zip(places, found, strict=True):
            lifted = list(surface.upper)
            lifted[place] = Part(lifted[place].card, (), lifted[place].negative)
            more = brute.admitted(replace(surface, upper=tuple(lifted))) & ~brute.admitted(surface)
            assert effect.binds is bool(more)
            assert (effect.witness is None) is not effect.binds


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_applying_a_change_and_asking_agree(brute: Brute) -> None:
    """What a comparison says to start and stop is decided so by the surfaces themselves."""
    rng = random.Random(8)
    before = {str(n): s for n, s in enumerate(_surfaces(brute, 10, 8))}
    after = {k: changed_surface(s, brute.world, rng) if int(k) % 2 else s for k, s in before.items()}
    del after["0"]
    changes = compare(before, after)
    assert [c.name for c in changes] == sorted(before)
    for change in changes:
        for difference_, new, old in ((change.started, after, before), (change.stopped, before, after)):
            for witness in difference_.witnesses:
                assert new[change.name].allows(witness.target)
                assert change.name not in old or not old[change.name].allows(witness.target)
        if change.name != "0" and int(change.name) % 2 == 0:
            assert change.is_none


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_slips_agree_with_trying_every_call(brute: Brute) -> None:
    """A child slips for a holder exactly when it admits a call to that holder which its parents do not."""
    rng = random.Random(9)
    for number in range(10):
        parents = [Card(CardId(str(n)), random_bounds(brute.world, rng)) for n in range(2)]
        child = Card(CardId("9"), random_bounds(brute.world, rng))
        holders = holders_of(g.recipient for c in (*parents, child) for _, _, g in c.bounds.each())
        found = {s.holder: s for s in slips(parents, child, holders)}
        if number % 5 == 0:
            assert {s.holder for s in slips(parents, child)} == set(found)
        for holder in holders:
            narrow, wide = surface_of([child], holder), surface_of(parents, holder)
            more = brute.admitted(narrow) & ~brute.admitted(wide)
            verbs = {w.target.verb for w in found[holder].calls.witnesses} if holder in found else set()
            assert bool(verbs & set(brute.world.verbs)) is bool(more)


def test_most_accepted_children_slip_nowhere() -> None:
    """A child without lower negatives to inherit, accepted under no ceilings, admits nothing that its parent denies."""
    rng = random.Random(10)
    accepted = 0
    for number in range(400):
        brute = BRUTES[number % len(BRUTES)]
        bounds, wanted = random_bounds(brute.world, rng), random_bounds(brute.world, rng)
        parent = Card(CardId("1"), replace(bounds, lower_negative=(), upper_positive=(), upper_negative=()))
        if isinstance(attenuate([parent], wanted), Attenuates):
            accepted += 1
            assert not slips([parent], Card(CardId("2"), wanted), [HOLDER])
    assert accepted > 30


def test_every_holder_is_like_one_of_those_looked_at() -> None:
    """Whatever a holder is called, some representative is in exactly the same recipients."""
    rng = random.Random(11)

    def signature(holder: object, patterns: list[object]) -> tuple[bool, ...]:
        return tuple(p.covers(holder) for p in patterns)  # type: ignore[attr-defined]

    everyone = holders_of(RECIPIENTS)
    for _ in range(200):
        patterns = rng.sample(RECIPIENTS, rng.randint(0, 4))
        known = {signature(h, patterns) for h in holders_of(patterns)}
        assert {signature(h, patterns) for h in everyone} <= known


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_a_pattern_that_covers_another_contains_its_calls(brute: Brute) -> None:
    """Covering patterns contain all calls of the covered ones, queries below a resource included."""
    rng = random.Random(17)
    boxes = [_query(brute.world, rng) for _ in range(70)]
    for wide in boxes:
        for narrow in boxes:
            if wide.covers(narrow):
                assert brute.covered(narrow) & ~brute.covered(wide) == 0, (wide.text, narrow.text)


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_the_index_misses_no_overlap(brute: Brute) -> None:
    """Two products that share a call are near each other, whichever of them is asked about."""
    rng = random.Random(13)
    boxes = [replace(random_grant(brute.world, rng).target, verb=brute.world.verbs[0]) for _ in range(60)]
    boxes += [_query(brute.world, rng) for _ in range(10)]
    index = ClassIndex(boxes)
    for box in boxes[::3]:
        bits = brute.covered(box)
        near = list(index.near("*", box))
        missed = [b.text for b in boxes if b not in near and brute.covered(b) & bits]
        assert missed == []


def _joined(left: Surface, right: Surface) -> Surface:
    """Two surfaces card by card as one."""

    def join(ours: tuple[Part, ...], theirs: tuple[Part, ...]) -> tuple[Part, ...]:
        size = min(len(ours), len(theirs))
        both = [
            Part(a.card, a.positive + b.positive, a.negative + b.negative) for a, b in zip(ours, theirs, strict=False)
        ]
        return (*both, *ours[size:], *theirs[size:])

    return replace(left, lower=join(left.lower, right.lower), upper=join(left.upper, right.upper))


def test_large_wallets_of_several_classes_agree_with_brute_force() -> None:
    """Where the index is used and ceilings of one class withhold another, the answer stays exact."""
    rng = random.Random(14)
    for number in range(16):
        ours, other = BRUTES[number % len(BRUTES)], BRUTES[(number + 7) % len(BRUTES)]
        parts = [_only_world(b, random_surface(b.world, rng)) for b in (ours, *(ours,) * 12, other)]
        left = parts[0]
        for part in parts[1:]:
            left = _joined(left, part)
        right = _only_world(ours, changed_surface(left, ours.world, rng))
        for brute in (ours, other):
            for new, old in ((left, right), (right, left)):
                expected = brute.admitted(new) & ~brute.admitted(old)
                answer = difference(admitted_by(new), admitted_by(old), ALL, limit=5)
                shown = difference(admitted_by(new), admitted_by(old), ALL, limit=10_000).witnesses
                classes = [w for w in shown if w.target.cls == brute.world.cls]
                assert bool(classes) is bool(expected)
                assert answer.count == len(shown)
                assert answer.undecided == ()


@pytest.mark.parametrize("brute", BRUTES, ids=IDS)
def test_witnesses_read_back(brute: Brute) -> None:
    """Every witness prints in the form that `check` takes, and reading it gives the same call.

    Only calls of methods that are named by nothing, a number or a UUID cannot be written as texts.
    """
    nobody = admitted_by(Surface(HOLDER, (), (), ()))
    for surface in _surfaces(brute, 10, 15):
        for witness in difference(admitted_by(surface), nobody, ALL).witnesses:
            call = witness.target
            kind = getattr(call.resource, "kind", "method")
            if (call.cls.name, call.verb) != ("agent", "invoke") or kind == "method":
                assert parse_target(call.text) == call


def test_effects_in_large_wallets_agree_with_removing_the_grant() -> None:
    """The same law where lists are long enough for the index."""
    rng = random.Random(16)
    for brute in (BRUTES[0], BRUTES[1], BRUTES[6], BRUTES[8]):
        surface = _only_world(brute, random_surface(brute.world, rng))
        for _ in range(20):
            surface = _joined(surface, _only_world(brute, random_surface(brute.world, rng)))
        assert max(len(p.positive) for p in surface.lower) > 24
        found = effects(admitted_by(surface), ALL)
        for effect in found[::2]:
            changes = brute.admitted(surface) ^ brute.admitted(_without(surface, effect.ref))
            assert (effect.standing is Standing.NEEDED) is bool(changes)
