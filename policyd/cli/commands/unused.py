"""policyd unused: grants that were never used, and the least card for what was."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import Asked, budget_of, facts_at, is_cards, parties_at, stored_parties_of
from policyd.usecases.deployments import Selection

if TYPE_CHECKING:
    from policyd.usecases.decision_log import BadLine, LogLine
    from policyd.usecases.holders import Parties
    from policyd.usecases.unused_answer import Unused


@click.command("unused")
@click.argument("source", metavar="MANIFEST|@PLACE")
@click.option(
    "--log", type=opt.FILE, help="Decisions as JSON lines; default: policyd's own log of a stored deployment."
)
@click.option("--window", default="30d", help="How far back: 30d (default), 12h, 90m, 2w.")
@click.option("--at", help="Where the window ends; default: now.")
@click.option("--agent", default="", help="One agent type; default: all.")
@opt.place
@budget_of
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--strict", is_flag=True, help="Exit 3 if a least card is undecided.")
@opt.rules
@opt.output("text", "json", "markdown")
def command(
    source: str,
    log: Path | None,
    window: str,
    at: str | None,
    agent: str,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    budget: float,
    fail_on: str,
    strict: bool,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Which grants did nothing in a log of decisions, and what is the least card that admits all that was seen?

    An unused grant counts as `info`; a contradiction between log and cards, or a line that is not understood, as
    `warning`.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.unused_words import unused_json, unused_markdown, unused_text

    level = opt.severity_of(fail_on)
    if is_cards(source):
        raise opt.usage("a wallet file has no deployment", "name a manifest, or a stored deployment such as `@12`")
    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    moment = opt.moment_of(at) or opt.now()
    asked = Asked(selection, agent, include_root, rules, "", moment)
    answer = _answer(source, asked, log, window, budget)
    match format:
        case "json":
            switches = {"edition": rules.edition.value, "switches": dict(rules.overrides)}
            write(as_json({**unused_json(answer), **switches}), output)
        case "markdown":
            write(unused_markdown(answer), output)
        case _:
            write(unused_text(answer), output)
    if answer.worst is not None and answer.worst.at_least(level):
        return Exit.NO
    return Exit.UNDECIDED if strict and answer.is_undecided else Exit.YES


def _answer(source: str, asked: Asked, log: Path | None, window: str, budget: float) -> Unused:
    from policyd.usecases.decision_log import lines_of, read_log

    if source.startswith("@"):
        asked.demand_unplaced()
    if log is None:
        return _of_own_log(source, asked, window, budget)
    parties = parties_at(source, replace(asked, agent=""))
    try:
        with log.open("rb") as stream:
            return _unused(parties, read_log(lines_of(stream)), asked, window, budget, (), str(log))
    except (OSError, ValueError) as error:
        from policyd.syntax.mistakes import shown

        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise opt.usage(f"{shown(str(log))} cannot be read: {reason}") from None


def _of_own_log(source: str, asked: Asked, window: str, budget: float) -> Unused:
    from policyd.cli.store import database
    from policyd.usecases.snapshots import StoredSnapshots
    from policyd.usecases.unused_sources import OWN_LOG, own_log

    if not source.startswith("@"):
        raise opt.usage("a manifest has no log of its own", "give `--log FILE`, or ask about a stored deployment")
    parties = stored_parties_of(facts_at(source), source, replace(asked, agent=""))
    with database() as store:
        info = StoredSnapshots(store).resolve(source)
        return _unused(parties, own_log(store, info), asked, window, budget, (OWN_LOG,))


def _unused(
    parties: Parties,
    lines: Iterable[LogLine | BadLine],
    asked: Asked,
    window: str,
    budget: float,
    notes: tuple[str, ...],
    log_name: str = "log",
) -> Unused:
    from policyd.core.operations import Ports
    from policyd.syntax.operations import catalogue
    from policyd.syntax.outbound_urls import OutboundUrls
    from policyd.syntax.sql import SqlTables
    from policyd.usecases.unused_answer import unused_authority
    from policyd.usecases.unused_sources import window_of

    assert asked.at is not None  # the command gives now where nothing is given
    return unused_authority(
        parties,
        lines,
        window_of(window, asked.at),
        asked.rules,
        catalogue(),
        Ports(SqlTables(), OutboundUrls()),
        budget_s=budget,
        notes=notes,
        only=asked.agent,
        log_name=log_name,
    )
