"""The entry point: picks the command, and turns every outcome into text and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module

import click

from policyd import __version__
from policyd.cli.exits import Exit
from policyd.findings import Finding, InternalDefect, NoSuchName, PolicydError, Severity, nearest

# verbs that answer "no such thing" with 1; on the others it is a question that could not be asked
SHOWING = frozenset({"limits", "op", "ops", "report", "resolve", "show", "simulate", "what-if"})

# name -> module and what it asks; the module is imported only when the command is named
COMMANDS: dict[str, tuple[str, str]] = {
    "audit": ("policyd.cli.commands.audit", "Find what is wrong or risky in a manifest."),
    "card": ("policyd.cli.commands.card", "Dry runs of deriving, installing and revoking cards."),
    "chain": ("policyd.cli.commands.chain", "Does middleware fit its tools, and what does a call go through?"),
    "check": ("policyd.cli.commands.check", "May this agent, or the holder of this wallet, do this?"),
    "conformance": ("policyd.cli.commands.conformance", "Check this build against recorded answers."),
    "db": ("policyd.cli.commands.db", "Migrate, check, dump and restore the database."),
    "diff": ("policyd.cli.commands.diff", "What a new version admits that the old one does not."),
    "editions": ("policyd.cli.commands.editions", "The editions of the platform's rules and their switches."),
    "explain": ("policyd.cli.commands.explain", "Why was this refused, and what is the narrowest change?"),
    "export": ("policyd.cli.commands.export", "Write a snapshot as one document that `import` reads again."),
    "fleet": ("policyd.cli.commands.fleet", "Audit many applications at once."),
    "fmt": ("policyd.cli.commands.fmt", "Write grants in canonical text and order; comments stay."),
    "grant": ("policyd.cli.commands.grant", "Read a grant: canonical text, meaning, coverage."),
    "import": ("policyd.cli.commands.import_", "Keep manifests, cards, wallets, shares or policies in the database."),
    "init": ("policyd.cli.commands.init", "A first policy test, baseline and workflow for a manifest."),
    "lsp": ("policyd.cli.commands.lsp", "A language server for manifests and policy tests, on stdio."),
    "reach": ("policyd.cli.commands.reach", "Who can get to this, through any chain of calls?"),
    "report": ("policyd.cli.commands.report", "One page on a deployment for an auditor."),
    "retry": (
        "policyd.cli.commands.retry",
        "Retry policies: which decides, how it goes, where it ends, what a change does.",
    ),
    "prove": ("policyd.cli.commands.prove", "Does it hold for all calls, or is there one against it?"),
    "op": ("policyd.cli.commands.op", "A host operation: what it takes, asks for, and how a denial shows."),
    "ops": ("policyd.cli.commands.ops", "The catalogue of host operations."),
    "outcome": ("policyd.cli.commands.outcome", "What each observer of a call sees, for a declared sequence."),
    "reflect": ("policyd.cli.commands.reflect", "Which client validates what, before what; what stays with the host."),
    "rule": ("policyd.cli.commands.rule", "The page of a code."),
    "rules": ("policyd.cli.commands.rules", "All codes."),
    "schema": ("policyd.cli.commands.schema", "Relations between schemas, with values that show where they fail."),
    "saga": ("policyd.cli.commands.saga", "Is a saga retry of this agent admitted, bounded and replay-stable?"),
    "serve": ("policyd.cli.commands.serve", "Serve the HTTP interface and the web pages."),
    "show": ("policyd.cli.commands.show", "The effective initial card of an agent type."),
    "snapshots": ("policyd.cli.commands.snapshots", "The snapshots in the database."),
    "token": ("policyd.cli.commands.token", "Create, list and revoke the tokens of the HTTP interface."),
    "tool": ("policyd.cli.commands.tool", "What a change of a tool means for middleware and callers."),
    "unused": ("policyd.cli.commands.unused", "Grants never used in a log of decisions, and the least card."),
    "value": ("policyd.cli.commands.value", "Check canonical JSON; the JSON Schema of a type."),
    "what-can": ("policyd.cli.commands.what_can", "Everything that a holder of a stored deployment may do."),
    "who-can": ("policyd.cli.commands.who_can", "Which holders of a deployment may do this, by which grants."),
    "synth": ("policyd.cli.commands.synth", "The least grants that let these calls through."),
    "test": ("policyd.cli.commands.test", "Does what policy tests expect of a deployment hold?"),
    "what-if": ("policyd.cli.commands.what_if", "What one edit of a card would start and stop."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, or None."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(COMMANDS[cmd_name][0])
        command = module.command
        assert isinstance(command, click.Command)  # each command module defines one
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in sorted(COMMANDS)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a misspelled one gets a suggestion."""
        name = args[0] if args else ""
        near = nearest(name, COMMANDS) if name not in COMMANDS and not name.startswith("-") else None
        if near:
            raise click.UsageError(f"no command `{name}`, did you mean `{near}`?", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, invoke_without_command=False)
@click.version_option(__version__, prog_name="policyd", message="policyd %(version)s")
def root() -> None:
    """What a Golem agent may do, why, and what would change it."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with an exit code; no input ends in a traceback."""
    # A short run allocates mostly what lives until its end: looking for garbage early only costs time.
    gc.set_threshold(100_000, 20, 20)
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    _tolerant_streams()
    try:
        outcome = root.main(arguments, prog_name="policyd", standalone_mode=False)
    except PolicydError as error:
        _tell(error)
        if isinstance(error, NoSuchName) and SHOWING.intersection(arguments[:2]):
            return Exit.NO
        return Exit.DEFECT if isinstance(error, InternalDefect) else Exit.NOT_ASKED
    except click.exceptions.Abort:
        return 130
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.exceptions.ClickException as usage:
        usage.show()
        return Exit.NOT_ASKED
    except BrokenPipeError:
        _close_stdout()
        return Exit.YES
    except KeyboardInterrupt:
        return 130
    except Exception as defect:
        return _defect(defect)
    return outcome if isinstance(outcome, int) else Exit.YES


def _defect(defect: Exception) -> int:
    """A defect of ours: named, with what to report, and where only if asked for."""
    if os.environ.get("POLICYD_DEBUG"):
        raise defect
    message = f"policyd failed: {type(defect).__name__}: {defect}"
    help = "please report it with the input that led here; POLICYD_DEBUG=1 tells where"
    _tell(PolicydError(Finding("SOLVE900", Severity.ERROR, message, None, help)))
    return Exit.DEFECT


def _tell(error: PolicydError) -> None:
    from policyd.cli.output import lines_of
    from policyd.report import finding_text

    for finding in error.findings:
        click.echo(finding_text(finding, lines_of(error)), err=True)


def _tolerant_streams() -> None:
    """Texts of users may hold anything: what a terminal cannot show is shown escaped, never an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _close_stdout() -> None:
    # the reader has gone: keep the interpreter from writing to it once more at exit
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
