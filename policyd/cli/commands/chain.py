"""policyd chain: middleware over tools, decided before anything runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.core.tools.profile import Profile
    from policyd.usecases.chain_sources import ChainSources

_DEFINITIONS = click.option(
    "--definitions", type=opt.FILE, multiple=True, help="Interchange documents that define tools and middleware."
)


@click.group("chain", cls=opt.Group)
def command() -> None:
    """Middleware over tools: does each layer fit what stands below it, and what does a call go through?"""


def rules_and_profile(edition: str, switches: tuple[str, ...]) -> tuple[Rules, Profile]:
    """What `--edition` and `--switch` name; switches of the profile may be named as well.

    Raises:
        InputError: for an unknown edition, switch or value.
    """
    from policyd.core.tools.profile import Profile, switch_word

    of_rules: list[str] = []
    of_profile: list[tuple[str, str]] = []
    for written in switches:
        name, equals, value = written.partition("=")
        word = switch_word(name, value)
        if word is None:
            of_profile.append((name, value))
        else:
            of_rules.append(f"{name}{equals}{word}")
    rules = opt.rules_of(edition, of_rules)
    profile = Profile.of(rules)
    for name, value in of_profile:
        try:
            profile = profile.set(name, value)
        except ValueError as words:
            raise opt.usage(f"`{name}` takes {words}") from None
    return rules, profile


def _sources(
    source: Path,
    definitions: tuple[Path, ...],
    rules: Rules,
    profile: Profile,
    include_root: Path | None = None,
) -> ChainSources:
    """What SOURCE stands for: a document, or a place in the store."""
    from policyd.usecases.chain_sources import definitions_in, load_sources, stored_sources
    from policyd.usecases.snapshots import StoredSnapshots, is_place
    from policyd.usecases.stored_deployment import StoredFacts

    if not is_place(str(source)):
        return load_sources(source, definitions, rules, profile, include_root)
    from policyd.cli.store import database

    opt.demand_unplaced(include_root=include_root)
    with database() as store:
        snapshots = StoredSnapshots(store)
        facts = StoredFacts.of(snapshots.load(snapshots.resolve(str(source))))
    beside = definitions_in(definitions, rules, profile)
    return stored_sources(facts.deployment, facts.under(rules).deployment, beside, rules, profile)


@command.command("check")
@click.argument("source", type=opt.FILE, metavar="SOURCE|@PLACE")
@click.option("--env", help="Environment; default: all of them.")
@click.option("--tool", default="", help="Only chains of this tool.")
@_DEFINITIONS
@click.option("--account", default="", help="E-mail of the owner of the environment.")
@click.option("--include-root", type=opt.FILE, help="Folder from which `includes` may also read.")
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--baseline", type=opt.FILE, help="Findings that are known and accepted, each with a reason.")
@click.option("--at", help="The moment for which suppressions count; default: now.")
@click.option("--strict", is_flag=True, help="Exit 3 if something could not be analysed.")
@opt.rules
@opt.output("text", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
def check(
    source: Path,
    env: str | None,
    tool: str,
    definitions: tuple[Path, ...],
    account: str,
    include_root: Path | None,
    fail_on: str,
    baseline: Path | None,
    at: str | None,
    strict: bool,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Decide every chain of SOURCE: a manifest, an interchange document, or a snapshot (`@12`).

    Exit 0: no finding at or above --fail-on, all expectations met; 1: some; 3: undecided and --strict, or where an
    expectation asked for a verdict.
    """
    from policyd import __version__
    from policyd.cli.output import as_json, write
    from policyd.core.tools.chain import Verdict
    from policyd.report.forms import Run, rendered
    from policyd.usecases.chain_check import check_chains
    from policyd.usecases.chain_report import as_report, report_json, report_junit, report_text, row_name
    from policyd.usecases.suppressions import read_suppressions, suppressed

    rules, profile = rules_and_profile(edition, switch)
    level = opt.severity_of(fail_on)
    entries = read_suppressions(baseline) if baseline is not None else ()
    sources = _sources(source, definitions, rules, profile, include_root)
    report = check_chains(sources, None if env is None else [env], tool, account)
    if entries:
        kept, told = suppressed(report.findings, entries, opt.moment_of(at) or opt.now())
        report = replace(report, findings=(*kept, *told))
    label = ", ".join([rules.label, *sources.profile.apart])
    match format:
        case "json":
            write(as_json(report_json(report, label)), output)
        case "junit":
            write(report_junit(report, sources.line), output)
        case "text":
            write(report_text(report, sources.line, label), output)
        case _:
            about = (("edition", label), *((row_name(row), row.verdict.value) for row in report.rows))
            run = Run("policyd chain check", __version__, level, about)
            write(rendered(as_report(report), format, sources.line, run), output)
    undecided = any(row.verdict is Verdict.UNDECIDED for row in report.rows)
    if any(f.severity.at_least(level) for f in report.findings):
        return Exit.NO
    if report.unmet:
        return Exit.UNDECIDED if undecided else Exit.NO
    return Exit.UNDECIDED if strict and (undecided or report.not_analysed) else Exit.YES


