"""policyd init: a first policy test, a baseline and a workflow for a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.cli.parties import budget_of

if TYPE_CHECKING:
    from policyd.usecases.init_files import InitFile


@click.command("init")
@click.argument("manifest", type=opt.FILE, default=Path("golem.yaml"), required=False)
@opt.place
@click.option("--dry-run", is_flag=True, help="Show the files and write none.")
@budget_of
@opt.rules
def command(
    manifest: Path,
    env: str | None,
    preset: str | None,
    account: str,
    component: str,
    include_root: Path | None,
    dry_run: bool,
    budget: float,
    edition: str,
    switch: tuple[str, ...],
) -> int:
    """Write a first policy test that passes, a baseline of the known findings, and a workflow that uses both.

    All files are written, or none; a file that exists is never overwritten.
    """
    from policyd.findings import visible, visible_lines
    from policyd.usecases.audit_manifest import audit_manifest
    from policyd.usecases.deployments import Selection, described, load
    from policyd.usecases.init_expectations import expectations
    from policyd.usecases.init_files import Project, accepted, init_files, is_writable

    rules = opt.rules_of(edition, switch)
    selection = Selection(env, opt.presets_of(preset), account, component)
    loaded = load(manifest, rules, include_root)
    found = described(loaded, selection, rules)
    root = _root(manifest)
    project = Project(_within(manifest, root), found.deployment.application, selection, rules)
    if not is_writable(project, found):
        raise opt.usage("a name holds `${{`, which a workflow would read as an expression", "rename it")
    report = audit_manifest(
        loaded,
        environments=[env] if env is not None else None,
        presets=selection.presets,
        rules=rules,
        account=account,
        components={a.name: component for a in loaded.application.agents} if component else None,
    )
    expected = expectations(found, selection, rules, budget)
    files = init_files(project, expected, report)
    existing = [file.path for file in files if _exists(root / file.path)]
    if dry_run:
        for file in files:
            mark = " (exists, is not overwritten)" if file.path in existing else ""
            click.echo(f"--- {visible(file.path)}{mark}\n{file.text}")
    if existing:
        from policyd.findings import InputError

        listed = ", ".join(f"`{path}`" for path in existing)
        raise InputError.of("STORE043", f"nothing is written, because files exist: {listed}", None, "move them away")
    if not dry_run:
        _write(files, root)
    out = [f"{'would write' if dry_run else 'wrote'} {root / file.path}" for file in files]
    errors = len(report.findings) - len(accepted(report))
    out.append(f"the baseline accepts {len(accepted(report))} findings; {errors} errors are left to be mended")
    left = sorted({a.name for a in found.deployment.agents} - {row.agent for row in expected if not row.is_empty})
    if left:
        out.append(f"no test of {', '.join(left)}: nothing was found to expect")
    click.echo(visible_lines(out))
    return Exit.YES


def _root(manifest: Path) -> Path:
    """The folder of the project: the present one, or that of a manifest that lies elsewhere."""
    here = Path.cwd().resolve()
    return Path() if manifest.resolve().is_relative_to(here) else manifest.parent


def _within(manifest: Path, root: Path) -> str:
    return manifest.resolve().relative_to(root.resolve()).as_posix()


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _write(files: Sequence[InitFile], root: Path) -> None:
    """Write all files, or none: what was made before one fails is taken away again.

    Raises:
        InputError: STORE043 for the file that cannot be written.
    """
    made: list[Path] = []
    try:
        for file in files:
            path = root / file.path
            for folder in _missing(path.parent):
                folder.mkdir()
                made.append(folder)
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                made.append(path)
                stream.write(file.text)
    except BaseException as error:
        for path in reversed(made):
            if path.is_dir():
                path.rmdir()
            else:
                path.unlink()
        if not isinstance(error, OSError):  # such as an interrupt from the keyboard
            raise
        from policyd.findings import InputError

        reason = (error.strerror or "it cannot be written").lower()
        raise InputError.of("STORE043", f"`{file.path}` cannot be written: {reason}; nothing was") from None


def _missing(folder: Path) -> list[Path]:
    """The folders that have to be made, outermost first."""
    return [f for f in reversed((folder, *folder.parents)) if not f.exists()]
