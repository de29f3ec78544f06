"""Admission of an operation: all its targets, and the three facets that a person signs.

Source: questions 1; host 1.2, 1.5, 1.6, 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policyd.core.admission.admit import Call, admit_each
from policyd.core.admission.bounded import bounded
from policyd.core.admission.decide import decide, surface_at
from policyd.core.admission.replay import Replayed, replay_stable
from policyd.core.admission.verdict import Facet, FacetName, Reason, Verdict, Why
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import ScopeCard, Timestamp
from policyd.core.cards.scope import scope_refusal
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Level, Target
from policyd.core.operations import (
    NO_PORTS,
    Arguments,
    Asked,
    Asker,
    Combine,
    Generation,
    Operation,
    Ports,
    Refusal,
    Unclear,
    asked_by,
)
from policyd.core.operations.durable import NOTHING_DECLARED, Declarations
from policyd.core.operations.parameters import GENERATION


@dataclass(frozen=True, slots=True)
class OperationCall:
    """One question about an operation.

    Attributes:
        operation: of the catalogue.
        arguments: as users give them.
        at: None leaves expiry aside.
        scope: the scope card of the invocation, already admitted.
        scope_refusal: why the invocation with its scope card is refused, empty if it is not.
        generation: of the WASI interfaces; None if not given, or as the argument `wasi`.
        carrier: the operation that carries a secret handle, None if not given.
        executing: account, application, environment and component of a tool whose code asks; empty for the agent's own.
        declarations: what the program declares of durable operations and streams.
    """

    operation: Operation
    arguments: Arguments
    at: Timestamp | None = None
    scope: ScopeCard | None = None
    scope_refusal: str = ""
    generation: Generation | None = None
    carrier: Operation | None = None
    executing: tuple[str, ...] = ()
    declarations: Declarations = NOTHING_DECLARED


@dataclass(frozen=True, slots=True)
class AskedVerdict:
    """One target and what the wallet says to it."""

    asked: Asked
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class OperationVerdict:
    """The answer about an operation.

    Attributes:
        operation: which.
        targets: 0..n, in the order in which they are asked; all of them, also behind the first that is refused.
        verdict: of the operation as a whole.
        alternatives: where *replay-stable* is unknown for want of the WASI generation, its value under each.
    """

    operation: Operation
    targets: tuple[AskedVerdict, ...]
    verdict: Verdict
    alternatives: tuple[tuple[Generation, Facet], ...] = ()

    @property
    def first_refused(self) -> AskedVerdict | None:
        """The first target that is not admitted: the one that errors name."""
        return next((t for t in self.targets if t.verdict.admitted is Facet.NO), None)


def admit_operation(
    wallet: Wallet, call: OperationCall, ports: Ports = NO_PORTS, rules: Rules = NEXT
) -> OperationVerdict:
    """The verdict of one holder on one operation, target by target and as a whole.

    All targets are needed. Of the operations that filter, each entry stays or goes by itself, and the whole is
    admitted if every entry that the question names is.

    Args:
        wallet: of the holder; its agent id must be known where targets are about the agent itself.
        call: the question.
        ports: what reads URLs and SQL.
        rules: the edition.
    """
    used, call = _of_code(wallet, call, rules)
    asker = asker_of(wallet, call)
    asked = asked_by(call.operation, call.arguments, asker, ports, rules)
    if isinstance(asked, (Refusal, Unclear)):
        targets: tuple[AskedVerdict, ...] = ()
    else:
        verdicts = _decided(used, call, [item.target for item in asked])
        targets = tuple(AskedVerdict(item, verdict) for item, verdict in zip(asked, verdicts, strict=True))
    refusal = _scope_refusal(used, call, call.at)
    facet, reasons = _admitted(asked, targets, replace(call, scope_refusal=refusal), asker, rules)
    cap, cap_reasons = _bounded(used, replace(call, scope=None) if refusal else call, asked)
    start, end = _interval(facet, targets)
    replayed = Replayed(
        call.operation,
        call.arguments,
        _generation(call),
        call.carrier,
        end if call.at is not None else _first_change(used, call, targets),
        not call.operation.is_unknown(rules),
        call.declarations,
    )
    replay, replay_reasons = replay_stable(used, replayed)
    verdict = Verdict(facet, cap, replay, (*reasons, *cap_reasons, *replay_reasons), start, end)
    return OperationVerdict(call.operation, targets, verdict, _alternatives(used, replayed, replay))


def _generation(call: OperationCall) -> Generation | None:
    """The WASI generation, as the question or one of its arguments names it."""
    given = call.arguments.get(GENERATION)
    return call.generation or next((g for g in Generation if g.value == given), None)


def asker_of(wallet: Wallet, call: OperationCall) -> Asker:
    """Who asks, from a wallet."""
    account = wallet.holder.known[0] if wallet.holder.level is not Level.ANY else wallet.recorded_account
    return Asker(account, wallet.context, wallet.recorded_account, call.executing)


def _scope_refusal(wallet: Wallet, call: OperationCall, at: Timestamp | None) -> str:
    """Why the invocation with its scope card is refused at a moment, whatever the operation; empty if it is not."""
    if call.scope is None or (call.scope_refusal and at == call.at):
        return call.scope_refusal
    known = {held.card.id: held.card for held in wallet.cards}
    return scope_refusal(call.scope, known, wallet.revoked, at, roots_are_known=False) or ""


def _of_code(wallet: Wallet, call: OperationCall, rules: Rules) -> tuple[Wallet, OperationCall]:
    """What counts for the code that asks: for tools of the older edition the initial card of the agent's type alone."""
    if not call.executing or rules.is_next("tool_code_authority"):
        return wallet, call
    cards = tuple(held for held in wallet.cards if held.is_initial)
    return replace(wallet, cards=cards, revoked=frozenset()), replace(call, scope=None, scope_refusal="")


