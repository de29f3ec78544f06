"""policyd fleet: questions about many applications at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit

if TYPE_CHECKING:
    from policyd.core.cards import Timestamp
    from policyd.core.edition import Rules
    from policyd.fleet import Lane
    from policyd.store.session import Database
    from policyd.store.snapshots import SnapshotInfo

BATCH = 50
"""Results that are written together."""


@click.group("fleet")
def command() -> None:
    """Questions about many applications at once."""


@command.command("audit")
@click.argument("places", nargs=-1, metavar="FILE|FOLDER|PATTERN...")
@click.option("--stored", is_flag=True, help="The latest snapshots of all environments in the database.")
@click.option("--workers", type=click.IntRange(1, 256), help="Processes of this machine; default: its processors.")
@click.option("--scheduler", default="", help="The address of a scheduler that has workers, instead.")
@click.option("--fresh", is_flag=True, help="Audit again what is unchanged since an earlier run.")
@click.option("--no-keep", is_flag=True, help="Keep no results in the database.")
@click.option("--include-root", type=opt.FILE, help="Included documents may lie anywhere below this folder.")
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@click.option("--strict", is_flag=True, help="Exit 3 if something could not be analysed.")
@click.option("--at", help="The moment for which accepted findings count; default: now.")
@opt.rules
@opt.output("text", "json", "markdown")
def audit(
    places: tuple[str, ...],
    stored: bool,
    workers: int | None,
    scheduler: str,
    fresh: bool,
    no_keep: bool,
    include_root: Path | None,
    fail_on: str,
    strict: bool,
    at: str | None,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Audit many applications: every `golem.yaml` below folders, files, or what the database holds.

    Each is audited by itself; one that cannot be read is told and ends nothing. With a database at hand
    (POLICYD_DATABASE_URL, migrated), results are kept there as they come, and what is unchanged is not audited again.
    """
    from policyd.cli.output import as_json, write
    from policyd.usecases.fleet_audit import FleetReport, fleet_json, fleet_markdown, fleet_text

    if bool(places) == stored:
        raise opt.usage("which applications?", "give files, folders or patterns, or `--stored`")
    rules, level = opt.rules_of(edition, switch), opt.severity_of(fail_on)
    moment = opt.moment_of(at) or opt.now()
    results = _audited(places, include_root, rules, moment, _lane(workers, scheduler), fresh=fresh, keeps=not no_keep)
    report = FleetReport.of(results, level)
    match format:
        case "json":
            write(as_json(fleet_json(report)), output)
        case "markdown":
            write(fleet_markdown(report), output)
        case _:
            write(fleet_text(report), output)
    if report.is_defect:
        return Exit.DEFECT
    if report.failed:
        return Exit.NOT_ASKED
    if report.is_bad:
        return Exit.NO
    return Exit.UNDECIDED if strict and report.is_partial else Exit.YES


def _lane(workers: int | None, scheduler: str) -> Lane:
    import os
    from importlib.util import find_spec

    from policyd.fleet import Cluster, Here

    if scheduler:
        return Cluster(scheduler=scheduler)
    if workers is None:
        workers = len(os.sched_getaffinity(0)) if find_spec("distributed") is not None else 1
    return Here() if workers == 1 else Cluster(workers)


def _audited(
    places: Sequence[str],
    include_root: Path | None,
    rules: Rules,
    moment: Timestamp,
    lane: Lane,
    *,
    fresh: bool,
    keeps: bool,
) -> list[dict[str, Any]]:
    from policyd.fleet import run_all
    from policyd.usecases.fleet_audit import audit_item, items_at, lost_item, stored_items, with_known

    with _store(is_needed=not places) as store:
        if places:
            items = items_at(places, rules, moment, include_root)
        else:
            assert store is not None  # asked for above
            items = stored_items(_latest(store), _url(), rules, moment)
        journal = _Journal(store if keeps else None, rules, moment)
        work = items if fresh else with_known(items, journal.known([item["item"] for item in items]))
        results: list[dict[str, Any]] = []
        with _progress(len(work)) as advance, journal:
            for number, result in run_all(work, audit_item, lane):
                done = result if result is not None else lost_item(items[number])
                results.append(done)
                journal.keep(done)
                advance()
    return results


class _Journal:
    """The kept results of earlier runs, and those of this one, written as they come."""

    def __init__(self, store: Database | None, rules: Rules, moment: Timestamp) -> None:
        self._store, self._label, self._moment = store, rules.label, moment
        self._waiting: list[dict[str, Any]] = []

    def known(self, items: Sequence[str]) -> dict[str, Any]:
        """What is kept of these items."""
        from policyd.store.fleet import fleet_results

        return {} if self._store is None else dict(fleet_results(self._store, items, self._label))

    def keep(self, result: dict[str, Any]) -> None:
        """Note a result that was made in this run; failures are tried again next time."""
        if self._store is not None and not result["isReused"] and "error" not in result:
            self._waiting.append(result)
            if len(self._waiting) >= BATCH:
                self._write()

    def _write(self) -> None:
        from policyd.store.fleet import keep_fleet_results

        if self._store is not None and self._waiting:
            keep_fleet_results(self._store, self._waiting, self._label, self._moment)
            self._waiting = []

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, *_: object) -> None:
        """Whatever ended the run, what is done is kept."""
        self._write()


@contextmanager
def _store(*, is_needed: bool) -> Iterator[Database | None]:
    """The database; None where it is not needed and none can be used."""
    from policyd.cli.store import database
    from policyd.store.codes import StoreError

    with ExitStack() as stack:
        try:
            opened = stack.enter_context(database())
        except StoreError:
            if is_needed:
                raise
            opened = None
        yield opened


def _latest(store: Database) -> list[SnapshotInfo]:
    from policyd.store.snapshots import MAX_PAGE, snapshots

    found: list[SnapshotInfo] = []
    while True:
        page = snapshots(store, after=found[-1].number if found else 0, only_latest=True)
        found += page
        if len(page) < MAX_PAGE:
            return found


def _url() -> str:
    from policyd.cli.store import settings

    return settings().database_url


@contextmanager
def _progress(total: int) -> Iterator[Callable[[], None]]:
    """One bar on the error stream, where somebody looks at it."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("auditing", total=total)
        yield lambda: progress.advance(task)
