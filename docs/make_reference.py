"""Writes docs/reference.md from the code: verbs and flags, routes, settings, codes. `make reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import click

from policyd.analysis import RULES, page_of
from policyd.cli.main import COMMANDS
from policyd.findings.codes import FAMILIES
from policyd.service.app import create_app
from policyd.settings import Settings

HERE = Path(__file__).parent
HEAD = """\
# Reference

Written by `make reference` from the code. The words of a verb are those of its `--help`.
"""


def reference() -> str:
    """The whole page."""
    return "\n".join([HEAD, *verbs(), *routes(), *settings(), *codes()])


def verbs() -> Iterator[str]:
    """Every verb with its usage and flags."""
    yield "## Verbs\n"
    for name in sorted(COMMANDS):
        command = import_module(COMMANDS[name][0]).command
        yield from verb(command, f"policyd {name}")


def verb(command: click.Command, path: str) -> Iterator[str]:
    """One verb, and those below it."""
    context = click.Context(command, info_name=path)
    yield f"### {path}\n"
    yield " ".join((command.help or "").split()) + "\n"
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from verb(command.commands[name], f"{path} {name}")
        return
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```\n{path} {usage}\n```\n"
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if options:
        yield "| flag | meaning |\n|---|---|"
        for option in options:
            record = option.get_help_record(context)
            if record is not None:
                flag, words = record
                yield f"| `{cell(flag)}` | {cell(' '.join(words.split()))} |"
        yield ""


def cell(text: str) -> str:
    """A text inside a table."""
    return text.replace("|", "\\|")


def routes() -> Iterator[str]:
    """Every route that the OpenAPI document describes."""
    yield "## HTTP\n"
    yield "Bodies, answers and examples stand in `/v1/openapi.json` of a running service.\n"
    yield "| route | what it does |\n|---|---|"
    paths = create_app(Settings(database_url="sqlite://", require_tokens=False)).openapi()["paths"]
    for path in sorted(paths):
        for method, described in paths[path].items():
            yield f"| `{method.upper()} {path}` | {cell(described.get('summary', ''))} |"
    yield ""


def settings() -> Iterator[str]:
    """Every setting with its default."""
    yield "## Settings\n"
    yield "Environment variables, `POLICYD_` and the name.\n"
    yield "| variable | default |\n|---|---|"
    for name, field in sorted(Settings.model_fields.items()):
        yield f"| `POLICYD_{name.upper()}` | `{field.get_default()}` |"
    yield ""


def codes() -> Iterator[str]:
    """Every family, and every rule with what it says."""
    yield "## Codes\n"
    yield "`policyd rule CODE` prints the page of each; [rules.md](rules.md) lists all.\n"
    yield "| family | about |\n|---|---|"
    for family, about in FAMILIES.items():
        yield f"| `{family}` | {about} |"
    yield ""
    yield "| rule | severity | confidence | what it says |\n|---|---|---|---|"
    for rule in sorted(RULES, key=lambda rule: rule.code):
        title = page_of(rule.code).split("\n", 1)[0].partition(": ")[2]
        yield f"| {rule.code} | {rule.severity.value} | {rule.confidence.value} | {cell(title)} |"
    yield ""


if __name__ == "__main__":
    (HERE / "reference.md").write_text(reference(), encoding="utf-8")
    sys.exit(0)
