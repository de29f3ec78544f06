"""What came of policy tests: lines of text, JSON, and cases of a JUnit suite.

Source: interface, `test`, Words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from policyd.findings import Span
from policyd.report.as_junit import Case as JunitCase
from policyd.report.durations import count_words
from policyd.usecases.answer import Answer, answer_json
from policyd.usecases.chain_check import ChainReport
from policyd.usecases.chain_report import report_json
from policyd.usecases.operation_answer import OperationAnswer
from policyd.usecases.operation_words import operation_answer_json
from policyd.usecases.policy_tests import Outcome
from policyd.usecases.policy_tests_answers import RetryTold, Told
from policyd.usecases.policy_tests_coverage import Coverage, Part
from policyd.usecases.policy_tests_mutation import Mutant, Mutation
from policyd.usecases.proofs import Proof, proof_json
from policyd.usecases.reach import Reach
from policyd.usecases.reach_words import reach_json
from policyd.usecases.retry_resolve import resolved_json
from policyd.usecases.retry_simulate import course_json
from policyd.usecases.saga_words import saga_json

FAILED = "TEST010"
UNTOUCHED = "TEST011"
SURVIVES = "TEST012"
OPEN = "TEST013"

MAX_TOLD = 200
"""So many changes are told one by one; the others are counted."""

Explained = Callable[[Outcome], str]
"""The answer to a failed expectation, as its verb shows it."""


@dataclass(frozen=True, slots=True)
class TestReport:
    """Everything that is told.

    Attributes:
        outcomes: of all files.
        coverage: None where it was not asked for.
        mutation: likewise.
        editions: the labels of the rules.
        left_out: tests that were not asked, because they are about other environments.
    """

    __test__ = False

    outcomes: tuple[Outcome, ...]
    coverage: Coverage | None
    mutation: Mutation | None
    editions: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """Those that do not hold."""
        return tuple(outcome for outcome in self.outcomes if outcome.failures)

    @property
    def holds(self) -> bool:
        """Whether every expectation holds and every change that was asked for is noticed."""
        mutation = self.mutation
        return not self.failed and (mutation is None or not (mutation.told or mutation.not_tried))


def report_lines(report: TestReport, explained: Explained) -> Iterator[str]:
    """The report as a person reads it."""
    for outcome in report.failed:
        yield f"FAILED {outcome.span.where} {outcome.test}: {outcome.about} [{FAILED}]"
        yield from (f"  {line}" for line in outcome.failures)
        yield from (f"  | {line}".rstrip() for line in explained(outcome).split("\n"))
    if report.coverage is not None:
        yield from (part_text(part) for part in report.coverage.untouched)
        yield from (f"not known: {text}" for text in report.coverage.not_known)
    if report.mutation is not None:
        yield from (mutant_text(mutant) for mutant in report.mutation.told[:MAX_TOLD])
        if len(report.mutation.told) > MAX_TOLD:
            yield f"… and {len(report.mutation.told) - MAX_TOLD} more changes"
        if report.mutation.not_tried:
            count = count_words(report.mutation.not_tried, "grant")
            yield f"not tried: not every change of {count}; give more `--budget` [{OPEN}]"
        yield from (f"not changed: {text}" for text in report.mutation.not_mutated)
    yield from (f"left out: {name}, which is about other environments" for name in report.left_out)
    yield f"{len(report.outcomes) - len(report.failed)} of {len(report.outcomes)} expectations hold"
    if report.coverage is not None:
        yield f"touched: {coverage_words(report.coverage)}"
    if report.mutation is not None:
        yield f"changes: {mutation_words(report.mutation)}"
    yield f"edition: {', '.join(report.editions)}"


_PLURAL = {"grant": "grants", "policy": "retry policies", "layer": "layers of chains"}


def coverage_words(coverage: Coverage) -> str:
    """How much of what is touched."""
    words = [f"{done} of {total} {_PLURAL[kind]}" for kind, done, total in coverage.counts]
    return ", ".join(words) or "there is nothing to touch"


def mutation_words(mutation: Mutation) -> str:
    """What became of the changes."""
    words = f"{mutation.noticed} of {mutation.tried} noticed, {mutation.equivalent} admit the same calls"
    for what, text in (("survives", "not noticed"), ("undecided", "undecided")):
        if mutation.count(what):
            words += f", {mutation.count(what)} {text}"
    return words


def part_text(part: Part) -> str:
    """One line about what no test touches."""
    noun = {"grant": "", "policy": "retry policy ", "layer": ""}[part.kind]
    text = part.text if part.kind == "layer" else f"`{part.text.rstrip()}`"
    return f"untouched: {_at(part.span)}{part.owner}: {noun}{text} [{UNTOUCHED}]"


def mutant_text(mutant: Mutant) -> str:
    """One line about a change that no test notices."""
    witness = f", for example {mutant.witness}" if mutant.witness else ""
    code = SURVIVES if mutant.what == "survives" else OPEN
    grant = f"`{mutant.grant.rstrip()}`"
    return f"{mutant.what}: {_at(mutant.span)}{mutant.agent}: {grant} {mutant.change}{witness} [{code}]"


def _at(span: Span | None) -> str:
    return f"{span.where} " if span is not None else ""


def report_test_json(report: TestReport) -> dict[str, object]:
    """The report on the wire; docs/schemas/policy-tests.schema.json describes it."""
    value: dict[str, object] = {
        "holds": report.holds,
        "expectations": [_outcome_json(outcome) for outcome in report.outcomes],
        "leftOut": list(report.left_out),
        "edition": ", ".join(report.editions),
    }
    if report.coverage is not None:
        value["coverage"] = {
            "counts": {kind: {"touched": done, "all": total} for kind, done, total in report.coverage.counts},
            "untouched": [_part_json(part) for part in report.coverage.untouched],
            "notKnown": list(report.coverage.not_known),
        }
    if report.mutation is not None:
        found = report.mutation
        value["mutation"] = {
            "counts": {
                "noticed": found.noticed,
                "equivalent": found.equivalent,
                "survives": found.count("survives"),
                "undecided": found.count("undecided"),
            },
            "notTriedGrants": found.not_tried,
            "mutants": [_mutant_json(mutant) for mutant in found.told],
            "notMutated": list(found.not_mutated),
        }
    return value


def _outcome_json(outcome: Outcome) -> dict[str, object]:
    value: dict[str, object] = {
        "test": outcome.test,
        "about": outcome.about,
        "holds": not outcome.failures,
        "failures": list(outcome.failures),
        "place": _place_json(outcome.span),
    }
    if outcome.failures:
        value["code"] = FAILED
        value["answer"] = told_json(outcome.told, outcome.edition)
    return value


def told_json(told: Told, edition: str) -> object:
    """The answer as its verb writes it as JSON."""
    match told:
        case Answer():
            return answer_json(told)
        case OperationAnswer():
            return operation_answer_json(told)
        case Proof():
            return proof_json(told)
        case Reach():
            return reach_json(told)
        case RetryTold(resolved, course):
            return {
                "resolved": None if resolved is None else resolved_json(resolved),
                "course": None if course is None else course_json(course),
            }
        case ChainReport():
            return report_json(told, edition)
        case _:
            return saga_json(told)


def _part_json(part: Part) -> dict[str, object]:
    return {
        "code": UNTOUCHED,
        "kind": part.kind,
        "owner": part.owner,
        "text": part.text,
        "place": _place_json(part.span),
    }


def _mutant_json(mutant: Mutant) -> dict[str, object]:
    return {
        "code": SURVIVES if mutant.what == "survives" else OPEN,
        "what": mutant.what,
        "agent": mutant.agent,
        "grant": mutant.grant,
        "change": mutant.change,
        "witness": mutant.witness,
        "place": _place_json(mutant.span),
    }


def _place_json(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    return {"source": span.source, "line": span.line, "column": span.column, "path": span.path}


def junit_cases(report: TestReport, explained: Explained) -> Sequence[JunitCase]:
    """A case for every expectation; untouched parts are skipped ones, unnoticed changes fail."""
    cases = []
    for outcome in report.outcomes:
        detail = explained(outcome) if outcome.failures else ""
        cases.append(JunitCase(outcome.test, outcome.about, "; ".join(outcome.failures), detail))
    cases += [JunitCase(name, name, skipped="about other environments") for name in report.left_out]
    if report.coverage is not None:
        cases += [JunitCase("coverage", part_text(p), skipped="no test touches it") for p in report.coverage.untouched]
    for mutant in report.mutation.told if report.mutation is not None else ():
        cases.append(JunitCase("mutants", mutant_text(mutant), f"{mutant.what}: no test notices it"))
    if report.mutation is not None and report.mutation.not_tried:
        count = count_words(report.mutation.not_tried, "grant")
        cases.append(JunitCase("mutants", f"not every change of {count} was tried", f"not tried [{OPEN}]"))
    return cases
