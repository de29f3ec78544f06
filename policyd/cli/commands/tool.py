"""policyd tool: two states of a tool."""

from __future__ import annotations

from pathlib import Path

import click

from policyd.cli import options as opt
from policyd.cli.exits import Exit
from policyd.findings import visible_lines


@click.group("tool", cls=opt.Group)
def command() -> None:
    """Tool definitions: what a change means for middleware and callers."""


@command.command("diff")
@click.argument("old", type=opt.FILE)
@click.argument("new", type=opt.FILE)
@click.option(
    "--mode",
    type=click.Choice(("structural-subtype", "strict-equality", "nominal")),
    default="structural-subtype",
    help="The compatibility mode that decides the exit code; the answer shows all three.",
)
@click.option("--fail-on", default="error", help="What makes exit 1: error (default), warning or info.")
@opt.rules
@opt.output("text", "json", "sarif", "junit", "github", "gitlab", "markdown", "html")
def diff(
    old: Path,
    new: Path,
    mode: str,
    fail_on: str,
    edition: str,
    switch: tuple[str, ...],
    format: str,
    output: Path | None,
) -> int:
    """May NEW stand where OLD was: under the middleware built for it (per mode), and for its callers?

    Exit 0: nothing at or above --fail-on; 1: something; 3: a pattern or URL could not be judged, or
    there is more to compare than one question may.
    """
    from policyd import __version__
    from policyd.cli.commands.chain import rules_and_profile
    from policyd.cli.output import as_json, write
    from policyd.core.tools.modes import Mode
    from policyd.findings import Span
    from policyd.report import no_lines
    from policyd.report.forms import Run, rendered
    from policyd.usecases.tool_diff import diff_json, diff_lines, diff_tools
    from policyd.usecases.tool_documents import read_tool_files

    level = opt.severity_of(fail_on)
    _, profile = rules_and_profile(edition, switch)
    answer = diff_tools(*read_tool_files(old, new), profile)
    match format:
        case "json":
            write(as_json(diff_json(answer)), output)
        case "text":
            write(visible_lines(diff_lines(answer)), output)
        case _:
            about = tuple((found.mode.value, found.verdict.value) for found in answer.modes)
            run = Run("policyd tool diff", __version__, level, (*about, ("callers", answer.caller_verdict.value)))
            write(rendered(answer.report(Mode(mode), Span(str(new))), format, no_lines, run), output)
    if answer.is_undecided:
        return Exit.UNDECIDED
    return Exit.NO if answer.fails(Mode(mode), level) else Exit.YES
