"""Tool invocations: a command path and arguments, compared as a whole.

Source: cards 2.2 RS-tool.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.grants.resources.exact import Resource


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument; its text fixes its kind, except for a star that a host request carries as a literal.

    Attributes:
        text: as written: `--name`, `--name=value`, `-xz` or a positional.
        symbol: `star` or `globstar` where the value is exactly `*` or `**` in a grant, else empty.
    """

    text: str
    symbol: str = ""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with its arguments.

    Attributes:
        command: the command path, None where the call has none.
        arguments: in order; order matters.
    """

    command: tuple[str, ...] | None
    arguments: tuple[Argument, ...] = ()

    def covers(self, narrow: Resource) -> bool:
        """Whether `narrow` is the structurally identical call; stars are symbols, not wildcards."""
        return self == narrow

    @property
    def text(self) -> str:
        """The canonical text; nothing at all renders `*` (P10)."""
        words = [".".join(self.command)] if self.command is not None else []
        return " ".join([*words, *(a.text for a in self.arguments)]) or "*"


_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_LONG = re.compile(r"--[A-Za-z_][A-Za-z0-9_-]*(?:=.*)?", re.ASCII | re.DOTALL)
_SHORT = re.compile(r"-[A-Za-z]+", re.ASCII)


def invocation_of_call(command: Sequence[str], arguments: Sequence[str]) -> Invocation:
    """The resource that the host builds for a tool call: every argument is a literal, stars included.

    Args:
        command: command words, 0..n.
        arguments: canonical arguments; a positional may hold spaces, a flag value may be empty.

    Raises:
        ValueError: with the word that cannot be part of an invocation; the call is then refused unasked.
    """
    for word in command:
        if _WORD.fullmatch(word) is None:
            raise ValueError(word)
    for word in arguments:
        if not word or (word[0] == "-" and not (_LONG.fullmatch(word) or _SHORT.fullmatch(word))):
            raise ValueError(word)
    return Invocation(tuple(command) or None, tuple(Argument(word) for word in arguments))
