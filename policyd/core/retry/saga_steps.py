"""What becomes of the steps of a transaction: which compensations run, what runs again, and the state it ends in.

Source: retry 6.1, 6.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.edition import Rules
from policyd.core.retry.saga import Form, SagaVerdict


class StepResult(Enum):
    """How one step ended."""

    OK = "ok"
    ERROR = "error"
    CRASH = "crash"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class SagaStep:
    """One operation of a transaction.

    Attributes:
        name: as the user calls it.
        result: how it ended; a crash interrupts it without a recorded end.
        compensation: what undoes it, empty for nothing.
        compensation_fails: whether that fails when it runs, a refused permission included.
        is_idempotent: whether a repetition is harmless; None where that is not known.
    """

    name: str
    result: StepResult = StepResult.OK
    compensation: str = ""
    compensation_fails: bool = False
    is_idempotent: bool | None = None


@dataclass(frozen=True, slots=True)
class Aftermath:
    """What follows.

    Attributes:
        compensations: that run, in order; the last one fails where `failed_compensation` is set.
        failed_compensation: the one that fails, empty for none.
        not_compensated: steps that took effect and are not undone.
        repeated: steps that run again by themselves.
        repeated_is_certain: whether that is published.
        safe: whether repeating them is harmless; None where it is not known, or nothing is repeated for sure.
        verdict: what becomes of the transaction; None where no decision is made.
        notes: what else must be said.
    """

    compensations: tuple[str, ...]
    failed_compensation: str
    not_compensated: tuple[str, ...]
    repeated: tuple[str, ...]
    repeated_is_certain: bool
    safe: bool | None
    verdict: SagaVerdict | None
    notes: tuple[str, ...]


def aftermath(form: Form, steps: tuple[SagaStep, ...], rules: Rules) -> Aftermath:
    """What follows the first step that fails or is interrupted; steps behind it did not run.

    Args:
        form: of the transaction.
        steps: in order.
        rules: the edition.
    """
    place = next((i for i, s in enumerate(steps) if s.result in (StepResult.ERROR, StepResult.CRASH)), len(steps))
    done = tuple(s for s in steps[:place] if s.result is StepResult.OK)
    if place == len(steps):
        return Aftermath((), "", (), (), True, None, SagaVerdict.COMMITTED, ())
    if steps[place].result is StepResult.CRASH:
        return _after_crash(form, done, steps[place], rules)
    return _after_error(form, done, rules)


def _after_error(form: Form, done: tuple[SagaStep, ...], rules: Rules) -> Aftermath:
    """An operation returned an error: what was done is undone in reverse order, up to the first that cannot be."""
    ran: list[str] = []
    for place, step in enumerate(reversed(done)):
        if not step.compensation:
            continue
        ran.append(step.compensation)
        if step.compensation_fails:
            left = tuple(s.name for s in reversed(done[: len(done) - place]))
            note = "no compensation is repeated by the transaction: retries of its calls are the host's or the code's"
            verdict: SagaVerdict | None = SagaVerdict.NOT_RETRIED_PARTIAL_ROLLBACK
            if form is Form.INFALLIBLE and not rules.is_next("saga"):
                verdict = SagaVerdict.NOT_A_SAGA_DECISION
            return Aftermath(tuple(ran), step.compensation, left, (), True, None, verdict, (note,))
    bare = tuple(s.name for s in done if not s.compensation)
    notes = ("what a failed operation did before it reported its error is not undone",)
    if form is Form.FALLIBLE:
        return Aftermath(tuple(ran), "", bare, (), True, None, SagaVerdict.NOT_RETRIED_FALLIBLE, notes)
    verdict = None if rules.is_next("saga") else SagaVerdict.REWIND_UNBOUNDED
    asked = ("whether the body runs again is decided by the policy for sagas",) if verdict is None else ()
    return Aftermath(tuple(ran), "", bare, (), True, None, verdict, (*notes, *asked))


def _after_crash(form: Form, done: tuple[SagaStep, ...], broken: SagaStep, rules: Rules) -> Aftermath:
    """The process was lost: no compensation runs; on recovery some of the body runs again."""
    notes = ["a crash runs no compensation: those run only when an operation returns an error"]
    whole = form is Form.INFALLIBLE and not rules.is_next("saga")
    again = (*done, broken) if whole else (broken,)
    if whole:
        notes.append("the body is one atomic region, so that all of it runs again")
    elif form is Form.INFALLIBLE:
        notes.append("not published: the body is not described as one region, so that completed steps are expected to"
                     " come from the log")  # fmt: skip
    else:
        notes.append("completed steps come from the log")
    known = [step.is_idempotent for step in again]
    safe = False if False in known else None if None in known else True
    certain = whole or form is Form.FALLIBLE
    return Aftermath((), "", (), tuple(s.name for s in again), certain, safe, None, tuple(notes))