@command.command("explain")
@click.argument("source", type=opt.FILE, metavar="SOURCE|@PLACE")
@click.option("--call", "called", required=True, help="The tool and the command, as in 'inventory adjust'.")
@click.option("--input", "given", type=opt.FILE, help="The input: canonical JSON of the outermost definition's record.")
@click.option("--result", type=opt.FILE, help="What the tool returns; default: a smallest result.")
@click.option("--error", default="", help="A declared error in which the tool ends.")
@click.option("--payload", type=opt.FILE, help="The payload of that error.")
@click.option("--env", help="Environment; default: the first one with the tool.")
@click.option("--agent", default="", help="Agent type, where chains differ.")
@_DEFINITIONS
@opt.rules
@opt.output("text", "json")
def explain(
    source: Path,
    called: str,
    given: Path | None,
    result: Path | None,
    error: str,
    payload: Path | None,
    env: str | None,
    agent: str,
    definitions: tuple[Path, ...],
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Follow one call through its chain, layer by layer, and its outcome back out.

    Exit 0: explained; 1: there is no such chain; 3: whether cards on the way let the call through is not decided.
    """
    from policyd.cli.output import as_json, write
    from policyd.core.schema.json_text import parse_json
    from policyd.usecases.chain_check import check_chains
    from policyd.usecases.chain_explain import authority_of, follow_call, followed_json, followed_lines
    from policyd.usecases.chain_outward import Outcome
    from policyd.usecases.chain_report import drawn, row_name
    from policyd.usecases.chain_sources import command_path
    from policyd.usecases.tool_documents import read_text

    def parsed(path: Path) -> object:
        try:
            return parse_json(read_text(path))
        except ValueError as why:
            raise opt.usage(f"`{path}` is no JSON: {why}") from None

    rules, profile = rules_and_profile(edition, switch)
    words = command_path(called)
    if not words:
        raise opt.usage("which tool is called?", "give `--call 'tool command'`")
    sources = _sources(source, definitions, rules, profile)
    report = check_chains(sources, None if env is None else [env])
    rows = [row for row in report.rows if row.tool == words[0] and (not agent or agent in row.agents)]
    if not rows:
        known = ", ".join(sorted({row.tool for row in report.rows})) or "none"
        write(visible_lines([f"no chain of a tool `{words[0]}`; bound tools: {known}"]), output)
        return Exit.NO
    outcome = Outcome(
        parsed(result) if result is not None else None,  # type: ignore[arg-type]
        result is not None,
        error,
        parsed(payload) if payload is not None else None,  # type: ignore[arg-type]
    )
    value = parsed(given) if given is not None else {}
    whose = authority_of(rows[0], agent)
    followed = follow_call(rows[0].chain, words[1:], value, outcome, sources.profile, words[0], whose)  # type: ignore[arg-type]
    if format == "json":
        write(as_json({"chain": drawn(rows[0]), **followed_json(followed)}), output)
    else:
        write(visible_lines([f"{row_name(rows[0])}: {drawn(rows[0])}", *followed_lines(followed)]), output)
    return Exit.UNDECIDED if followed.reaches == "unknown" else Exit.YES
