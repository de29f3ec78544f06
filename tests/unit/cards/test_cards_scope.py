"""Scope cards: what is checked before one counts, and when it stops counting (cards 5.4; G354, G357)."""

import pytest

from policyd.core.cards import Bounds, Caller, Card, CardId, Ledger, ScopeCard, Timestamp
from policyd.core.cards.scope import NIL, scope_expiry, scope_refusal
from policyd.core.grants import AgentContext
from policyd.syntax import parse_grant, parse_target

NOW = Timestamp.parse("2026-12-24T00:00:00Z")
LATER = NOW.plus(10**9)
A, B, C = (CardId(f"00000000-0000-0000-0000-00000000000{n}") for n in "123")
LIVE, DEAD = Card(A, expires_at=LATER), Card(B, expires_at=NOW)
SELF = AgentContext("ana@lab.io", "atlas", "qa", "geo:core", "Mapper", 'Mapper("n1")')


@pytest.mark.parametrize(
    "scope, revoked, roots_are_known, refusal",
    [
        (ScopeCard(NIL), (), True, "not-permitted: scope-card ID must not be nil"),
        (ScopeCard(C), (), True, "not-permitted: scope card must reference at least one root card"),
        (ScopeCard(C, roots=(B, A)), (), True, "not-permitted: scope-card root IDs must be strictly increasing"),
        (ScopeCard(C, roots=(A, A)), (), True, "not-permitted: scope-card root IDs must be strictly increasing"),
        (ScopeCard(C, roots=(A, B)), (), True, f"card-revoked: scope-card root {B} is revoked or expired"),
        (ScopeCard(C, roots=(A, B)), (A,), True, f"card-revoked: scope-card root {A} is revoked or expired"),
        (ScopeCard(C, roots=(A, C)), (), True, f"not-permitted: scope-card root {C} could not be verified"),
        (ScopeCard(C, roots=(A, C)), (C,), False, f"card-revoked: scope-card root {C} is revoked or expired"),
        (ScopeCard(C, roots=(A, C)), (), False, None),
        (ScopeCard(C, roots=(A,)), (), True, None),
    ],
)
def test_what_is_checked_before_a_scope_card_counts(scope, revoked, roots_are_known, refusal):
    known = {A: LIVE, B: DEAD}
    assert scope_refusal(scope, known, frozenset(revoked), NOW, roots_are_known=roots_are_known) == refusal


def test_without_a_moment_expiry_is_left_aside():
    assert scope_refusal(ScopeCard(C, roots=(B,)), {B: DEAD}, frozenset(), None, roots_are_known=True) is None


def test_the_earliest_root_is_the_expiry_that_is_shown():
    known = {A: LIVE, B: DEAD, C: Card(C)}
    assert scope_expiry(ScopeCard(C, roots=(A, B)), known) == NOW
    assert scope_expiry(ScopeCard(C, roots=(C,)), known) is None
    assert scope_expiry(ScopeCard(C, roots=()), known) is None


def test_a_dead_root_takes_the_ceiling_away_too():
    """G357: when a root dies, what the scope card lends and what it withholds vanish together."""
    kv = "kv(ana@lab.io/atlas/qa) @ * : {} : s.k"
    wallet = (Card(A, Bounds((parse_grant(kv.format("read")),)), expires_at=LATER),)
    scope = ScopeCard(
        C, Bounds((parse_grant(kv.format("write")),), upper_positive=(parse_grant(kv.format("write")),)), (B,)
    )
    read, write = (parse_target(f"kv(ana@lab.io/atlas/qa) : {verb} : s.k") for verb in ("read", "write"))
    living = Ledger.of([*wallet, Card(B)])
    dying = Ledger.of([*wallet, Card(B, expires_at=NOW)])
    caller = Caller(SELF, wallet, NOW, scope=scope)
    assert [caller.surface(living).allows(t) for t in (read, write)] == [False, True]
    assert [caller.surface(dying).allows(t) for t in (read, write)] == [True, False]
    revoked = Ledger.of(wallet, [B])
    assert [caller.surface(revoked).allows(t) for t in (read, write)] == [True, False]


def test_a_worker_that_is_no_agent_is_refused_everything():
    """G358: its surface is empty, whatever cards are at hand."""
    card = Card(A, Bounds((parse_grant("network() @ * : connect : *"),)))
    surface = Caller(None, (card,), NOW).surface(Ledger.of([card]))
    assert not surface.allows(parse_target("network() : connect : a.b:1"))
