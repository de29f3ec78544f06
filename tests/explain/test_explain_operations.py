"""Fixes of operations with several targets, for agents with installed, expired and revoked cards and scope cards."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from explain_worlds import Installed, StoredWorld, stored_world
from test_explain_repairs import narrower
from unified_patch import patched

from policyd.core.admission import Facet, HeldCard, OperationCall, Wallet, admit_operation_type
from policyd.core.admission.operation import asker_of
from policyd.core.cards import Bounds, Card, CardId, ScopeCard, Timestamp
from policyd.core.edition import NEXT
from policyd.core.grants import AgentContext, Grant, Target
from policyd.core.operations import Ports, Refusal, Unclear, asked_by
from policyd.findings import InputError
from policyd.manifest import load_text
from policyd.syntax import Form, parse_grant
from policyd.syntax.operations import catalogue
from policyd.syntax.outbound_urls import OutboundUrls
from policyd.syntax.sql import SqlTables
from policyd.usecases.changes import changes_between
from policyd.usecases.check_call import call_of, initial_wallet
from policyd.usecases.deployments import Described, Selection, described
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Fix, Means
from policyd.usecases.explain_holding import FromManifest, Holding, in_manifest, of_wallet
from policyd.usecases.explain_values import Asked, Explained
from policyd.usecases.wallet_holders import WalletHolder, WalletHolders

FULL = 600
SEED = 20_260_901
HERE = Selection("prod")
PORTS = Ports(SqlTables(), OutboundUrls())
NOW = Timestamp.parse("2026-06-01T00:00:00Z")
PAST = Timestamp.parse("2026-01-01T00:00:00Z")
LISTS = ("lower", "lower-", "upper", "upper-")


@dataclass
class Tally:
    """What came of many worlds."""

    denied: int = 0
    fixed: int = 0
    fixes: int = 0
    kept: int = 0
    several: int = 0
    others: list[str] = field(default_factory=list)


def read(text: str) -> Described:
    return described(load_text(text), HERE, NEXT)


def bounds_of(made: Installed, context: AgentContext) -> Bounds:
    """The grants as an installed card has them: concrete."""
    lists = []
    for name in LISTS:
        grants = [parse_grant(text, Form.MANIFEST, NEXT) for text in made.lists[name]]
        lists.append(tuple(g.addressed(context).filled(context) for g in grants))
    return Bounds(*lists)


def holding_of(made: StoredWorld, text: str) -> Holding:
    """The agent with all its cards, its initial card as `text` gives it."""
    here = read(text)
    plain = in_manifest(here, HERE, "Cart", NEXT)
    context = plain.wallet.context
    assert context is not None
    context = replace(context, agent_id='Cart("1")')
    agent = here.deployment.agent("Cart")
    assert agent is not None
    cards: list[HeldCard] = list(initial_wallet(agent, context).cards)
    revoked = set()
    for number, one in enumerate(made.installed):
        id = CardId(f"7d0f0f0f-0000-4000-8000-00000000000{number}")
        expires: Timestamp | None = PAST if one.state == "expired" else None
        cards.append(HeldCard(Card(id, bounds_of(one, context), expires_at=expires), is_initial=False))
        if one.state == "revoked":
            revoked.add(id)
    wallet = Wallet.of(plain.wallet.holder, tuple(cards), context, context.account, frozenset(revoked))
    scope = None
    if made.scope is not None:
        root = CardId(f"7d0f0f0f-0000-4000-8000-00000000000{made.root}")
        scope = ScopeCard(CardId("7d0f0f0f-0000-4000-8000-0000000000aa"), bounds_of(made.scope, context), (root,))
    return of_wallet(wallet, NEXT, "", NOW, scope, {}, FromManifest(here, agent, HERE))


def admitted(holding: Holding, made: StoredWorld) -> Facet:
    call = OperationCall(catalogue().operations[made.operation], made.arguments, NOW, holding.scope)
    return admit_operation_type(holding.wallet, call, PORTS, NEXT)[1].verdict.admitted


def targets_of(holding: Holding, made: StoredWorld) -> list[Target]:
    operation = catalogue().operations[made.operation]
    call = OperationCall(operation, made.arguments, NOW, holding.scope)
    asked = asked_by(operation, made.arguments, asker_of(holding.wallet, call), PORTS, NEXT)
    assert not isinstance(asked, (Refusal, Unclear))
    return [item.target for item in asked]


def explained(holding: Holding, made: StoredWorld) -> Explained:
    asked = Asked(operation=catalogue().operations[made.operation], arguments=made.arguments)
    (item,) = explain(holding, asked, PORTS, catalogue().operations, Means()).items
    return item


def judge(made: StoredWorld, tally: Tally) -> None:
    """One world: the verdict is that of `check`; every fix works, is minimal, and opens what it says."""
    holding = holding_of(made, made.text)
    before = admitted(holding, made)
    item = explained(holding, made)
    assert item.verdict is not None
    assert item.verdict.admitted is before
    if before is not Facet.NO:
        assert item.fixes.fixes == ()
        return
    tally.denied += 1
    fixes = item.fixes
    assert fixes.fixes or fixes.instead or fixes.keep_denied, made
    if fixes.keep_denied:
        tally.kept += 1
        return
    targets = targets_of(holding, made)
    if not fixes.fixes:
        demand_unfixable(made, holding, targets)
        tally.others.append(made.operation)
        return
    tally.fixed += 1
    for fix in fixes.fixes:
        tally.fixes += 1
        tally.several += len(fix.lines) > 1
        assert fix.patch is not None
        assert patched(made.text, fix.patch.diff) == fix.patch.text
        after = holding_of(made, fix.patch.text)
        assert admitted(after, made) is Facet.YES, (made, fix.patch.diff)
        demand_opened(holding, after, fix)
        demand_needed(made, fix, targets, holding)


def demand_opened(old: Holding, new: Holding, fix: Fix) -> None:
    """What a fix says that it opens is the difference of the two wallets."""
    sides = [WalletHolders(n, {"a": WalletHolder("a", h.wallet, NOW, {})}, ()) for n, h in (("x", old), ("y", new))]
    changes = changes_between(sides[0], sides[1], NEXT)
    started = {w.call.rstrip() for h in changes.holders for w in h.started.witnesses}
    stopped = {w.call.rstrip() for h in changes.holders for w in h.stopped.witnesses}
    assert {w.call.rstrip() for w in (*fix.opened.witnesses, *fix.opened.asked)} == started
    assert {w.call.rstrip() for w in fix.opened.stopped} == stopped


def demand_needed(made: StoredWorld, fix: Fix, targets: list[Target], holding: Holding) -> None:
    """No added line could be left out, and none could be narrower."""
    assert fix.patch is not None
    context = holding.wallet.context
    assert context is not None
    for line in fix.lines:
        name, _, written = line.partition(": ")
        if "positive" not in name or fix.gone or fix.patch.replaces_default:
            continue
        grant = parse_grant(written, Form.MANIFEST, NEXT)
        filled = grant.addressed(context).filled(context)
        options = [other for target in targets for other in narrower(filled, target)]
        for other in (Grant(replace(grant.target, verb=nothing(grant)), grant.recipient), *dict.fromkeys(options)):
            changed = fix.patch.text
            for old in (double(written), "'" + written.replace("'", "''") + "'"):
                changed = changed.replace(old, double(other.text.rstrip()))
            if changed == fix.patch.text or other == grant:
                continue
            try:
                weaker = holding_of(made, changed)
            except InputError:
                continue
            assert admitted(weaker, made) is not Facet.YES, (written, other.text, fix.patch.diff)


def nothing(grant: Grant) -> str:
    """A verb of the class that the call does not ask for, so that the line lends it nothing."""
    others = [verb for verb in grant.target.cls.verbs if verb != grant.target.verb]
    return others[-1] if others else grant.target.verb


def double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def demand_unfixable(made: StoredWorld, holding: Holding, targets: list[Target]) -> None:
    """Exact grants in both lists of the own card, without its negatives, would not do either."""
    own = holding.initial
    assert own is not None
    exact = tuple(Grant(target, holding.wallet.holder) for target in targets)
    bounds = own.card.bounds
    wide = Bounds(
        (*bounds.lower_positive, *exact), (), (*bounds.upper_positive, *exact) if bounds.upper_positive else ()
    )
    if any("the scope card of the invocation is refused" in text for text in explained(holding, made).fixes.instead):
        assert call_of(holding.wallet, targets[0], NOW, holding.scope).scope_refusal
        return
    card = replace(own.card, bounds=wide)
    cards = tuple(replace(h, card=card) if h.card.id == own.card.id else h for h in holding.wallet.cards)
    assert admitted(replace(holding, wallet=replace(holding.wallet, cards=cards)), made) is Facet.NO, made


def worlds(seed: int, wanted: int) -> Tally:
    rng = Random(seed)
    tally = Tally()
    while tally.denied < wanted:
        made = stored_world(rng)
        try:
            agent = read(made.text).deployment.agent("Cart")
            if agent is None or agent.initial_card.bad:
                continue
            holding_of(made, made.text)
        except InputError:
            continue
        judge(made, tally)
    return tally


def demand(tally: Tally) -> None:
    assert tally.fixed > tally.denied // 4
    assert tally.several > 0
    assert tally.others


def test_a_share_of_random_operations() -> None:
    """30 denied operations."""
    demand(worlds(SEED, FULL // 20))


@pytest.mark.acceptance
@pytest.mark.parametrize("part", range(4))
def test_the_full_count_of_random_operations(part: int) -> None:
    """The same on 600 denied operations with recorded seeds."""
    demand(worlds(int(os.environ.get("POLICYD_SEED", SEED + 1 + part)), FULL // 4))
