"""The flags that are the same on every verb.

Source: interface, Flags.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import click

from policyd.core.cards import Timestamp
from policyd.core.edition import SWITCHES, Edition, Rules
from policyd.findings import InputError, Severity, nearest
from policyd.syntax.mistakes import shown

MAX_JSON_BYTES = 64 * 1024 * 1024
"""A larger JSON file is refused unread."""

_Command = TypeVar("_Command", bound=Callable[..., object])


FORMATS = ("text", "json", "sarif")


class Group(click.Group):
    """A group that tells its commands in whole sentences."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, nothing cut."""
        rows = [(name, self.commands[name].get_short_help_str(limit=500)) for name in sorted(self.commands)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def env(command: _Command, help: str = "Environment; default: the manifest's default one.") -> _Command:
    """`--env`."""
    return click.option("--env", help=help)(command)


def place_in_all(command: _Command) -> _Command:
    """Where in a manifest, for verbs that look at every environment unless one is named."""
    return env(_beside_env(command), "Environment; default: all of them, each with its own presets.")


def place(command: _Command) -> _Command:
    """Where in a manifest: `--env`, `--preset`, `--account`, `--component`, `--include-root`."""
    return env(_beside_env(command))


def _beside_env(command: _Command) -> _Command:
    command = click.option("--include-root", type=FILE, help="Folder from which `includes` may also read.")(command)
    command = click.option("--component", default="", help="Component that implements the agent type.")(command)
    command = click.option("--account", default="", help="E-mail of the owner of the environment.")(command)
    help = "Custom presets, by commas; default: the environment's. A layer with none of them applies its own default."
    return click.option("--preset", help=help)(command)


def rules(command: _Command) -> _Command:
    """`--edition` and `--switch`."""
    command = click.option("--switch", multiple=True, help="A rule set apart from its edition: name=value.")(command)
    return click.option("--edition", default="next", help="Rules of the platform: next (default) or snapshot.")(command)


def output(*formats: str) -> Callable[[_Command], _Command]:
    """`--format` (one of `formats`) and `--output`."""

    def add(command: _Command) -> _Command:
        command = click.option("--output", type=FILE, help="Write to this file instead of stdout.")(command)
        return click.option("--format", type=click.Choice(formats), default=formats[0], help="Form of the output.")(
            command
        )

    return add


FILE = click.Path(path_type=Path)


def usage(message: str, help: str = "") -> InputError:
    """A wrong argument (exit 2)."""
    return InputError.of("MANIF091", message, None, help)


def demand_unplaced(**given: object) -> None:
    """Refuse flags that place a manifest where only stored deployments are asked about: they say where they are.

    Args:
        given: the values by flag, falsy where one is not given.
    """
    flags = [f"`--{name.replace('_', '-')}`" for name, value in given.items() if value]
    if flags:
        raise usage(
            f"a stored deployment has its own environment, presets and account: {', '.join(flags)} cannot change them",
            "leave them out, or ask about the manifest",
        )


def rules_of(edition: str, switches: Sequence[str] | None) -> Rules:
    """The rules that `--edition` and `--switch` name.

    Raises:
        InputError: for an unknown edition, switch or value.
    """
    try:
        base = Edition(edition)
    except ValueError:
        raise usage(f"unknown edition {shown(edition)}", "editions are `next` and `snapshot`") from None
    wanted: dict[str, str] = {}
    for text in switches or []:
        name, equals, value = text.partition("=")
        known = [row.name for row in SWITCHES]
        if not equals or name not in known:
            near = nearest(name, known)
            raise usage(
                f"unknown switch {shown(text)}", f"did you mean `{near}`?" if near else "see `policyd editions`"
            )
        wanted[name] = value
    try:
        return Rules.of(base, wanted)
    except ValueError as values:
        raise usage(f"a switch does not take that value, but {values}", "see `policyd editions`") from None


def presets_of(text: str | None) -> tuple[str, ...] | None:
    """The presets that `--preset` names, None if it is not given."""
    if text is None:
        return None
    return tuple(word.strip() for word in text.split(",") if word.strip())


def moment_of(text: str | None) -> Timestamp | None:
    """The moment that `--at` names; seconds may be left out.

    Raises:
        InputError: if it is none.
    """
    if text is None:
        return None
    full = text if text.count(":") >= 2 or not text.endswith(("Z", "z")) else f"{text[:-1]}:00Z"
    try:
        return Timestamp.parse(full)
    except ValueError as why:
        raise usage(f"{shown(text)} is no moment: {why}", "write `2026-12-24T00:00:00Z`") from None


def now() -> Timestamp:
    """The present moment; asked for at the rim only."""
    from datetime import UTC, datetime

    moment = datetime.now(UTC)
    return Timestamp(int(moment.timestamp()), moment.microsecond * 1000)


def severity_of(text: str) -> Severity:
    """The level that `--fail-on` names.

    Raises:
        InputError: if it is none.
    """
    try:
        return Severity(text)
    except ValueError:
        raise usage(f"unknown level {shown(text)}", "levels are `error`, `warning` and `info`") from None


_Read = TypeVar("_Read")


def read_json(path: Path) -> object:
    """The JSON value in a file.

    Raises:
        InputError: with the line and column of the first mistake.
    """
    return json_value(read_text(path), str(path))


def read_file(path: Path, read: Callable[[object], _Read]) -> _Read:
    """What `read` makes of the JSON value in a file.

    Raises:
        InputError: with the line and column of what is wrong.
    """
    text = read_text(path)
    value = json_value(text, str(path))
    try:
        return read(value)
    except InputError as error:
        from policyd.syntax.json_places import relocated

        raise InputError(*relocated(error.findings, str(path), text)) from None


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InputError: if it cannot be read, is too large or is not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_JSON_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "it is no file name").lower()
        raise InputError.of("CARD061", f"{shown(str(path))} cannot be read: {reason}") from None
    if len(data) > MAX_JSON_BYTES:
        raise InputError.of("CARD061", f"{shown(str(path))} is larger than {MAX_JSON_BYTES} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError.of("CARD061", f"{shown(str(path))} is not UTF-8 at byte {error.start}") from None


def json_value(text: str, source: str) -> object:
    """The JSON value of a text.

    Raises:
        InputError: with the line and column of the first mistake.
    """
    import json

    from policyd.findings.span import span_of_text

    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        span = span_of_text(source, text, error.pos, error.pos + 1)
        raise InputError.of("CARD061", f"not JSON: {error.msg.lower()}", span) from None
    except (RecursionError, ValueError):
        raise InputError.of(
            "CARD061", "not JSON that can be read: nested too deeply, or a number is too long"
        ) from None


def lines_of(path: Path) -> Callable[[str, int], str | None]:
    """The lines of a file of cards, for showing grants; such files hold no secrets."""
    lines = read_text(path).split("\n")

    def line(source: str, number: int) -> str | None:
        return lines[number - 1] if source == str(path) and 0 < number <= len(lines) else None

    return line
