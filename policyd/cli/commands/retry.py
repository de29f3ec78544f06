"""policyd retry: which rule decides, how its retries go, where they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.core.retry.placed import RetryFacts
    from policyd.usecases.retry_sources import RetryEnvironment

_EVENTS = (
    "application-error",
    "trap",
    "crash-between-retries",
    "crash-before-record",
    "replay",
    "atomic-region",
    "pending",
)
_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group("retry", cls=opt.Group)
def command() -> None:
    """Retry policies: which one decides, how it goes, where it ends, and what a change does."""


def _source(function: _Command) -> _Command:
    """The manifest, the environment and the edition."""
    function = opt.rules(function)
    function = click.option("--include-root", type=opt.FILE, help="Folder that `includes` may also read.")(function)
    function = opt.env(function)
    return click.argument("manifest", type=opt.FILE, metavar="MANIFEST|@PLACE")(function)


def _loaded(
    manifest: Path, env: str | None, include_root: Path | None, edition: str, switch: tuple[str, ...]
) -> tuple[RetryEnvironment, Rules]:
    from policyd.usecases.snapshots import is_place

    rules = opt.rules_of(edition, switch)
    if is_place(str(manifest)):
        from policyd.cli.store import database
        from policyd.usecases.retry_stored import snapshot_words, stored_environment
        from policyd.usecases.snapshots import StoredSnapshots

        opt.demand_unplaced(env=env, include_root=include_root)
        with database() as store:
            snapshots = StoredSnapshots(store)
            info = snapshots.resolve(str(manifest))
            loaded = stored_environment(snapshots.load(info), info)
        click.echo(f"note: the rules of {visible(snapshot_words(info))}", err=True)
    else:
        from policyd.usecases.retry_sources import load_environment

        loaded = load_environment(manifest, env, rules, include_root)
    for note in loaded.notes:
        click.echo(f"note: {visible(note)}", err=True)
    return loaded, rules


@command.command("resolve")
@_source
@click.option("--site", required=True, help="The place that asks; see `policyd retry sites`.")
@click.option("--prop", multiple=True, help="A property of the operation: name=value, typed by the catalogue.")
@click.option("--event", type=click.Choice(_EVENTS), help="Also say what follows this.")
@click.option("--done", type=click.IntRange(0), help="Retries already made: also say how many are left.")
@opt.output("text", "json")
def resolve(
    manifest: Path,
    env: str | None,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    site: str,
    prop: tuple[str, ...],
    event: str | None,
    done: int | None,
    format: str,
    output: Path | None,
) -> int:
    """Which rule decides for this operation, and why each other one does not.

    Exit 1: no rule decides, or the selection fails; 3: it depends on what was not given.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.retry_bags import properties_given, site_of
    from policyd.usecases.retry_resolve import resolve_at, resolved_json, resolved_text

    loaded, rules = _loaded(manifest, env, include_root, edition, switch)
    resolved = resolve_at(loaded.effective, site_of(site), properties_given(prop), rules, event, done)
    write(as_json(resolved_json(resolved)) if format == "json" else resolved_text(resolved), output)
    if not resolved.is_decided:
        return Exit.UNDECIDED
    alternative = resolved.alternatives[0]
    return Exit.YES if alternative.rule is not None and not alternative.error else Exit.NO


@command.command("simulate")
@_source
@click.option("--policy", "names", multiple=True, help="A rule by its name; default: all, the built-in one included.")
@click.option("--prop", multiple=True, help="What the filters see: name=value, typed by the catalogue.")
@click.option("--site", default="", help="Count attempts and add what this place always says.")
@click.option("--execution", default="0", help="How long each execution takes, e.g. 200ms.")
@click.option("--runs", type=click.IntRange(0, 100_000), default=0, help="Random runs for percentiles.")
@click.option("--seed", type=int, default=0, help="Seed of their jitter.")
@click.option("--outage", default="", help="Say whether attempts go on when a peer comes back after so long.")
@opt.output("text", "json", "svg")
def simulate(
    manifest: Path,
    env: str | None,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    names: tuple[str, ...],
    prop: tuple[str, ...],
    site: str,
    execution: str,
    runs: int,
    seed: int,
    outage: str,
    format: str,
    output: Path | None,
) -> int:
    """How the retries of a rule go: attempts, waits, best and worst case."""
    from policyd.cli.output import as_json, write
    from policyd.core.retry import parse_duration
    from policyd.usecases.retry_bags import bag_at, properties_given, site_of
    from policyd.usecases.retry_simulate import course_json, course_of, course_text

    loaded, rules = _loaded(manifest, env, include_root, edition, switch)
    execution_ns = parse_duration(execution)
    given = properties_given(prop)
    bag = bag_at(site_of(site), given, rules).bag if site else given
    wanted = [loaded.named(name).rule for name in names] or [e.rule for e in loaded.effective]
    courses = [
        course_of(
            rule,
            rules,
            bag=bag,
            counts_attempts=site == "saga",
            execution_ns=execution_ns,
            runs=runs,
            seed=seed,
            among=len(wanted),
        )
        for rule in wanted
    ]
    if format == "svg":
        from policyd.usecases.retry_picture import courses_svg

        write(courses_svg(courses), output)
    elif format == "json":
        write(as_json([course_json(course) for course in courses]), output)
    else:
        down = parse_duration(outage) if outage else None
        text = "\n".join(course_text(course, down) for course in courses)
        write(f"{text}\nedition: {rules.label}", output)
    return Exit.YES


