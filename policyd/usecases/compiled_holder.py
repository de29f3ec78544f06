"""Verdicts from compiled wallets: the same as `admit` and `admit_type` give, without looking at every grant.

Source: questions 1, 3; cards 5.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

from policyd.core.admission import (
    Call,
    CompiledWallet,
    Decision,
    Facet,
    FacetName,
    Lapse,
    Reach,
    Reason,
    TypeAnswer,
    Verdict,
    Wallet,
    Why,
    admit,
    admit_type,
    bounded,
)
from policyd.core.admission.admit import over_instances
from policyd.core.admission.meet import meet
from policyd.core.admission.names import instances
from policyd.core.cards import Bound, Bounds, Card, CardId, GrantRef, Timestamp
from policyd.core.grants import ANY_VERB, Grant, Level, OwnerKind, Target

_LAPSES = {Lapse.ELSEWHERE: Why.ELSEWHERE, Lapse.EXPIRED: Why.EXPIRED, Lapse.REVOKED: Why.REVOKED}
_SHOWN = 3
"""How many grants of a ceiling that misses a call are named."""

_Order = tuple[int, int]
_Entry = tuple[_Order, GrantRef]


class CompiledHolder:
    """One holder's wallet, its agent id known, compiled for verdicts.

    Attributes:
        digest: names the contents; equal digests give equal verdicts.
        grants: how many grants it holds.
    """

    def __init__(self, wallet: Wallet) -> None:
        """Compile `wallet`."""
        self._wallet = wallet
        self._compiled = CompiledWallet(wallet)
        self.digest = self._compiled.digest
        self._expiries = sorted({h.card.expires_at for h in wallet.cards if h.card.expires_at is not None})
        cards = [(position, wallet.filled(held.card)) for position, held in enumerate(wallet.cards)]
        self.grants = sum(len(card.bounds.of(bound)) for _, card in cards for bound in Bound)
        self._cards = {card.id: card for _, card in cards}
        self._elsewhere: dict[tuple[str, str], list[_Entry]] = {}
        self._mortal: dict[tuple[str, str], list[_Entry]] = {}
        for position, card in cards:
            self._index(position, card)
        self._bounds: dict[int, tuple[Facet, tuple[Reason, ...]]] = {}
        self._ceilings: dict[tuple[CardId, str], tuple[GrantRef, ...]] = {}
        self._negatives: dict[tuple[str, str], list[GrantRef]] = {}
        for bound in (Bound.LOWER_NEGATIVE, Bound.UPPER_NEGATIVE):
            for _, card in cards:
                self._index_negatives(card, bound)

    def _index(self, position: int, card: Card) -> None:
        """Keep the lower positives that could count if they were for this holder, or still valid."""
        can_end = card.expires_at is not None or card.id in self._wallet.revoked
        for index, grant in enumerate(card.bounds.lower_positive):
            key = (grant.target.cls.name, grant.target.verb)
            entry = ((position, index), GrantRef(card.id, Bound.LOWER_POSITIVE, index, grant))
            if not grant.recipient.covers(self._wallet.holder):
                self._elsewhere.setdefault(key, []).append(entry)
            elif can_end:
                self._mortal.setdefault(key, []).append(entry)

    def _index_negatives(self, card: Card, bound: Bound) -> None:
        """Keep what a wide request may cover and yet not reach."""
        for index, grant in enumerate(card.bounds.of(bound)):
            if grant.recipient.covers(self._wallet.holder):
                key = (grant.target.cls.name, grant.target.verb)
                self._negatives.setdefault(key, []).append(GrantRef(card.id, bound, index, grant))

    def verdict(self, call: Call) -> Verdict:
        """The verdict on one call; an overlay of the invocation is judged the plain way."""
        if call.scope is not None or call.scope_refusal:
            return admit(self._wallet, call)
        decision = self._compiled.decide(call.target, call.at)
        cap, cap_reasons = self._bounded(call.at)
        replay, replay_reason = self._replay()
        start, end = self._interval(call, decision.is_admitted)
        return Verdict(
            Facet.YES if decision.is_admitted else Facet.NO,
            cap,
            replay,
            (*self._reasons(call, decision), *cap_reasons, replay_reason),
            start,
            end,
        )

    def _replay(self) -> tuple[Facet, Reason]:
        if self._wallet.holder.level is not Level.AGENT:
            return Facet.YES, Reason(FacetName.REPLAY_STABLE, Why.NOT_REPLAYED)
        return Facet.UNKNOWN, Reason(FacetName.REPLAY_STABLE, Why.OPERATION_NOT_GIVEN)

    def _bounded(self, at: Timestamp | None) -> tuple[Facet, tuple[Reason, ...]]:
        """The facet changes only where a card expires."""
        era = -1 if at is None else bisect_right(self._expiries, at)
        found = self._bounds.get(era)
        if found is None:
            found = self._bounds[era] = bounded(self._wallet, at)
        return found

    def _interval(self, call: Call, is_admitted: bool) -> tuple[Timestamp | None, Timestamp | None]:
        if call.at is None or not self._expiries:
            return None, None
        admits = self._compiled.admits
        start: Timestamp | None = None
        here = bisect_right(self._expiries, call.at)
        for moment in reversed(self._expiries[:here]):
            if admits(call.target, moment.plus(-1)) != is_admitted:
                start = moment
                break
        end = next((m for m in self._expiries[here:] if admits(call.target, m) != is_admitted), None)
        return start, end

    def _reasons(self, call: Call, decision: Decision) -> tuple[Reason, ...]:
        found: list[Reason] = []
        if decision.granted_by is not None:
            found.append(_reason(Why.GRANTED, decision.granted_by))
        elif decision.forbidden:
            count = decision.forbidden_count
            found += [_reason(Why.FORBIDDEN, f.denying, f.granting, count=count) for f in decision.forbidden]
        else:
            found += [_reason(why, ref) for why, ref in self._lapsed(call.target, call.at)]
            if not self._is_alive(call.at):
                found.append(_reason(Why.NO_CARDS))
            found.append(_reason(Why.NOT_GRANTED))
        for withheld in decision.withheld:
            if withheld.denying is not None:
                found.append(_reason(Why.CEILING_FORBIDS, withheld.denying, count=decision.withheld_count))
            else:
                refs = self._ceiling(withheld.card, call.target)
                count = decision.withheld_count
                found.append(Reason(FacetName.ADMITTED, Why.WITHHELD, withheld.card, refs, count=count))
        if decision.is_admitted:
            passed, count = self._compiled.passed_ceilings(call.target, call.at)
            found += [Reason(FacetName.ADMITTED, Why.LETS_THROUGH, ref.card, (ref,), count=count) for ref in passed]
            found += self._denied_parts(call.target, call.at)
        return tuple(found)

    def _denied_parts(self, target: Target, at: Timestamp | None) -> list[Reason]:
        """What a wide request covers that would be denied if it were asked by itself."""
        name = target.cls.name
        if target.verb == ANY_VERB:
            refs = [ref for verb in (*target.cls.verbs, ANY_VERB) for ref in self._negatives.get((name, verb), ())]
            refs.sort(key=lambda ref: (not ref.bound.is_lower, ref.card, ref.index))
        else:
            refs = [ref for verb in (target.verb, ANY_VERB) for ref in self._negatives.get((name, verb), ())]
            refs.sort(key=lambda ref: (not ref.bound.is_lower, ref.card, ref.index))
        found = [
            Reason(FacetName.ADMITTED, Why.PART_DENIED, ref.card, (ref,), narrow.text)
            for ref in refs
            if self._is_live(ref.card, at)
            and (narrow := meet(target, ref.grant.target)) is not None
            and narrow != target
            and not self._compiled.admits(narrow, at)
        ]
        return found[:_SHOWN] if len(found) <= _SHOWN else [replace(r, count=len(found)) for r in found[:_SHOWN]]

    def _is_alive(self, at: Timestamp | None) -> bool:
        return any(h.card.id not in self._wallet.revoked and not h.card.is_expired(at) for h in self._wallet.cards)

    def _is_live(self, card: CardId, at: Timestamp | None) -> bool:
        return card not in self._wallet.revoked and not self._cards[card].is_expired(at)

    def _lapsed(self, target: Target, at: Timestamp | None) -> Iterator[tuple[Why, GrantRef]]:
        """First what is granted to someone else by live cards, then what is no longer valid, in wallet order."""
        for ref in _covering(self._elsewhere, target):
            if self._is_live(ref.card, at):
                yield _LAPSES[Lapse.ELSEWHERE], ref
        for ref in _covering(self._mortal, target):
            if not self._is_live(ref.card, at):
                revoked = ref.card in self._wallet.revoked
                yield _LAPSES[Lapse.REVOKED if revoked else Lapse.EXPIRED], ref

    def _ceiling(self, card: CardId, target: Target) -> tuple[GrantRef, ...]:
        """The first few upper positives of a card in the class of the target, else the first of all."""
        key = (card, target.cls.name)
        found = self._ceilings.get(key)
        if found is None:
            listed = [
                GrantRef(card, Bound.UPPER_POSITIVE, index, grant)
                for index, grant in enumerate(self._cards[card].bounds.upper_positive)
                if grant.recipient.covers(self._wallet.holder)
            ]
            near = [ref for ref in listed if ref.grant.target.cls == target.cls]
            found = self._ceilings[key] = tuple(near[:_SHOWN] or listed[:1])
        return found


def _reason(why: Why, *refs: GrantRef, count: int = 1) -> Reason:
    return Reason(FacetName.ADMITTED, why, refs[0].card if refs else None, refs, count=count)


def _covering(index: dict[tuple[str, str], list[_Entry]], target: Target) -> list[GrantRef]:
    name = target.cls.name
    entries = [
        entry
        for verb in {target.verb, ANY_VERB}
        for entry in index.get((name, verb), ())
        if entry[1].grant.target.covers(target)
    ]
    return [ref for _, ref in sorted(entries, key=lambda entry: entry[0])]


class CompiledType:
    """The wallet of all agents of a type, or of one holder: compiled per instance as they are asked for."""

    MAX_INSTANCES_KEPT = 64

    def __init__(self, wallet: Wallet) -> None:
        """Nothing is compiled yet."""
        self._wallet = wallet
        self._compiled: OrderedDict[str | None, CompiledHolder] = OrderedDict()
        self._lock = Lock()
        context = wallet.context
        self.is_one = context is None or context.agent_id is not None
        self._naming = [] if self.is_one else [_naming_instances(held.card) for held in wallet.cards]
        self.grants = sum(len(h.card.bounds.of(bound)) for h in wallet.cards for bound in Bound)

    @property
    def digest(self) -> str:
        """Names the contents, for the holder itself or for an agent that no grant names."""
        return self._of(None if self.is_one else f"{self._wallet.holder.known[-1]}(…)").digest

    def _of(self, agent_id: str | None) -> CompiledHolder:
        with self._lock:
            found = self._compiled.get(agent_id)
            if found is not None:
                self._compiled.move_to_end(agent_id)
                return found
        wallet = self._wallet
        if agent_id is not None and wallet.context is not None:
            wallet = wallet.for_agent(replace(wallet.context, agent_id=agent_id))
        made = CompiledHolder(wallet)
        with self._lock:
            self._compiled[agent_id] = made
            while len(self._compiled) > self.MAX_INSTANCES_KEPT:
                self._compiled.popitem(last=False)
        return made

    def answer(self, call: Call) -> TypeAnswer:
        """The answer for the holder, or for all agents of the type, as `admit_type` gives it."""
        if call.scope is not None or call.scope_refusal:
            return admit_type(self._wallet, call)
        context = self._wallet.context
        if context is None or context.agent_id is not None:
            name = context.agent_id or "" if context else ""
            return TypeAnswer(self._of(None).verdict(call), Reach.ONE, name)
        ordinary, phantoms = instances(context.agent_type, self._naming, call.target)

        def verdict_of(agent_id: str) -> Verdict:
            agent = replace(context, agent_id=agent_id)
            return self._of(agent_id).verdict(replace(call, target=call.target.filled(agent)))

        return over_instances(ordinary, phantoms, verdict_of)


def _naming_instances(card: Card) -> Card:
    """The part of a card that names agents by their ids, for finding the instances to try."""

    def names(grant: Grant) -> bool:
        owner = grant.target.owner
        return owner.kind is OwnerKind.AGENT and bool(owner.known) and owner.known_depth == OwnerKind.AGENT.depth

    return replace(card, bounds=Bounds(*(tuple(filter(names, card.bounds.of(bound))) for bound in Bound)))
