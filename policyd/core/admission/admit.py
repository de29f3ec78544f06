"""Admission of one call: decide, explain, and say how long and for whom it holds.

Source: questions 1, 3; interface.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from policyd.core.admission.bounded import bounded
from policyd.core.admission.decide import Lapse, decide, lapsed_grants, surface_at
from policyd.core.admission.decision import Decision
from policyd.core.admission.meet import meet
from policyd.core.admission.names import external_owners, instances
from policyd.core.admission.verdict import Facet, FacetName, Reason, Verdict, Why
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import GrantRef, ScopeCard, Surface, Timestamp
from policyd.core.cards.scope import scope_refusal
from policyd.core.grants import Level, Target

MAX_INSTANCES = 256
"""How many mentioned instances of a type are tried one by one; past it the answer is `unknown`."""

_LAPSES = {Lapse.ELSEWHERE: Why.ELSEWHERE, Lapse.EXPIRED: Why.EXPIRED, Lapse.REVOKED: Why.REVOKED}


@dataclass(frozen=True, slots=True)
class Call:
    """One question: a target, a moment, and the overlay of the invocation.

    Attributes:
        target: may have the owner `?agent` while only the type of the holder is known.
        at: None leaves expiry aside.
        scope: the scope card of the invocation.
        scope_refusal: why the invocation with its scope card is refused for reasons that the wallet does not show,
            empty if it is not; a nil id, the roots and their expiry are looked at anyway.
    """

    target: Target
    at: Timestamp | None = None
    scope: ScopeCard | None = None
    scope_refusal: str = ""


class Reach(Enum):
    """For whom an answer about an agent type holds."""

    ONE = "this agent"
    ALL = "every instance"
    ORDINARY = "every ordinary instance, not phantoms"
    SOME = "some instances"


@dataclass(frozen=True, slots=True)
class TypeAnswer:
    """The answer about an agent, or about all agents of a type.

    Attributes:
        verdict: what holds.
        reach: for whom.
        instance: the agent whose verdict is shown; for `SOME` the witness that is refused.
        exceptions: instances whose admission differs from that of `verdict`.
    """

    verdict: Verdict
    reach: Reach
    instance: str = ""
    exceptions: tuple[str, ...] = ()


def admit(wallet: Wallet, call: Call) -> Verdict:
    """The verdict of one holder on one call; the agent id of the holder must be known.

    Replay stability needs the operation, whose record class decides; a bare target leaves it unknown.
    """
    return admit_each(wallet, call, (call.target,))[0]


def admit_each(wallet: Wallet, call: Call, targets: Sequence[Target]) -> tuple[Verdict, ...]:
    """The verdicts on several targets at the moment and with the overlay of `call`; each as `admit` gives it."""
    ready = replace(wallet, cards=tuple(replace(held, card=wallet.filled(held.card)) for held in wallet.cards))
    refusal = refusal_of_scope(wallet, call, call.at)
    call = replace(call, scope_refusal=refusal)
    surface = surface_at(ready, call.at, call.scope)
    # not `ready`: which cards are templates, and so cannot be moved away, shows in the wallet as held
    rest = (bounded(wallet, call.at, None if refusal else call.scope), _replay(wallet))
    return tuple(_verdict(ready, replace(call, target=target), surface, *rest) for target in targets)


def _verdict(
    wallet: Wallet,
    call: Call,
    surface: Surface,
    cap: tuple[Facet, tuple[Reason, ...]],
    replay: tuple[Facet, Reason],
) -> Verdict:
    if call.scope_refusal:
        reasons: tuple[Reason, ...] = (Reason(FacetName.ADMITTED, Why.SCOPE_REFUSED, detail=call.scope_refusal),)
    else:
        decision = decide(surface, call.target)
        reasons = _admission_reasons(wallet, call, surface, decision)
    is_admitted = any(r.why is Why.GRANTED for r in reasons) and not any(r.why in _AGAINST for r in reasons)
    start, end = _interval(wallet, call, is_admitted)
    facet = Facet.YES if is_admitted else Facet.NO
    return Verdict(facet, cap[0], replay[0], (*reasons, *cap[1], replay[1]), start, end)


def refusal_of_scope(wallet: Wallet, call: Call, at: Timestamp | None) -> str:
    """Why an invocation with the scope card of `call` would be refused at `at`, empty if it would not (cards 5.4)."""
    if call.scope is None or (call.scope_refusal and at == call.at):
        return call.scope_refusal
    known = {held.card.id: held.card for held in wallet.cards}
    return scope_refusal(call.scope, known, wallet.revoked, at, roots_are_known=False) or ""


_AGAINST = frozenset({Why.WITHHELD, Why.CEILING_FORBIDS, Why.SCOPE_REFUSED})


def _replay(wallet: Wallet) -> tuple[Facet, Reason]:
    if wallet.holder.level is not Level.AGENT:
        return Facet.YES, Reason(FacetName.REPLAY_STABLE, Why.NOT_REPLAYED)
    return Facet.UNKNOWN, Reason(FacetName.REPLAY_STABLE, Why.OPERATION_NOT_GIVEN)


def _admission_reasons(wallet: Wallet, call: Call, surface: Surface, decision: Decision) -> tuple[Reason, ...]:
    def reason(why: Why, *refs: GrantRef, count: int = 1) -> Reason:
        return Reason(FacetName.ADMITTED, why, refs[0].card if refs else None, refs, count=count)

    found: list[Reason] = []
    if decision.granted_by is not None:
        found.append(reason(Why.GRANTED, decision.granted_by))
    elif decision.forbidden:
        found += [
            reason(Why.FORBIDDEN, f.denying, f.granting, count=decision.forbidden_count) for f in decision.forbidden
        ]
    else:
        lapsed = lapsed_grants(wallet, call.target, call.at)
        found += [reason(_LAPSES[item.lapse], item.ref) for item in lapsed]
        if not surface.sources:
            found.append(reason(Why.NO_CARDS))
        found.append(reason(Why.NOT_GRANTED))
    for withheld in decision.withheld:
        if withheld.denying is not None:
            found.append(reason(Why.CEILING_FORBIDS, withheld.denying, count=decision.withheld_count))
        else:
            part = next(p for p in surface.upper if p.card == withheld.card)
            near = [ref for ref in part.positive if ref.grant.target.cls == call.target.cls]
            refs = tuple(near[:3] or part.positive[:1])
            found.append(Reason(FacetName.ADMITTED, Why.WITHHELD, withheld.card, refs, count=decision.withheld_count))
    if decision.is_admitted:
        found += _passed_ceilings(surface, call.target)
        found += _denied_parts(surface, call.target)
    return tuple(found)


def _denied_parts(surface: Surface, target: Target) -> list[Reason]:
    """What a wide request covers that would be denied if it were asked by itself.

    A negative stops a request only if it covers the whole of it (E6), so the wide request passes; a person
    who asks for "any" must be told of the exceptions. Each is confirmed by deciding it.
    """
    found: list[Reason] = []
    for part in (*surface.lower, *surface.upper):
        for ref in part.negative:
            narrow = meet(target, ref.grant.target)
            if narrow is None or narrow == target or decide(surface, narrow).is_admitted:
                continue
            found.append(Reason(FacetName.ADMITTED, Why.PART_DENIED, ref.card, (ref,), narrow.text))
    return found[:3] if len(found) <= 3 else [replace(reason, count=len(found)) for reason in found[:3]]


def _passed_ceilings(surface: Surface, target: Target) -> list[Reason]:
    """The ceilings that the target passes, by the grants that let it through."""
    passed = [ref for part in surface.upper if part.positive and (ref := part.granting(target)) is not None]
    return [Reason(FacetName.ADMITTED, Why.LETS_THROUGH, ref.card, (ref,), count=len(passed)) for ref in passed[:3]]


def _interval(wallet: Wallet, call: Call, is_admitted: bool) -> tuple[Timestamp | None, Timestamp | None]:
    """From when to when the answer holds, looking at the expiry of cards alone."""
    moments = sorted({held.card.expires_at for held in wallet.cards if held.card.expires_at is not None})
    if call.at is None or not moments:
        return None, None

    def same(at: Timestamp) -> bool:
        if refusal_of_scope(wallet, call, at):
            return not is_admitted
        return decide(surface_at(wallet, at, call.scope), call.target).is_admitted == is_admitted

    start: Timestamp | None = None
    for moment in reversed([m for m in moments if m <= call.at]):
        if not same(moment.plus(-1)):
            start = moment
            break
    end = next((m for m in moments if m > call.at and not same(m)), None)
    return start, end


def admit_type(wallet: Wallet, call: Call) -> TypeAnswer:
    """The verdict on one call for an agent, or for all agents of a type while only the type is known.

    A type of which only some instances are admitted is `no`, with an instance as witness.
    """
    context = wallet.context
    if context is None or context.agent_id is not None:
        return TypeAnswer(admit(wallet, call), Reach.ONE, context.agent_id or "" if context else "")
    cards = [held.card for held in wallet.cards]
    if wallet.holder.is_external_tool_owner:
        owners = external_owners(cards, call.target)
        return as_one(over_instances(owners, (), lambda name: _for_instance(wallet, call, name)))
    ordinary, phantoms = instances(context.agent_type, cards, call.target)
    return over_instances(ordinary, phantoms, lambda name: _for_instance(wallet, call, name))


def as_one(answer: TypeAnswer) -> TypeAnswer:
    """The answer about the one external tool owner of a component: open where its unknown UUID decides."""
    if not answer.exceptions:
        return TypeAnswer(answer.verdict, Reach.ONE, answer.instance)
    note = Reason(FacetName.ADMITTED, Why.NAME_DECIDES, detail="the UUID in the run-time id of the owner")
    told = tuple(r for r in answer.verdict.reasons if r.why is not Why.SOME_INSTANCES)
    return TypeAnswer(replace(answer.verdict, admitted=Facet.UNKNOWN, reasons=(note, *told)), Reach.ONE)


def over_instances(
    ordinary: Sequence[str], phantoms: Sequence[str], verdict_of: Callable[[str], Verdict]
) -> TypeAnswer:
    """One answer for all agents of a type, from the verdicts of those that stand for the others.

    Args:
        ordinary: ids to try, as `names.instances` gives them; at least one.
        phantoms: likewise.
        verdict_of: the verdict of one of them.
    """
    if len(ordinary) + len(phantoms) > MAX_INSTANCES:
        verdict = verdict_of(ordinary[0])
        note = Reason(FacetName.ADMITTED, Why.NAME_DECIDES, detail="more instances are named than are tried")
        verdict = replace(verdict, admitted=Facet.UNKNOWN, reasons=(note, *verdict.reasons))
        return TypeAnswer(verdict, Reach.SOME, ordinary[0])
    answers = {name: verdict_of(name) for name in (*ordinary, *phantoms)}
    common = answers[ordinary[0]]
    exceptions = tuple(name for name, verdict in answers.items() if verdict.admitted is not common.admitted)
    if not exceptions:
        return TypeAnswer(common, Reach.ALL, ordinary[0])
    if not any(name in ordinary for name in exceptions):
        return TypeAnswer(common, Reach.ORDINARY, ordinary[0], exceptions)
    refused = next(name for name in ordinary if answers[name].admitted is Facet.NO)
    verdict = answers[refused]
    note = Reason(FacetName.ADMITTED, Why.SOME_INSTANCES, detail=refused)
    admitted = tuple(name for name, v in answers.items() if v.admitted is Facet.YES)
    return TypeAnswer(replace(verdict, reasons=(note, *verdict.reasons)), Reach.SOME, refused, admitted)


def _for_instance(wallet: Wallet, call: Call, agent_id: str) -> Verdict:
    assert wallet.context is not None  # only asked for agents
    context = replace(wallet.context, agent_id=agent_id)
    return admit(wallet.for_agent(context), replace(call, target=call.target.filled(context)))
