"""Schema values: what travels in a call, positional as the platform writes it.

Source: middleware 1.2, 1.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from policyd.core.schema.instants import Instant
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.types import PlainKind


@dataclass(frozen=True, slots=True)
class BoolValue:
    """A truth value."""

    value: bool


@dataclass(frozen=True, slots=True)
class NumberValue:
    """A number of one kind; floats of kind `f32` are already rounded."""

    kind: NumberKind
    value: int | float


@dataclass(frozen=True, slots=True)
class CharValue:
    """One Unicode scalar value."""

    value: str


@dataclass(frozen=True, slots=True)
class StringValue:
    """A string."""

    value: str


@dataclass(frozen=True, slots=True)
class RecordValue:
    """The fields of a record in the order of the type."""

    fields: tuple[SchemaValue, ...]


@dataclass(frozen=True, slots=True)
class VariantValue:
    """A case by index, with its payload."""

    case: int
    payload: SchemaValue | None = None


@dataclass(frozen=True, slots=True)
class EnumValue:
    """A case by index."""

    case: int


@dataclass(frozen=True, slots=True)
class FlagsValue:
    """One bit per flag of the type."""

    bits: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class TupleValue:
    """The members of a tuple."""

    elements: tuple[SchemaValue, ...]


@dataclass(frozen=True, slots=True)
class ListValue:
    """The elements of a list."""

    elements: tuple[SchemaValue, ...]


@dataclass(frozen=True, slots=True)
class FixedListValue:
    """The elements of a list of fixed length."""

    elements: tuple[SchemaValue, ...]


@dataclass(frozen=True, slots=True)
class MapValue:
    """Pairs in order; keys may repeat."""

    entries: tuple[tuple[SchemaValue, SchemaValue], ...]


@dataclass(frozen=True, slots=True)
class OptionValue:
    """Some value, or none."""

    inner: SchemaValue | None = None


@dataclass(frozen=True, slots=True)
class ResultValue:
    """Success (`is_ok`) or failure, with the value of that side."""

    is_ok: bool
    value: SchemaValue | None = None


@dataclass(frozen=True, slots=True)
class TextValue:
    """Text, perhaps with its language."""

    text: str
    language: str | None = None


@dataclass(frozen=True, slots=True)
class BinaryValue:
    """Bytes, perhaps with their MIME type."""

    data: bytes
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class PathValue:
    """A path as text."""

    path: str


@dataclass(frozen=True, slots=True)
class UrlValue:
    """A URL as text, not yet parsed."""

    url: str


@dataclass(frozen=True, slots=True)
class DatetimeValue:
    """A moment."""

    instant: Instant


@dataclass(frozen=True, slots=True)
class DurationValue:
    """A span of time."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class QuantityValue:
    """`mantissa · 10^-scale` of a unit."""

    mantissa: int
    scale: int
    unit: str


@dataclass(frozen=True, slots=True)
class UnionValue:
    """The body and the tag of the branch it was read under."""

    tag: str
    body: SchemaValue


@dataclass(frozen=True, slots=True)
class SecretValue:
    """A handle on one version of a secret."""

    secret_id: str
    version: int
    resolved_at: Instant
    config_key: tuple[str, ...] | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class QuotaTokenValue:
    """A quota token with its balance."""

    environment_id: str
    resource_name: str
    expected_use: int
    last_credit: int
    last_credit_at: Instant


@dataclass(frozen=True, slots=True)
class PermissionCardValue:
    """A card by its id."""

    card_id: str
    polymorphic: bool
    parent_ids: tuple[str, ...] = ()
    expires_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class StreamValue:
    """A live stream, told apart by a number; there is no JSON for it."""

    number: int


CapabilityValue: TypeAlias = SecretValue | QuotaTokenValue | PermissionCardValue
LeafValue: TypeAlias = (
    BoolValue
    | NumberValue
    | CharValue
    | StringValue
    | EnumValue
    | FlagsValue
    | TextValue
    | BinaryValue
    | PathValue
    | UrlValue
    | DatetimeValue
    | DurationValue
    | QuantityValue
    | SecretValue
    | QuotaTokenValue
    | PermissionCardValue
    | StreamValue
)
SchemaValue: TypeAlias = (
    LeafValue
    | RecordValue
    | VariantValue
    | TupleValue
    | ListValue
    | FixedListValue
    | MapValue
    | OptionValue
    | ResultValue
    | UnionValue
)

PLAIN_VALUES: dict[PlainKind, type] = {
    PlainKind.BOOL: BoolValue,
    PlainKind.CHAR: CharValue,
    PlainKind.STRING: StringValue,
    PlainKind.DATETIME: DatetimeValue,
    PlainKind.DURATION: DurationValue,
}
"""Which values a plain type has."""


def parts_of_value(value: SchemaValue) -> tuple[SchemaValue, ...]:
    """The values directly inside, in order; keys of maps before their values."""
    match value:
        case RecordValue(parts) | TupleValue(parts) | ListValue(parts) | FixedListValue(parts):
            return parts
        case MapValue(entries):
            return tuple(part for entry in entries for part in entry)
        case VariantValue(_, inner) | OptionValue(inner) | ResultValue(_, inner):
            return () if inner is None else (inner,)
        case UnionValue(_, body):
            return (body,)
        case (
            BoolValue()
            | NumberValue()
            | CharValue()
            | StringValue()
            | EnumValue()
            | FlagsValue()
            | TextValue()
            | BinaryValue()
            | PathValue()
            | UrlValue()
            | DatetimeValue()
            | DurationValue()
            | QuantityValue()
            | SecretValue()
            | QuotaTokenValue()
            | PermissionCardValue()
            | StreamValue()
        ):
            return ()
        case _:
            assert_never(value)


def streams_in(value: SchemaValue) -> Iterator[int]:
    """The numbers of the live streams inside a value, in order."""
    pending = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, StreamValue):
            yield current.number
        pending.extend(reversed(parts_of_value(current)))
