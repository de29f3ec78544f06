"""policyd test: does what the policy tests expect hold, and what do they not notice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import budget_of

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.usecases.policy_tests import Outcome
    from policyd.usecases.policy_tests_subjects import Subject
    from policyd.usecases.proofs import Proof


@click.command("test")
@click.argument("files", nargs=-1, required=True, type=opt.FILE)
@click.option("--env", help="Environment; default: those of each file.")
@click.option("--include-root", type=opt.FILE, help="Folder below which the files that tests name may lie.")
@click.option("--coverage", is_flag=True, help="Name the grants, retry policies and layers that no test touches.")
@click.option("--mutate", is_flag=True, help="Name the changes of grants that no test notices (exit 1).")
@budget_of
@click.option("--switch", multiple=True, help="A rule set apart from its edition: name=value.")
@click.option("--edition", help="Rules of the platform: next or snapshot; default: those of each file, else next.")
@opt.output("text", "json", "junit")
def command(
    files: tuple[Path, ...],
    env: str | None,
    include_root: Path | None,
    coverage: bool,
    mutate: bool,
    budget: float,
    edition: str | None,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Run policy tests; a failed expectation comes with the answer of the verb that decides it.

    Exit 0: all hold; 1: some fail, or with --mutate a change is not noticed; 2: a file cannot be read.
    """
    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.report.as_junit import suite_xml
    from policyd.usecases.policy_tests import Settings, runs_of
    from policyd.usecases.policy_tests_coverage import coverage_of
    from policyd.usecases.policy_tests_mutation import mutated
    from policyd.usecases.policy_tests_report import TestReport, junit_cases, report_lines, report_test_json

    opt.rules_of(edition or "next", switch)  # a mistake in the flags is no mistake of a file
    switches = dict(text.split("=", 1) for text in switch)
    settings = Settings(edition, switches, env, include_root, budget, stored_subject)
    ran = [(run, run.all()) for path in dict.fromkeys(files) for run in runs_of(path, settings)]
    report = TestReport(
        tuple(outcome for _, found in ran for outcome in found),
        coverage_of(ran) if coverage else None,
        mutated(ran, budget) if mutate else None,
        tuple(dict.fromkeys(run.rules.label for run, _ in ran)),
        tuple(name for run, _ in ran for name in run.left_out),
    )
    match format:
        case "json":
            write(as_json(report_test_json(report)), output)
        case "junit":
            write(suite_xml("policyd test", junit_cases(report, _explained)), output)
        case _:
            write(visible_lines([*report_lines(report, _explained)]), output)
    return Exit.YES if report.holds else Exit.NO


def stored_subject(place: str, rules: Rules, component: str, definitions: tuple[Path, ...]) -> Subject:
    """What the store holds at a place.

    Raises:
        InputError: if there is no such place.
    """
    from policyd.cli.store import database
    from policyd.usecases.policy_tests_stored import FromStore
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.stored_decisions import Decisions

    decisions = Decisions()
    with database() as store:
        snapshots = StoredSnapshots(store)
        info = snapshots.resolve(place)
        facts = decisions.facts(snapshots, info)
    return FromStore(facts, info, decisions, rules, place, component, definitions)


def _explained(outcome: Outcome) -> str:
    """The answer as the verb shows it that decides the expectation."""
    from policyd.cli.answer_text import answer_text
    from policyd.cli.operation_text import operation_text
    from policyd.usecases.answer import Answer
    from policyd.usecases.chain_check import ChainReport
    from policyd.usecases.chain_report import report_text
    from policyd.usecases.operation_answer import OperationAnswer
    from policyd.usecases.policy_tests_answers import RetryTold
    from policyd.usecases.proofs import Proof
    from policyd.usecases.reach import Reach
    from policyd.usecases.reach_words import reach_text
    from policyd.usecases.retry_resolve import resolved_text
    from policyd.usecases.retry_simulate import course_text
    from policyd.usecases.saga_words import saga_text

    told = outcome.told
    match told:
        case Answer():
            return answer_text(told, outcome.lines)
        case OperationAnswer():
            return operation_text(told, outcome.lines)
        case Proof():
            return _proof(told)
        case Reach():
            return reach_text(told)
        case RetryTold(resolved, course):
            parts = [resolved_text(resolved)] if resolved is not None else []
            return "\n".join([*parts, *([course_text(course)] if course is not None else [])])
        case ChainReport():
            return report_text(told, outcome.lines, outcome.edition)
        case _:
            return saga_text(told)


def _proof(proof: Proof) -> str:
    out = [f"{proof.word}: {proof.claim}"]
    for row in proof.results:
        detail = row.witness.rstrip() or getattr(row.answer, "over", "") or getattr(row.answer, "reason", "")
        out.append(f"  {row.name}: {row.word}, {'for example ' if row.witness else ''}{detail}")
        out += [f"    by {grant}" for grant in row.grants]
    return "\n".join([*out, *(f"note: {note}" for note in proof.notes)])
