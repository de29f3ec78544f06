"""Relations between the arguments of a command.

Source: middleware 1.1, 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from policyd.core.schema.values import SchemaValue


@dataclass(frozen=True, slots=True)
class Present:
    """Holds when the argument is given something else than its default."""

    name: str


@dataclass(frozen=True, slots=True)
class ValueIs:
    """Holds when the argument is this value, or holds it somewhere inside."""

    name: str
    value: SchemaValue


ArgumentRef: TypeAlias = Present | ValueIs


class Quantifier(Enum):
    """How many of several references must hold."""

    ALL = "all"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class RequiresAll:
    """All must hold."""

    refs: tuple[ArgumentRef, ...]


@dataclass(frozen=True, slots=True)
class RequiresAny:
    """At least one must hold."""

    refs: tuple[ArgumentRef, ...]


@dataclass(frozen=True, slots=True)
class AllOrNone:
    """All or none."""

    refs: tuple[ArgumentRef, ...]


@dataclass(frozen=True, slots=True)
class MutexGroups:
    """At most one group may hold as a whole."""

    groups: tuple[tuple[ArgumentRef, ...], ...]


@dataclass(frozen=True, slots=True)
class Implies:
    """If the left side holds, the right side must."""

    left_quantifier: Quantifier
    left: tuple[ArgumentRef, ...]
    right_quantifier: Quantifier
    right: tuple[ArgumentRef, ...]


@dataclass(frozen=True, slots=True)
class Forbids:
    """If the left side holds, nothing of the right side may."""

    left_quantifier: Quantifier
    left: tuple[ArgumentRef, ...]
    right: tuple[ArgumentRef, ...]


Constraint: TypeAlias = RequiresAll | RequiresAny | AllOrNone | MutexGroups | Implies | Forbids


def refs_of(constraint: Constraint) -> Iterator[ArgumentRef]:
    """All references of a constraint, in order."""
    match constraint:
        case RequiresAll(refs) | RequiresAny(refs) | AllOrNone(refs):
            yield from refs
        case MutexGroups(groups):
            yield from (ref for group in groups for ref in group)
        case Implies(_, left, _, right) | Forbids(_, left, right):
            yield from (*left, *right)
        case _:
            assert_never(constraint)
