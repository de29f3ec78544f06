"""Numeric kinds: their families, their widths, and rounding to 32-bit floats.

Source: middleware 1.2, 1.3.
"""

from __future__ import annotations

import math
import struct
from enum import Enum


class Family(Enum):
    """Which kind of bound a number takes; the value is the tag that a bound has in JSON."""

    SIGNED = "signed"
    UNSIGNED = "unsigned"
    FLOAT = "float-bits"


class NumberKind(Enum):
    """The ten numeric types; the value is the name in JSON."""

    S8 = "s8"
    S16 = "s16"
    S32 = "s32"
    S64 = "s64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F32 = "f32"
    F64 = "f64"

    @property
    def family(self) -> Family:
        """The family of bounds that fits.

        >>> NumberKind.U8.family.value
        'unsigned'
        """
        return {"s": Family.SIGNED, "u": Family.UNSIGNED, "f": Family.FLOAT}[self.value[0]]

    @property
    def width(self) -> int:
        """The number of bits."""
        return int(self.value[1:])

    @property
    def is_float(self) -> bool:
        """Whether values are floating-point numbers."""
        return self.family is Family.FLOAT

    @property
    def is_wide(self) -> bool:
        """Whether it is a 64-bit integer, which JSON numbers cannot carry."""
        return self.width == 64 and not self.is_float

    @property
    def low(self) -> int:
        """The least integer of the width (integers only)."""
        return -(1 << (self.width - 1)) if self.family is Family.SIGNED else 0

    @property
    def high(self) -> int:
        """The greatest integer of the width (integers only).

        >>> NumberKind.S8.low, NumberKind.U8.high
        (-128, 255)
        """
        return (1 << (self.width - 1)) - 1 if self.family is Family.SIGNED else (1 << self.width) - 1

    def holds(self, value: int) -> bool:
        """Whether the integer is in the range of the width."""
        return self.low <= value <= self.high


def float_of_bits(bits: int) -> float:
    """The double with these 64 bits."""
    return float(struct.unpack("<d", bits.to_bytes(8, "little"))[0])


def bits_of_float(value: float) -> int:
    """The 64 bits of a double, a negative zero becoming zero as the platform stores it.

    >>> bits_of_float(-0.0)
    0
    """
    return int.from_bytes(struct.pack("<d", value + 0.0 if value == 0.0 else value), "little") if value else 0


def to_f32(value: float) -> float:
    """The nearest 32-bit float; too large numbers become infinite.

    >>> to_f32(16777217.0)
    16777216.0
    """
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
