"""policyd test: does what the policy tests expect hold."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import budget_of


@click.command("test")
@click.argument("files", nargs=-1, required=True, type=opt.FILE)
@click.option("--env", help="Environment; default: those of each file.")
@click.option("--include-root", type=opt.FILE, help="Folder below which manifests may lie.")
@click.option("--coverage", is_flag=True, help="Name the grants that no test touches.")
@click.option("--mutate", is_flag=True, help="Name the changes of grants that no test notices (exit 1).")
@budget_of
@opt.rules
@opt.output("text", "json", "junit")
def command(
    files: tuple[Path, ...],
    env: str | None,
    include_root: Path | None,
    coverage: bool,
    mutate: bool,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Run policy tests; a failed expectation comes with the decision and its grants.

    Exit 0: all hold; 1: some fail; 2: a file cannot be read.
    """
    from policyd.cli.output import as_json, write
    from policyd.findings import visible_lines
    from policyd.report.as_junit import Case, suite_xml
    from policyd.usecases.policy_tests import Settings, outcome_json, runs_of
    from policyd.usecases.policy_tests_mutants import mention_json, mention_text, survivors, untouched

    settings = Settings(opt.rules_of(edition, switch), env, include_root, budget, opt.moment_of)
    ran = [(run, run.all()) for path in files for run in runs_of(path, settings)]
    outcomes = [outcome for _, found in ran for outcome in found]
    bare = [mention for run, found in ran for mention in untouched(run, found)] if coverage else []
    alive = [mention for run, found in ran for mention in survivors(run, found, budget)] if mutate else []
    failed = [outcome for outcome in outcomes if outcome.failures]
    if format == "json":
        rows = [outcome_json(outcome) for outcome in outcomes]
        value = {"holds": not failed, "expectations": rows, "edition": settings.rules.label}
        value["untouched"] = [mention_json(m) for m in bare]
        value["mutants"] = [mention_json(m) for m in alive]
        write(as_json(value), output)
    elif format == "junit":
        cases = [Case(o.test, o.about, "; ".join(o.failures), "\n".join(o.explanation)) for o in outcomes]
        cases += [Case("coverage", mention_text(m), skipped="no test touches it") for m in bare]
        cases += [Case("mutants", mention_text(m), "no test notices it") for m in alive]
        write(suite_xml("policyd test", cases), output)
    else:
        out = []
        for o in failed:
            out.append(f"FAILED {o.span.source}:{o.span.line}:{o.span.column} {o.test}: {o.about}")
            out += [f"  {line}" for line in (*o.failures, *o.explanation)]
        out += [mention_text(m) for m in (*bare, *alive)]
        out.append(f"{len(outcomes) - len(failed)} of {len(outcomes)} expectations hold")
        write(visible_lines([*out, f"edition: {settings.rules.label}"]), output)
    return Exit.NO if failed or alive else Exit.YES
