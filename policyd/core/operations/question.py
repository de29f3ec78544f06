"""One question about an operation while its parameters are read, and what each of them becomes.

Source: host 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policyd.core.grants.resources import Resource
from policyd.core.operations.owners import Asker
from policyd.core.operations.parameters import Arguments, Ports
from policyd.core.operations.refusal import Refusal, Unclear

Part = Resource | str | int | frozenset[str] | tuple["Part", ...] | tuple[str, Resource]
"""What a parameter becomes: a whole resource, a text or number of one, flags, or a list with one item per target."""

Read = Part | Refusal | Unclear


@dataclass(frozen=True, slots=True)
class Question:
    """What is at hand while the parameters of one question are read."""

    arguments: Arguments
    asker: Asker
    ports: Ports


def read_each(values: tuple[object, ...], reader: Callable[[object], Read]) -> Read:
    """The parts of a list; the first that cannot be read decides."""
    found = []
    for value in values:
        part = reader(value)
        if isinstance(part, (Refusal, Unclear)):
            return part
        found.append(part)
    return tuple(found)
