"""Schema types: one closed vocabulary of frozen values.

Source: middleware 1.2, 1.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias, assert_never

from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.restrictions import (
    NO_BINARY_RESTRICTION,
    NO_TEXT_RESTRICTION,
    NO_URL_RESTRICTION,
    BinaryRestriction,
    NumericRestriction,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.steps import spend


@dataclass(frozen=True, slots=True)
class Role:
    """A hint for consumers: a tag, and a name for the tag `other`."""

    tag: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Metadata:
    """What describes a type without narrowing it; no relation looks at it."""

    doc: str | None = None
    aliases: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    deprecated: str | None = None
    role: Role | None = None


NO_METADATA = Metadata()


class PlainKind(Enum):
    """Types that take no restriction."""

    BOOL = "bool"
    CHAR = "char"
    STRING = "string"
    DATETIME = "datetime"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class RefType:
    """A reference to a definition of the graph."""

    id: str
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class PlainType:
    """`bool`, `char`, `string`, `datetime` or `duration`."""

    kind: PlainKind
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class NumberType:
    """An integer or floating-point type, possibly narrowed."""

    kind: NumberKind
    restriction: NumericRestriction | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class Field:
    """A named member of a record."""

    name: str
    body: SchemaType
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class RecordType:
    """Named fields; its values are positional."""

    fields: tuple[Field, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a variant, with or without payload."""

    name: str
    payload: SchemaType | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class VariantType:
    """A tagged choice; its values carry the index of the case."""

    cases: tuple[Case, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class EnumType:
    """A choice of names; its values carry the index."""

    cases: tuple[str, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class FlagsType:
    """A set of names; its values are one bit per name."""

    flags: tuple[str, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class TupleType:
    """Positional members."""

    elements: tuple[SchemaType, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class ListType:
    """Any number of elements."""

    element: SchemaType
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class FixedListType:
    """Exactly `length` elements."""

    element: SchemaType
    length: int
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class MapType:
    """Pairs of key and value; repeated keys are legal in values."""

    key: SchemaType
    value: SchemaType
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class OptionType:
    """Something or none."""

    inner: SchemaType
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class ResultType:
    """Success or failure, each with or without a value."""

    ok: SchemaType | None = None
    err: SchemaType | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class TextType:
    """Natural text with an optional language."""

    restriction: TextRestriction = NO_TEXT_RESTRICTION
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class BinaryType:
    """Bytes with an optional MIME type."""

    restriction: BinaryRestriction = NO_BINARY_RESTRICTION
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class PathType:
    """A path of a file system."""

    spec: PathSpec
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class UrlType:
    """A URL."""

    restriction: UrlRestriction = NO_URL_RESTRICTION
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class QuantityType:
    """A decimal with a unit."""

    spec: QuantitySpec
    metadata: Metadata = NO_METADATA


class TextRule(Enum):
    """How a discriminator looks at a string; the value is the name in JSON."""

    PREFIX = "prefix"
    SUFFIX = "suffix"
    CONTAINS = "contains"
    REGEX = "regex"


@dataclass(frozen=True, slots=True)
class StringRule:
    """Holds for a string that begins with, ends with, contains or matches `text`."""

    rule: TextRule
    text: str


@dataclass(frozen=True, slots=True)
class FieldEquals:
    """Holds for a record in which the field stands, with `literal` when there is one."""

    field_name: str
    literal: str | None = None


@dataclass(frozen=True, slots=True)
class FieldAbsent:
    """Holds for a record without the field."""

    field_name: str


Discriminator: TypeAlias = StringRule | FieldEquals | FieldAbsent


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch of a union."""

    tag: str
    body: SchemaType
    discriminator: Discriminator
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class UnionType:
    """A choice without a tag on the wire: the discriminators tell the branch."""

    branches: tuple[Branch, ...]
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class SecretType:
    """A handle on a secret of the host; never its text."""

    inner: SchemaType = field(default_factory=lambda: PlainType(PlainKind.STRING))
    category: str | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class QuotaTokenType:
    """A share of a quota."""

    resource_name: str | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class PermissionCardType:
    """A permission card as a value."""

    polymorphic: bool
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class FutureType:
    """A value that comes later; there are no values of it here."""

    inner: SchemaType | None = None
    metadata: Metadata = NO_METADATA


@dataclass(frozen=True, slots=True)
class StreamType:
    """Items that arrive one by one, or bytes when there is no item type."""

    inner: SchemaType | None = None
    metadata: Metadata = NO_METADATA


CapabilityType: TypeAlias = SecretType | QuotaTokenType | PermissionCardType
SchemaType: TypeAlias = (
    RefType
    | PlainType
    | NumberType
    | RecordType
    | VariantType
    | EnumType
    | FlagsType
    | TupleType
    | ListType
    | FixedListType
    | MapType
    | OptionType
    | ResultType
    | TextType
    | BinaryType
    | PathType
    | UrlType
    | QuantityType
    | UnionType
    | SecretType
    | QuotaTokenType
    | PermissionCardType
    | FutureType
    | StreamType
)

BOOL = PlainType(PlainKind.BOOL)
STRING = PlainType(PlainKind.STRING)
U32 = NumberType(NumberKind.U32)
EMPTY_RECORD = RecordType(())


def kind_of(schema: SchemaType) -> str:
    """The name of the type's kind as JSON writes it.

    >>> kind_of(ListType(U32))
    'list'
    """
    match schema:
        case PlainType(plain):
            return plain.value
        case NumberType(number):
            return number.value
        case _:
            return _KIND_NAMES[type(schema)]


_KIND_NAMES: dict[type, str] = {
    RefType: "ref",
    RecordType: "record",
    VariantType: "variant",
    EnumType: "enum",
    FlagsType: "flags",
    TupleType: "tuple",
    ListType: "list",
    FixedListType: "fixed-list",
    MapType: "map",
    OptionType: "option",
    ResultType: "result",
    TextType: "text",
    BinaryType: "binary",
    PathType: "path",
    UrlType: "url",
    QuantityType: "quantity",
    UnionType: "union",
    SecretType: "secret",
    QuotaTokenType: "quota-token",
    PermissionCardType: "permission-card",
    FutureType: "future",
    StreamType: "stream",
}


def parts_of(schema: SchemaType) -> tuple[SchemaType, ...]:
    """The types directly inside, in the order in which they are written; refs are not followed.

    The payload of a secret is one of them.
    """
    match schema:
        case RecordType(fields):
            return tuple(f.body for f in fields)
        case VariantType(cases):
            return tuple(c.payload for c in cases if c.payload is not None)
        case TupleType(elements):
            return elements
        case ListType(inner) | FixedListType(inner) | OptionType(inner) | SecretType(inner):
            return (inner,)
        case MapType(key, value):
            return (key, value)
        case ResultType(ok, err):
            return tuple(slot for slot in (ok, err) if slot is not None)
        case UnionType(branches):
            return tuple(b.body for b in branches)
        case FutureType(item) | StreamType(item):
            return () if item is None else (item,)
        case (
            RefType()
            | PlainType()
            | NumberType()
            | EnumType()
            | FlagsType()
            | TextType()
            | BinaryType()
            | PathType()
            | UrlType()
            | QuantityType()
            | QuotaTokenType()
            | PermissionCardType()
        ):
            return ()
        case _:
            assert_never(schema)


def width_of(schema: SchemaType) -> int:
    """How many names or types are written directly inside: what looking at all of them costs.

    >>> width_of(EnumType(("a", "b")))
    2
    """
    match schema:
        case EnumType(names) | FlagsType(names):
            return len(names)
        case RecordType(parts) | VariantType(parts) | UnionType(parts) | TupleType(parts):
            return len(parts)
        case _:
            return 0


def walk(schema: SchemaType, *, into_secrets: bool = True) -> Iterator[SchemaType]:
    """The type and everything inside it, outside first; refs are given but not followed."""
    pending = [schema]
    while pending:
        current = pending.pop()
        spend()
        yield current
        if into_secrets or not isinstance(current, SecretType):
            pending.extend(reversed(parts_of(current)))


def replace_refs(schema: SchemaType, names: Mapping[str, str]) -> SchemaType:
    """The type with its references renamed; those that are not named stay.

    >>> replace_refs(ListType(RefType("a")), {"a": "b"}).element.id
    'b'
    """

    def inner(part: SchemaType) -> SchemaType:
        return replace_refs(part, names)

    def maybe(part: SchemaType | None) -> SchemaType | None:
        return None if part is None else inner(part)

    match schema:
        case RefType(id):
            return replace(schema, id=names.get(id, id))
        case RecordType(fields):
            return replace(schema, fields=tuple(replace(f, body=inner(f.body)) for f in fields))
        case VariantType(cases):
            return replace(schema, cases=tuple(replace(c, payload=maybe(c.payload)) for c in cases))
        case TupleType(elements):
            return replace(schema, elements=tuple(map(inner, elements)))
        case ListType(element) | FixedListType(element):
            return replace(schema, element=inner(element))
        case MapType(key, value):
            return replace(schema, key=inner(key), value=inner(value))
        case OptionType(some) | SecretType(some):
            return replace(schema, inner=inner(some))
        case ResultType(ok, err):
            return replace(schema, ok=maybe(ok), err=maybe(err))
        case UnionType(branches):
            return replace(schema, branches=tuple(replace(b, body=inner(b.body)) for b in branches))
        case FutureType(item) | StreamType(item):
            return replace(schema, inner=maybe(item))
        case _:
            return schema
