"""What narrows a type: bounds of numbers, lengths, lists, units.

An absent list means *anything*, an empty one *nothing* (for values that carry the property); the suffixes
of a quantity are the exception, where an empty list leaves the base unit.

Source: middleware 1.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.schema.numbers import Family, float_of_bits


@dataclass(frozen=True, slots=True)
class Bound:
    """One inclusive bound.

    Attributes:
        family: which family the bound was written in; it need not fit the type.
        raw: the integer, or the 64 bits of a double in the family of floats.
    """

    family: Family
    raw: int

    @property
    def number(self) -> int | float:
        """The bound as a number."""
        return float_of_bits(self.raw) if self.family is Family.FLOAT else self.raw


@dataclass(frozen=True, slots=True)
class NumericRestriction:
    """Bounds and unit of a number; one without any member does not exist (it is None)."""

    low: Bound | None = None
    high: Bound | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class TextRestriction:
    """What a text may be; lengths count Unicode scalar values."""

    languages: tuple[str, ...] | None = None
    min_length: int | None = None
    max_length: int | None = None
    regex: str | None = None


@dataclass(frozen=True, slots=True)
class BinaryRestriction:
    """What binary data may be; sizes are bytes."""

    mime_types: tuple[str, ...] | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None


class PathDirection(Enum):
    """Who reads and who writes."""

    INPUT = "input"
    OUTPUT = "output"
    IN_OUT = "in-out"


class PathKind(Enum):
    """What stands at the path."""

    FILE = "file"
    DIRECTORY = "directory"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class PathSpec:
    """What a path may be; only the extensions are checked on values."""

    direction: PathDirection
    kind: PathKind
    mime_types: tuple[str, ...] | None = None
    extensions: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class UrlRestriction:
    """What a URL may be; values are compared without regard to ASCII case, types with it."""

    schemes: tuple[str, ...] | None = None
    hosts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Amount:
    """A decimal `mantissa · 10^-scale` with a unit; equal as written, not by value."""

    mantissa: int
    scale: int
    unit: str


@dataclass(frozen=True, slots=True)
class QuantitySpec:
    """Unit and bounds of a quantity; no suffixes leaves the base unit only."""

    base_unit: str
    suffixes: tuple[str, ...] = ()
    low: Amount | None = None
    high: Amount | None = None


NO_TEXT_RESTRICTION = TextRestriction()
NO_BINARY_RESTRICTION = BinaryRestriction()
NO_URL_RESTRICTION = UrlRestriction()
