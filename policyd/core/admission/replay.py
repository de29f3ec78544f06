"""Whether a replay of an operation gives the same outcome, whatever happened to the wallet meanwhile.

Source: questions 1 (replay-stable), 5; host 0.2, 1.5; sdk-facts 5, 6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from policyd.core.admission.verdict import Facet, FacetName, Reason, Why
from policyd.core.admission.wallet import Wallet
from policyd.core.cards import Timestamp
from policyd.core.grants import Level
from policyd.core.operations import Arguments, Generation, Operation, RecordClass
from policyd.core.operations.durable import Declarations, repeated_parts, undeclared_parts

Answer = tuple[Facet, tuple[Reason, ...]]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What is at hand to tell whether an operation is stable under replay.

    Attributes:
        operation: which.
        arguments: of the question.
        generation: of the WASI interfaces, None if not given.
        carrier: what carries a secret handle, None if not given.
        changes_at: when the answer on *admitted* changes by the expiry of cards, None if never.
        is_published: whether it is known what the operation asks for.
        declarations: what the program declares of durable operations and streams.
    """

    operation: Operation
    arguments: Arguments
    generation: Generation | None
    carrier: Operation | None
    changes_at: Timestamp | None
    is_published: bool
    declarations: Declarations


def replay_stable(wallet: Wallet, replayed: Replayed) -> Answer:
    """The facet *replay-stable* with its reasons; the record class of the operation is the evidence."""
    if wallet.holder.level is not Level.AGENT:
        return _answer(Facet.YES, Why.NOT_REPLAYED)
    match replayed.operation.effect:
        case "durable":
            return _durable(replayed)
        case "stream":
            return _stream(replayed)
        case _:
            return _by_record(replayed)


def _answer(facet: Facet, why: Why, detail: str = "") -> Answer:
    return facet, (Reason(FacetName.REPLAY_STABLE, why, detail=detail),)


def _by_record(replayed: Replayed) -> Answer:
    operation = replayed.operation
    record = operation.record.of(replayed.generation)
    if record is RecordClass.CARRIER:
        if replayed.carrier is None:
            return _answer(Facet.UNKNOWN, Why.RECORD_DEPENDS, "the operation that carries the handle")
        record = replayed.carrier.record.of(replayed.generation)
    match record:
        case None:
            return _answer(Facet.UNKNOWN, Why.RECORD_DEPENDS, "the WASI generation, `p2` or `p3`")
        case RecordClass.CARRIER:
            return _answer(Facet.UNKNOWN, Why.RECORD_DEPENDS, "the operation that carries the handle")
        case RecordClass.UNGATED if not replayed.is_published:
            return _answer(Facet.UNKNOWN, Why.NOT_DETERMINABLE, f"what `{operation.id}` asks for is not published")
        case RecordClass.UNGATED:
            return _answer(Facet.YES, Why.NOTHING_ASKED, "no card decides about it")
        case RecordClass.RECORDED | RecordClass.FILTERED:
            if replayed.changes_at is not None:
                return _answer(Facet.NO, Why.CRASH_DECIDES, replayed.changes_at.text)
            kept = "results and denials" if record is RecordClass.RECORDED else "the view that was left"
            return _answer(Facet.YES, Why.DENIAL_RECORDED, kept)
        case RecordClass.NOT_RECORDED:
            return _answer(Facet.NO, Why.DENIAL_NOT_RECORDED)
        case RecordClass.RE_EVALUATED:
            return _answer(Facet.NO, Why.EVALUATED_AGAIN)
        case RecordClass.SERVICE:
            return _answer(Facet.YES, Why.NOT_REPLAYED)
        case _:
            assert_never(record)


def _durable(replayed: Replayed) -> Answer:
    """An operation that did not finish runs its whole body again."""
    known = replayed.declarations.operations.get(str(replayed.arguments.get("operation", "")))
    if known is None:
        return _answer(Facet.UNKNOWN, Why.NOT_DETERMINABLE, "the effects of its body are not declared")
    repeated = repeated_parts(known, replayed.declarations)
    if repeated:
        return _answer(Facet.NO, Why.REPEATED_EFFECT, ", ".join(repeated))
    missing = undeclared_parts(known, replayed.declarations)
    if missing:
        return _answer(Facet.UNKNOWN, Why.NOT_DETERMINABLE, f"nothing is declared of `{'`, `'.join(missing)}`")
    return _answer(Facet.YES, Why.DENIAL_RECORDED, "results, and the effects of its body may be repeated")


def _stream(replayed: Replayed) -> Answer:
    """Readers rebuild their buffer and index; writers that are forked collide unless each branch is a producer."""
    if replayed.operation.id == "stream.read":
        return _answer(Facet.YES, Why.DENIAL_RECORDED, "what was read; buffer and index are rebuilt")
    known = replayed.declarations.streams.get(str(replayed.arguments.get("stream", "")))
    if known is None or known.has_forks is None:
        return _answer(Facet.UNKNOWN, Why.NOT_DETERMINABLE, "whether agents that hold the stream are forked")
    if known.has_forks and not known.has_own_producers:
        return _answer(Facet.NO, Why.REPEATED_EFFECT, "forked branches append under one producer identity")
    return _answer(Facet.YES, Why.DENIAL_RECORDED, "producer, epoch and sequence")