def _decided(wallet: Wallet, call: OperationCall, targets: Sequence[Target]) -> Sequence[Verdict]:
    if not targets:
        return ()
    question = Call(targets[0], call.at, call.scope, call.scope_refusal)
    verdicts = admit_each(wallet, question, targets)
    if call.operation.effect != "without-moved-card":
        return verdicts
    moved = call.arguments.get("card")
    away = [held.card.id for held in wallet.cards if moved is None or held.card.id == str(moved)]
    rests = [admit_each(wallet.without(card), question, targets) for card in away]
    return [_without_moved(verdict, [rest[index] for rest in rests]) for index, verdict in enumerate(verdicts)]


def _without_moved(verdict: Verdict, rests: Sequence[Verdict]) -> Verdict:
    """The verdict without the card that is moved, from the verdicts without each card that may be it."""
    if not rests:
        return verdict
    if len({rest.admitted for rest in rests}) == 1:
        return rests[0]
    note = Reason(FacetName.ADMITTED, Why.NOT_DETERMINABLE, detail="it is asked without the card that is moved")
    return replace(verdict, admitted=Facet.UNKNOWN, reasons=(note, *verdict.reasons))


def _admitted(
    asked: Sequence[Asked] | Refusal | Unclear,
    targets: tuple[AskedVerdict, ...],
    call: OperationCall,
    asker: Asker,
    rules: Rules,
) -> tuple[Facet, tuple[Reason, ...]]:
    """The facet *admitted* of the whole, from its targets and from what is decided beside them."""
    operation = call.operation
    if isinstance(asked, Refusal):
        return Facet.NO, (_because(Why.TARGET_REFUSED, asked.message),)
    if isinstance(asked, Unclear):
        return Facet.UNKNOWN, (_because(Why.NOT_DETERMINABLE, asked.message),)
    if call.scope_refusal:
        return Facet.NO, (_because(Why.SCOPE_REFUSED, call.scope_refusal),)
    foreign = _foreign_environment(operation, targets, asker)
    if foreign:
        return Facet.NO, (_because(Why.TARGET_REFUSED, foreign),)
    facet, reasons = _of_targets(operation, targets)
    if operation.is_unknown(rules) and facet is Facet.YES:
        note = _because(Why.NOT_DETERMINABLE, f"what `{operation.id}` asks for is not published")
        return Facet.UNKNOWN, (note, *(r for r in reasons if r.why is not Why.NOTHING_ASKED))
    if operation.may_go_unasked and facet is Facet.NO:
        return _may_go_unasked(call, asker, reasons)
    if facet is Facet.YES and operation.fails_under and not rules.is_next(operation.fails_under):
        part = f"edition `{rules.edition.value}` has no dispatcher for it"
        return facet, (*reasons, _because(Why.PART_MISSING, part))
    return facet, reasons


