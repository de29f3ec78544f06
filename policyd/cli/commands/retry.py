"""policyd retry: which rule decides, how its retries go, where they end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.usecases.retry_sources import RetryEnvironment

_Command = TypeVar("_Command", bound=Callable[..., object])


@click.group("retry")
def command() -> None:
    """Retry policies: which one decides, how it goes, where it ends, and what a change does."""


def _source(function: _Command) -> _Command:
    """The manifest, the environment and the edition."""
    function = opt.rules(function)
    function = click.option("--include-root", type=opt.FILE, help="Folder that `includes` may also read.")(function)
    function = opt.env(function)
    return click.argument("manifest", type=opt.FILE)(function)


def _loaded(
    manifest: Path, env: str | None, include_root: Path | None, edition: str, switch: tuple[str, ...]
) -> tuple[RetryEnvironment, Rules]:
    from policyd.usecases.retry_sources import load_environment

    rules = opt.rules_of(edition, switch)
    loaded = load_environment(manifest, env, rules, include_root)
    for note in loaded.notes:
        click.echo(f"note: {note}", err=True)
    return loaded, rules


@command.command("resolve")
@_source
@click.option("--site", required=True, help="The place that asks; see `policyd retry sites`.")
@click.option("--prop", multiple=True, help="A property of the operation: name=value, typed by the catalogue.")
@opt.output("text", "json")
def resolve(
    manifest: Path,
    env: str | None,
    include_root: Path | None,
    edition: str,
    switch: tuple[str, ...],
    site: str,
    prop: tuple[str, ...],
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
    resolved = resolve_at(loaded.effective, site_of(site), properties_given(prop), rules)
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
        course_of(rule, rules, bag=bag, counts_attempts=site == "saga", execution_ns=execution_ns, runs=runs, seed=seed)
        for rule in wanted
    ]
    if format == "svg":
        from policyd.usecases.retry_picture import courses_svg

        write(courses_svg(courses), output)
    elif format == "json":
        write(as_json([course_json(course) for course in courses]), output)
    else:
        text = "\n".join(course_text(course) for course in courses)
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
