"""Fixes of random denials: patches that apply and work, what they open, and that nothing narrower would do."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import product
from random import Random

import pytest
from explain_worlds import world
from unified_patch import patched

from policyd.core.admission import Facet
from policyd.core.edition import NEXT
from policyd.core.grants import Grant, Target
from policyd.core.grants.resources import (
    FilePath,
    NetworkResource,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.operations import NO_PORTS
from policyd.findings import InputError
from policyd.manifest import load_text
from policyd.solver.candidates import candidates_of
from policyd.syntax import Form, GrantSyntaxError, parse_grant, parse_target
from policyd.usecases.changes import changes_between
from policyd.usecases.check_call import ManifestQuestion, check_manifest
from policyd.usecases.deployments import Described, Selection, described
from policyd.usecases.explain_denial import explain
from policyd.usecases.explain_fixes import Fix, Means
from policyd.usecases.explain_holding import Holding, in_manifest
from policyd.usecases.explain_values import Asked, Explained
from policyd.usecases.holders import holders_in

FULL = 2_000
SEED = 20_260_601
AGENT = "Cart"
HERE = Selection("prod")


@dataclass
class Tally:
    """What came of many pairs."""

    fixable: int = 0
    fixed: int = 0
    others: int = 0
    fixes: int = 0
    unfixed: list[str] = field(default_factory=list)


def read(text: str) -> Described:
    return described(load_text(text), HERE, NEXT)


def is_admitted(text: str, call: str) -> bool:
    answer = check_manifest(read(text), HERE, ManifestQuestion(AGENT, call), NEXT)
    return answer.verdict.admitted is Facet.YES


def explained(holding: Holding, call: str) -> Explained:
    (item,) = explain(holding, Asked(target=call), NO_PORTS, {}, Means()).items
    return item


def starred(resource: Resource) -> list[Resource]:
    """A resource with stars in some of its fields, written here once more and plainly."""

    def each(parts: tuple[str, ...]) -> list[tuple[str, ...]]:
        flags = product((0, 1), repeat=len(parts))
        return [tuple("*" if s else p for p, s in zip(parts, c, strict=True)) for c in flags]

    match resource:
        case FilePath(segments):
            return [FilePath(parts) for parts in each(segments)]
        case SegmentPath(segments, separator):
            return [SegmentPath(parts, separator) for parts in each(segments)]
        case StoreKey(store, key):
            return [StoreKey(s, k) for s in (store, "*") for k in (key, "**")]
        case TableName(database, schema, table):
            return [TableName(*parts) for parts in each((database, schema, table))]
        case NetworkResource(host, ports):
            return [NetworkResource(".".join(parts), ports) for parts in each(tuple(host.split(".")))]
        case _:
            return [resource]


def narrower(grant: Grant, call: Target) -> list[Grant]:
    """Grants for the same recipient that cover the call, differ in one field or more, and lie within `grant`."""
    found = [c.filled for c in candidates_of([call], None)]
    found += [Target(c.cls, c.owner, c.verb, r) for c in found[:6] for r in starred(call.resource)]
    inside = [t for t in found if t.covers(call) and grant.target.covers(t) and not t.covers(grant.target)]
    return [Grant(t, grant.recipient) for t in dict.fromkeys(inside)]


def is_writable(grant: Grant) -> bool:
    try:
        return parse_grant(grant.text, Form.MANIFEST, NEXT) == grant
    except GrantSyntaxError:
        return False


def demand_narrowest(text: str, fix: Fix, call: Target, asked: str, context: object) -> None:
    """No grant inside an added one would have done instead of it."""
    assert fix.patch is not None
    for line in fix.lines:
        name, _, written = line.partition(": ")
        if "positive" not in name:
            continue
        grant = parse_grant(written, Form.MANIFEST, NEXT)
        filled = grant.addressed(context).filled(context)  # type: ignore[arg-type]
        for other in narrower(filled, call):
            if not is_writable(other):
                continue
            quoted = [q(written) for q in (double, single)]
            changed = fix.patch.text
            for old in quoted:
                changed = changed.replace(old, double(other.text.rstrip()))
            assert changed != fix.patch.text
            assert not is_admitted(changed, asked), (written, other.text)


def double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def single(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def one_change_does(text: str, call: str, context: object) -> bool:
    """Whether one added line, or one negative less, lets the call through; found by trying."""
    target = parse_target(call, NEXT, slots=True).filled(context)  # type: ignore[arg-type]
    deployed = read(text).deployment.agent(AGENT)
    assert deployed is not None
    card = deployed.initial_card
    from policyd.core.cards import Bound, Bounds, Card, CardId, surface_of
    from policyd.core.grants import agent_holder

    holder = agent_holder(context)  # type: ignore[arg-type]

    def allows(bounds: Bounds) -> bool:
        concrete = bounds.mapped(lambda g: g.addressed(context).filled(context))  # type: ignore[arg-type]
        return surface_of([Card(CardId("own"), concrete)], holder).allows(target)

    lists = {bound: card.as_written.of(bound) for bound in Bound}
    options = [t for t in [c.filled for c in candidates_of([target], None)] if is_writable(Grant(t, holder))]
    for bound in (Bound.LOWER_POSITIVE, Bound.UPPER_POSITIVE):
        if bound is Bound.UPPER_POSITIVE and not lists[bound]:
            continue
        for option in options:
            more = {**lists, bound: (*lists[bound], Grant(option, holder))}
            if allows(Bounds(*(more[b] for b in Bound))):
                return True
    for bound in (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE):
        for index in range(len(lists[bound])):
            fewer = {**lists, bound: (*lists[bound][:index], *lists[bound][index + 1 :])}
            if allows(Bounds(*(fewer[b] for b in Bound))):
                return True
    return False


def judge(text: str, call: str, tally: Tally) -> None:
    """One pair: count it, and check every fix."""
    here = read(text)
    holding = in_manifest(here, HERE, AGENT, NEXT)
    item = explained(holding, call)
    if item.verdict is None or item.verdict.admitted is not Facet.NO:
        return
    target = parse_target(call, NEXT, slots=True)
    context = holding.for_instance(target, item.targets[0].answer)
    can = one_change_does(text, call, context)
    fixes = item.fixes
    if fixes.keep_denied:
        return
    if can:
        tally.fixable += 1
        tally.fixed += bool(fixes.fixes)
        if not fixes.fixes:
            tally.unfixed.append(f"{call}\n{text}\n{fixes}")
    else:
        tally.others += 1
        assert fixes.fixes or fixes.instead, (text, call)
    for fix in fixes.fixes:
        tally.fixes += 1
        assert fix.patch is not None
        assert patched(text, fix.patch.diff) == fix.patch.text
        assert is_admitted(fix.patch.text, call), (call, fix.patch.diff)
        demand_opened(here, read(fix.patch.text), fix)
        assert context is not None
        demand_narrowest(text, fix, target.filled(context), call, context)


def demand_opened(before: Described, after: Described, fix: Fix) -> None:
    """What a fix says that it opens is what the difference of the two manifests says."""
    old, new = (holders_in(d, HERE, AGENT) for d in (before, after))
    changes = changes_between(old, new, NEXT)
    started = {w.call.rstrip() for h in changes.holders for w in h.started.witnesses}
    stopped = {w.call.rstrip() for h in changes.holders for w in h.stopped.witnesses}
    opened = fix.opened
    assert {w.call.rstrip() for w in (*opened.witnesses, *opened.asked)} == started
    assert {w.call.rstrip() for w in opened.stopped} == stopped
    assert not opened.undecided


def pairs(seed: int, wanted: int) -> Tally:
    rng = Random(seed)
    tally = Tally()
    while tally.fixable < wanted:
        made = world(rng)
        try:
            here = read(made.text)
        except InputError:
            continue
        agent = here.deployment.agent(AGENT)
        if agent is None or agent.initial_card.bad:
            continue
        for call in made.calls:
            try:
                parse_target(call, NEXT, slots=True)
            except GrantSyntaxError:
                continue
            judge(made.text, call, tally)
    return tally


def demand(tally: Tally, wanted: int) -> None:
    assert tally.fixable >= wanted
    assert tally.fixed >= 0.99 * tally.fixable, tally.unfixed[:3]
    assert tally.others > 0


def test_a_share_of_the_random_denials() -> None:
    """100 pairs: a fix is proposed, applies, works, opens what it says, and nothing narrower would have done."""
    demand(pairs(SEED, FULL // 20), FULL // 20)


@pytest.mark.acceptance
@pytest.mark.parametrize("part", range(4))
def test_the_full_count_of_random_denials(part: int) -> None:
    """The same on 2,000 pairs with recorded seeds."""
    demand(pairs(int(os.environ.get("POLICYD_SEED", SEED + 1 + part)), FULL // 4), FULL // 4)