def _because(why: Why, detail: str) -> Reason:
    return Reason(FacetName.ADMITTED, why, detail=detail)


def _of_targets(operation: Operation, targets: tuple[AskedVerdict, ...]) -> tuple[Facet, tuple[Reason, ...]]:
    if not targets:
        detail = "these arguments name nothing" if operation.is_gated else "no card decides about it"
        return Facet.YES, (_because(Why.NOTHING_ASKED, detail),)
    for wanted in (Facet.NO, Facet.UNKNOWN):
        for target in targets:
            if target.verdict.admitted is wanted:
                return wanted, target.verdict.because(FacetName.ADMITTED)
    found = dict.fromkeys(reason for target in targets for reason in target.verdict.because(FacetName.ADMITTED))
    return Facet.YES, tuple(found)


def _foreign_environment(operation: Operation, targets: tuple[AskedVerdict, ...], asker: Asker) -> str:
    """Why the host refuses the agent of another environment before any card is asked, or nothing."""
    if operation.effect != "own-environment":
        return ""
    own = asker.place[:3]
    if all(item.asked.target.owner.known[:3] == own for item in targets):
        return ""
    return "an agent of another environment is refused whatever the grants"


def _may_go_unasked(call: OperationCall, asker: Asker, reasons: tuple[Reason, ...]) -> tuple[Facet, tuple[Reason, ...]]:
    """A refusal that only counts where another executor runs the other agent."""
    own = asker.agent.agent_id if asker.agent is not None else None
    if own is not None and call.arguments.get("agent") == own:
        return Facet.YES, (_because(Why.NOTHING_ASKED, "it is the agent's own"),)
    match call.arguments.get("placement"):
        case "same-executor":
            return Facet.YES, (_because(Why.NOTHING_ASKED, "the same executor runs both agents"),)
        case "other-executor":
            return Facet.NO, reasons
        case _:
            note = _because(Why.NOT_DETERMINABLE, "nothing is asked where the same executor runs both agents")
            return Facet.UNKNOWN, (note, *reasons)


def _bounded(
    wallet: Wallet, call: OperationCall, asked: Sequence[Asked] | Refusal | Unclear
) -> tuple[Facet, tuple[Reason, ...]]:
    """What no card decides about, no ceiling caps."""
    if not call.operation.is_gated or (not isinstance(asked, (Refusal, Unclear)) and not asked):
        return Facet.NO, (Reason(FacetName.BOUNDED, Why.UNCAPPED),)
    return bounded(wallet, call.at, call.scope)


def _interval(facet: Facet, targets: tuple[AskedVerdict, ...]) -> tuple[Timestamp | None, Timestamp | None]:
    """From when to when the answer surely holds: while nothing that decided it changes."""
    deciding = targets if facet is Facet.YES else tuple(t for t in targets if t.verdict.admitted is facet)[:1]
    starts = [t.verdict.holds_from for t in deciding if t.verdict.holds_from is not None]
    ends = [t.verdict.holds_until for t in deciding if t.verdict.holds_until is not None]
    return max(starts, default=None), min(ends, default=None)


def _first_change(wallet: Wallet, call: OperationCall, targets: tuple[AskedVerdict, ...]) -> Timestamp | None:
    """Where no moment is given: the first expiry that changes the answer on some target."""
    for moment in sorted({held.card.expires_at for held in wallet.cards if held.card.expires_at is not None}):
        surface = surface_at(wallet, moment, call.scope)
        is_refused = bool(_scope_refusal(wallet, call, moment))
        for item in targets:
            is_admitted = not is_refused and decide(surface, item.asked.target).is_admitted
            if is_admitted != (item.verdict.admitted is Facet.YES):
                return moment
    return None


def _alternatives(wallet: Wallet, replayed: Replayed, replay: Facet) -> tuple[tuple[Generation, Facet], ...]:
    record = replayed.operation.record
    if replay is not Facet.UNKNOWN or record.p2 is record.p3 or replayed.generation is not None:
        return ()
    return tuple(
        (generation, replay_stable(wallet, replace(replayed, generation=generation))[0]) for generation in Generation
    )


def entries(answer: OperationVerdict) -> tuple[tuple[str, Facet], ...]:
    """Of an operation that filters: each target by its text, and whether it stays."""
    if answer.operation.combine is not Combine.FILTER:
        return ()
    return tuple((item.asked.target.text, item.verdict.admitted) for item in answer.targets)