@command.command("limits")
@_source
@opt.output("text", "json")
def limits(
    manifest: Path,
    env: str | None,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Most attempts, longest wait and storms, per rule and per site."""
    from policyd.cli.output import as_json, write
    from policyd.usecases.retry_limits import limits_json, limits_table, limits_text

    loaded, rules = _loaded(manifest, env, include_root, edition, switch)
    table = limits_table(loaded.effective, rules)
    write(as_json(limits_json(table)) if format == "json" else limits_text(table), output)
    return Exit.YES


@command.command("sites")
@opt.rules
@opt.output("text", "json")
def sites(edition: str, switch: tuple[str, ...], format: str, output: Path | None) -> int:
    """The places that ask for a retry decision, with the properties that predicates see there."""
    from policyd.cli.output import as_json, write
    from policyd.usecases.retry_sites import sites_json, sites_text

    rules = opt.rules_of(edition, switch)
    write(as_json(sites_json(rules)) if format == "json" else sites_text(rules), output)
    return Exit.YES


def _where(source: Path, other: Path, env: str | None, include_root: Path | None) -> tuple[str | None, Path | None]:
    """Where in `source`: what places a manifest is not meant for a snapshot beside it."""
    from policyd.usecases.snapshots import is_place

    if is_place(str(source)) and not is_place(str(other)):
        return None, None
    return env, include_root


def _facts(existing: Path | None, overlay: Path | None) -> RetryFacts:
    from policyd.core.retry.placed import RetryFacts
    from policyd.usecases.retry_sources import load_overlay, load_rules

    facts = RetryFacts()
    if existing is not None:
        facts = RetryFacts(load_rules(existing), facts.overlay)
    return facts if overlay is None else RetryFacts(facts.existing, load_overlay(overlay))


@command.command("lint")
@_source
@click.option("--existing", type=opt.FILE, help="Policies that the environment already has (JSON of the platform).")
@click.option("--overlay", type=opt.FILE, help='What agents set and remove: {"set": [...], "removed": [...]}.')
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--strict", is_flag=True, help="Exit 3 if something could not be analysed.")
@opt.output("text", "json", "sarif")
def lint(
    manifest: Path,
    env: str | None,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    existing: Path | None,
    overlay: Path | None,
    fail_on: str,
    strict: bool,
    format: str,
    output: Path | None,
) -> int:
    """What is wrong or risky in the retry policies of an environment."""
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.report import report_json, report_sarif, report_text
    from policyd.usecases.retry_lint import lint as linted

    level = opt.severity_of(fail_on)
    loaded, rules = _loaded(manifest, env, include_root, edition, switch)
    report = linted(loaded, rules, _facts(existing, overlay))
    if format == "json":
        write(as_json({**report_json(report), "edition": rules.label}), output)
    elif format == "sarif":
        write(as_json(report_sarif(report, __version__)), output)
    else:
        write(report_text(report, loaded.line), output)
    if report.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and report.not_analysed else Exit.YES


@command.command("diff")
@click.argument("old", type=opt.FILE, metavar="OLD|@PLACE")
@click.argument("new", type=opt.FILE, metavar="NEW|@PLACE")
@opt.env
@click.option("--include-root", type=opt.FILE, help="Folder that `includes` may also read.")
@click.option("--deploy", is_flag=True, help="NEW is a manifest deployed onto OLD: existing names are skipped.")
@click.option("--fail-on", default="new-access", help="What makes exit 1: new-access (more retries), lost-access, any.")
@opt.rules
@opt.output("text", "json")
def diff(
    old: Path,
    new: Path,
    env: str | None,
    include_root: Path | None,
    deploy: bool,
    fail_on: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """What changes for which calls: sites, conditions, bounds, and running sequences.

    Exit 0: nothing that --fail-on names; 1: something; 3: more than was found may change.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.retry_diff import LEVELS, compare_rules, difference_json, difference_text

    if fail_on not in LEVELS:
        raise opt.usage(f"unknown level `{fail_on}`", "levels are " + ", ".join(f"`{level}`" for level in LEVELS))
    before, rules = _loaded(old, *_where(old, new, env, include_root), edition, switch)
    after, _ = _loaded(new, *_where(new, old, env, include_root), edition, switch)
    difference = compare_rules(before, after, rules, deploys=deploy)
    write(as_json(difference_json(difference)) if format == "json" else difference_text(difference), output)
    if difference.fails(fail_on):
        return Exit.NO
    return Exit.UNDECIDED if difference.open else Exit.YES


@command.command("compile")
@click.argument("policy", type=opt.FILE)
@click.option("--sdk", default="rust", help="Whose helper: rust (default), ts, scala, moonbit, go, effect.")
@click.option("--with-properties", is_flag=True, help="The caller gives properties of each error.")
@opt.rules
@opt.output("text", "json")
def compile_(
    policy: Path,
    sdk: str,
    with_properties: bool,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Compile a policy to a user-space schedule: what compiles, and where it differs from the host.

    Exit 1: it does not compile.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.retry_compile import SDKS, compile_schedule, compiled_json, compiled_text
    from policyd.usecases.retry_sources import load_policy

    name = sdk.partition("@")[0]
    if name not in SDKS:
        raise opt.usage(f"unknown SDK `{sdk}`", "SDKs are " + ", ".join(f"`{word}`" for word in SDKS))
    rules = opt.rules_of(edition, switch)
    compiled = compile_schedule(load_policy(policy), name, rules, with_properties=with_properties)
    write(as_json(compiled_json(compiled)) if format == "json" else compiled_text(compiled), output)
    return Exit.YES if compiled.problem is None else Exit.NO
