"""policyd import: a manifest, or the platform's own JSON, into the database."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import Severity, visible, visible_lines
from policyd.syntax.mistakes import shown

if TYPE_CHECKING:
    from policyd.core.edition import Rules
    from policyd.report import Lines
    from policyd.usecases.import_deployment import Outcome, Prepared


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=opt.FILE, metavar="FILE...")
@opt.place
@click.option("--application", default="", help="Application; default: the manifest's `app`.")
@opt.rules
@opt.output("text", "json")
def command(
    files: tuple[Path, ...],
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    application: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """Keep a deployment in the database: the same documents give the same snapshot.

    FILE is a manifest (`.yaml`, `.yml`), the platform's JSON (cards, wallets, permission shares,
    retry policies, deployed tools; one or many), or what `policyd export` wrote. Several files are
    stored together: all of them, or none.
    """
    from policyd.cli.output import argument_lines, as_json, write
    from policyd.cli.store import database, writer
    from policyd.findings import PolicydError
    from policyd.report import finding_json
    from policyd.usecases.import_deployment import ImportRefusedError, store_all
    from policyd.usecases.snapshots import snapshot_json, snapshot_line

    rules = opt.rules_of(edition, switch)
    rows: list[dict[str, object]] = []
    texts: list[str] = []
    with database() as store:
        documents: list[Prepared] = []
        sources: list[Lines] = []
        reading: Path | None = files[0]
        try:
            for reading in files:  # all are read before the first is stored
                if reading.suffix.lower() in (".yaml", ".yml"):
                    document, lines = _manifest(
                        reading, rules, (env, preset, account, component, application), include_root
                    )
                else:
                    document, lines = _platform(reading, rules, account, application, env), argument_lines
                documents.append(document)
                sources.append(lines)
            reading = None
            with _bar("writing grants", None) as told:
                outcomes = store_all(store, documents, writer(), progress=told)
        except ImportRefusedError as refusal:
            _nothing(refusal.name)
            raise refusal.reason from None
        except PolicydError:
            _nothing(str(reading) if reading is not None else "")
            raise
        for file, outcome, lines in zip(files, outcomes, sources, strict=True):
            stored = outcome.stored
            rows.append(
                {
                    "file": str(file),
                    **snapshot_json(stored.snapshot),
                    "isNew": stored.is_new,
                    "isRevision": stored.is_revision,
                    "findings": [finding_json(f) for f in outcome.findings],
                    "notAnalysed": list(outcome.not_analysed),
                    "notes": list(outcome.notes),
                }
            )
            word = "new" if stored.is_new else "known" if stored.is_revision else "unchanged"
            texts.append(f"{snapshot_line(stored.snapshot)}  {word}")
            if format == "text":
                _tell(outcome, lines)
    write(as_json({"imports": rows}) if format == "json" else visible_lines(texts), output)
    return Exit.YES


def _nothing(name: str) -> None:
    """Say on stderr, before the reasons, that nothing is stored, and because of which file."""
    why = f"{shown(name)} is refused" if name else "the database refuses"
    click.echo(f"nothing was imported: {why}", err=True)


def _tell(outcome: Outcome, lines: Lines) -> None:
    """Say on stderr what was not understood; what an audit finds is counted, and stands in the snapshot."""
    from policyd.report import finding_text

    place = f"@{outcome.stored.snapshot.number}"
    for note in outcome.notes:
        click.echo(f"note: {visible(note)}", err=True)
    for sentence in outcome.not_analysed:
        click.echo(f"not analysed: {visible(sentence)}", err=True)
    if not outcome.is_audited:
        for finding in outcome.findings:
            click.echo(finding_text(finding, lines), err=True)
    elif outcome.findings:
        counts = [
            f"{count} {severity.value}{'s' if count != 1 else ''}"
            for severity in Severity
            if (count := sum(f.severity is severity for f in outcome.findings))
        ]
        click.echo(f"found: {', '.join(counts)}; `policyd audit {place}` lists them", err=True)


def _manifest(
    file: Path, rules: Rules, where: tuple[str | None, str | None, str, str, str], include_root: Path | None
) -> tuple[Prepared, Lines]:
    from policyd.usecases.deployments import Selection, load, shown_lines
    from policyd.usecases.import_deployment import prepared_manifest

    env, preset, account, component, application = where
    selection = Selection(env, opt.presets_of(preset), account, component)
    loaded = load(file, rules, include_root)
    return prepared_manifest(loaded, selection, rules, application), shown_lines(loaded)


def _platform(file: Path, rules: Rules, account: str, application: str, env: str | None) -> Prepared:
    from policyd.usecases.import_deployment import prepared_platform

    given = [bool(account), bool(application), bool(env)]
    if any(given) and not all(given):
        raise opt.usage("`--account`, `--application` and `--env` go together")
    where = (account, application, env or "") if all(given) else None
    try:
        with file.open("rb") as stream, _bar(f"reading {file.name}", file.stat().st_size) as told:
            return prepared_platform(stream, str(file), where, rules, read=told)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise opt.usage(f"`{file}` cannot be read: {reason}") from None


@contextmanager
def _bar(label: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on stderr, only on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda count: progress.advance(task, count)
