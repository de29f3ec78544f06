"""The steps of a transaction as a document, and what follows the one that fails.

Source: retry 6.1; questions 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from policyd.core.admission import Facet
from policyd.core.edition import Rules
from policyd.core.retry.saga import Form
from policyd.core.retry.saga_steps import Aftermath, SagaStep, StepResult, aftermath
from policyd.findings import InputError, Span
from policyd.syntax.mistakes import shown
from policyd.usecases.retry_documents import read_document, text_of_file
from policyd.usecases.saga_self_view import AgentCards

MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Plan:
    """A transaction as its author describes it.

    Attributes:
        form: of the transaction.
        steps: in order.
        targets: names of steps and compensations to the targets of their calls, as far as they are given.
    """

    form: Form
    steps: tuple[SagaStep, ...]
    targets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Followed:
    """What follows, and which calls the cards do not admit.

    Attributes:
        aftermath: of the steps.
        missing: names of steps and compensations whose calls are not admitted.
        unknown: names of those whose calls may be admitted or not; they are taken to be.
    """

    aftermath: Aftermath
    missing: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def load_plan(path: Path) -> Plan:
    """Read `{form, steps: [{name, result, target, compensation: {name, result, target}, idempotent}]}`.

    Raises:
        InputError: where it cannot be read.
    """
    read: Plan = read_document(text_of_file(path), str(path), plan_of, is_json=path.suffix == ".json")
    return read


def plan_of(document: object) -> Plan:
    """The transaction that a document describes.

    Raises:
        InputError: where it cannot be read.
    """
    rows = document.get("steps") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(rows, list):
        raise _refused(f"a transaction has `form` and up to {MAX_STEPS} `steps`", "$")
    if len(rows) > MAX_STEPS:
        raise _refused(f"a transaction has up to {MAX_STEPS} `steps`", f"$.steps[{MAX_STEPS}]")
    try:
        form = Form(document.get("form", "infallible"))
    except ValueError:
        raise _refused("`form` is `fallible` or `infallible`", "$.form") from None
    targets: dict[str, str] = {}
    return Plan(form, tuple(_step(row, targets, f"$.steps[{place}]") for place, row in enumerate(rows)), targets)


def _step(row: object, targets: dict[str, str], place: str) -> SagaStep:
    if not isinstance(row, Mapping) or not isinstance(row.get("name"), str):
        raise _refused("a step has a `name`", place)
    name = row["name"]
    try:
        result = StepResult(row.get("result", "ok"))
    except ValueError:
        raise _refused(f"the result of {shown(name)} is `ok`, `error` or `crash`", f"{place}.result") from None
    undo = row.get("compensation")
    undo = {"name": undo} if isinstance(undo, str) else undo if isinstance(undo, Mapping) else {}
    _target(name, row, targets)
    compensation = str(undo.get("name", ""))
    _target(compensation, undo, targets)
    idempotent = row.get("idempotent")
    fails = undo.get("result", "ok") != "ok"
    return SagaStep(name, result, compensation, fails, idempotent if isinstance(idempotent, bool) else None)


def _target(name: str, row: Mapping[str, object], targets: dict[str, str]) -> None:
    target = row.get("target")
    if name and isinstance(target, str):
        targets[name] = target


def follow(plan: Plan, cards: AgentCards, agent: str, rules: Rules) -> Followed:
    """What follows the step that fails; a compensation that the cards refuse fails too.

    Raises:
        InputError: where a target or the agent cannot be read.
    """
    admitted = {name: cards.may(agent, target).verdict.admitted for name, target in plan.targets.items()}
    missing = tuple(name for name, facet in admitted.items() if facet is Facet.NO)
    unknown = tuple(name for name, facet in admitted.items() if facet is Facet.UNKNOWN)
    steps = tuple(
        SagaStep(s.name, s.result, s.compensation, s.compensation_fails or s.compensation in missing, s.is_idempotent)
        for s in plan.steps
    )
    return Followed(aftermath(plan.form, steps, rules), missing, unknown)


def followed_lines(followed: Followed) -> list[str]:
    """What follows, in words."""
    after = followed.aftermath
    out = [f"compensations that run: {', '.join(after.compensations) or 'none'}"]
    if after.failed_compensation:
        out.append(f"  `{after.failed_compensation}` fails; not undone: {', '.join(after.not_compensated)}")
    if after.repeated:
        sure = "" if after.repeated_is_certain else " (expected, not published)"
        safe = {
            True: "harmless",
            False: "not harmless: some are not idempotent",
            None: "not known to be harmless",
        }
        out.append(f"runs again: {', '.join(after.repeated)}{sure}; {safe[after.safe]}")
    if after.verdict is not None:
        out.append(f"ends as: {after.verdict.value}" + (f" ({after.verdict.result})" if after.verdict.result else ""))
    if followed.missing:
        out.append(f"not admitted by the cards: {', '.join(followed.missing)}")
    if followed.unknown:
        out.append(f"not known to be admitted, taken to be: {', '.join(followed.unknown)}")
    return out + [f"note: {note}" for note in after.notes]


def followed_json(followed: Followed) -> dict[str, object]:
    """What follows, on the wire."""
    after = followed.aftermath
    return {
        "compensations": list(after.compensations),
        "failedCompensation": after.failed_compensation or None,
        "notCompensated": list(after.not_compensated),
        "repeated": list(after.repeated),
        "repeatedIsCertain": after.repeated_is_certain,
        "safe": after.safe,
        "verdict": None if after.verdict is None else after.verdict.value,
        "permissionsMissing": list(followed.missing),
        "permissionsUnknown": list(followed.unknown),
        "notes": list(after.notes),
    }


def _refused(message: str, place: str) -> InputError:
    return InputError.of("MANIF091", message, Span("steps", path=place), "see the page on retries")
