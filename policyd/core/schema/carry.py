"""Carrying one value from its type into another by names, as far as it goes: what a projection would do with it.

Unlike a plan, which exists for all values or for none, this looks at one value only.

Source: middleware 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.name_index import NameIndex
from policyd.core.schema.outcomes import Validity, Violation, ViolationKind, validity_of
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    EnumType,
    FixedListType,
    FlagsType,
    ListType,
    MapType,
    OptionType,
    RecordType,
    ResultType,
    SchemaType,
    TupleType,
    UnionType,
    VariantType,
)
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import (
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    OptionValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    TupleValue,
    UnionValue,
    VariantValue,
)


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a value does not get into the target.

    Attributes:
        reason: a few words.
        violations: the rules of the target that it breaks; empty where it has no place in the target at all.
    """

    reason: str
    violations: tuple[Violation, ...] = ()


class _NoPlaceError(Exception):
    """The target has nothing of that name or shape."""


def carry(value: SchemaValue, source: Graph, target: Graph, engines: Engines) -> SchemaValue | Refused | None:
    """The value in its new form, why there is none, or None when an engine was missing.

    Args:
        value: valid for the source.
        source: the type it has.
        target: the type it gets.
        engines: for validation.
    """
    try:
        moved = _Carrier(source.definitions, target.definitions).carry(value, source.root, target.root)
    except _NoPlaceError as error:
        return Refused(str(error))
    except RecursionError:
        return None
    broken = violations_of(moved, target, engines)
    match validity_of(broken):
        case Validity.VALID:
            return moved
        case Validity.UNDECIDED:
            return None
        case Validity.INVALID:
            first = next(v for v in broken if v.kind not in (ViolationKind.NEEDS_PATTERNS, ViolationKind.NEEDS_URLS))
            return Refused(_WORDS.get(first.kind, "it does not fit"), broken)


_WORDS = {
    ViolationKind.SHAPE_MISMATCH: "its kind is another one",
    ViolationKind.NUMERIC_OUT_OF_RANGE: "the number is out of range",
    ViolationKind.RECORD_ARITY_MISMATCH: "the record has another number of fields",
    ViolationKind.TUPLE_ARITY_MISMATCH: "the tuple has another length",
    ViolationKind.FLAGS_ARITY_MISMATCH: "the flags are others",
    ViolationKind.FIXED_LIST_LENGTH_MISMATCH: "the list has another length",
    ViolationKind.VARIANT_CASE_OUT_OF_RANGE: "there is no such case",
    ViolationKind.VARIANT_PAYLOAD_PRESENCE_MISMATCH: "only one side has a payload",
    ViolationKind.ENUM_CASE_OUT_OF_RANGE: "there is no such case",
    ViolationKind.RESULT_PAYLOAD_PRESENCE_MISMATCH: "only one side has a value there",
    ViolationKind.TEXT_TOO_SHORT: "the text is too short",
    ViolationKind.TEXT_TOO_LONG: "the text is too long",
    ViolationKind.TEXT_LANGUAGE_NOT_ALLOWED: "the language is not allowed",
    ViolationKind.TEXT_REGEX_MISMATCH: "the pattern does not match",
    ViolationKind.BINARY_TOO_SMALL: "there are too few bytes",
    ViolationKind.BINARY_TOO_LARGE: "there are too many bytes",
    ViolationKind.BINARY_MIME_NOT_ALLOWED: "the MIME type is not allowed",
    ViolationKind.PATH_EMPTY: "the path is empty",
    ViolationKind.PATH_EXTENSION_NOT_ALLOWED: "the extension is not allowed",
    ViolationKind.URL_EMPTY: "the URL is empty",
    ViolationKind.URL_INVALID: "it is no URL",
    ViolationKind.URL_SCHEME_NOT_ALLOWED: "the scheme is not allowed",
    ViolationKind.URL_HOST_MISSING: "the URL has no host",
    ViolationKind.URL_HOST_NOT_ALLOWED: "the host is not allowed",
    ViolationKind.QUANTITY_UNIT_NOT_ALLOWED: "the unit is not allowed",
    ViolationKind.QUANTITY_OUT_OF_RANGE: "the quantity is out of range",
    ViolationKind.UNION_UNKNOWN_TAG: "there is no such branch",
    ViolationKind.UNION_DISCRIMINATOR_MISMATCH: "the rule of the branch does not hold",
    ViolationKind.SECRET_CATEGORY_MISMATCH: "the category of the secret is another one",
    ViolationKind.QUOTA_TOKEN_RESOURCE_MISMATCH: "the quota is of another resource",
    ViolationKind.PERMISSION_CARD_POLYMORPHIC_MISMATCH: "only one side takes cards with slots",
}


def violation_words(kind: ViolationKind) -> str:
    """A broken rule in a few words.

    >>> violation_words(ViolationKind.NUMERIC_OUT_OF_RANGE)
    'the number is out of range'
    """
    return _WORDS.get(kind, "validation needs an engine that is not there")


@dataclass(frozen=True, slots=True)
class _Carrier:
    sources: Definitions
    targets: Definitions
    index: NameIndex = field(default_factory=NameIndex)

    def carry(self, value: SchemaValue, source: SchemaType, target: SchemaType) -> SchemaValue:
        """One value; what has no counterpart by name is refused, what has another kind is left to validation."""
        spend()
        one, other = self.sources.resolve(source).type, self.targets.resolve(target).type
        match one, other, value:
            case RecordType(), RecordType(), RecordValue(parts):
                return self.record(one, other, parts)
            case TupleType(a), TupleType(b), TupleValue(parts) if len(a) == len(b):
                return TupleValue(tuple(self.carry(*three) for three in zip(parts, a, b, strict=True)))
            case ListType(a), ListType(b), ListValue(parts):
                return ListValue(tuple(self.carry(part, a, b) for part in parts))
            case FixedListType(a), FixedListType(b), FixedListValue(parts):
                return FixedListValue(tuple(self.carry(part, a, b) for part in parts))
            case MapType(k, v), MapType(l, w), MapValue(entries):
                return MapValue(tuple((self.carry(key, k, l), self.carry(part, v, w)) for key, part in entries))
            case OptionType(a), OptionType(b), OptionValue(some):
                return OptionValue(None if some is None else self.carry(some, a, b))
            case _:
                return self.choice(value, one, other)

    def record(self, source: RecordType, target: RecordType, parts: tuple[SchemaValue, ...]) -> SchemaValue:
        """The fields of the target, by name."""
        found: list[SchemaValue] = []
        places = self.index.of(source.fields, (own.name for own in source.fields))
        for wanted in target.fields:
            index = places.get(wanted.name)
            if index is None:
                raise _NoPlaceError(f"the field `{wanted.name}` is missing")
            found.append(self.carry(parts[index], source.fields[index].body, wanted.body))
        return RecordValue(tuple(found))

    def choice(self, value: SchemaValue, source: SchemaType | None, target: SchemaType | None) -> SchemaValue:
        """A value whose type offers a choice, or a leaf."""
        match source, target, value:
            case VariantType(a), VariantType(b), VariantValue(case, payload):
                index = self.index.of(b, (c.name for c in b)).get(a[case].name)
                if index is None:
                    raise _NoPlaceError(f"the case `{a[case].name}` is missing")
                return VariantValue(index, self.slot(payload, a[case].payload, b[index].payload))
            case EnumType(a), EnumType(b), EnumValue(case):
                index = self.index.of(b, b).get(a[case])
                if index is None:
                    raise _NoPlaceError(f"the case `{a[case]}` is missing")
                return EnumValue(index)
            case FlagsType(a), FlagsType(b), FlagsValue(bits):
                names = dict.fromkeys(name for name, bit in zip(a, bits, strict=True) if bit)
                places = self.index.of(b, b)
                missing = next((name for name in names if name not in places), None)
                if missing is not None:
                    raise _NoPlaceError(f"the flag `{missing}` is missing")
                return FlagsValue(tuple(name in names for name in b))
            case ResultType(), ResultType(), ResultValue(is_ok, some):
                slots = (source.ok, target.ok) if is_ok else (source.err, target.err)
                return ResultValue(is_ok, self.slot(some, *slots))
            case UnionType(a), UnionType(b), UnionValue(tag, body):
                one = self.index.of(a, (branch.tag for branch in a)).get(tag)
                other = self.index.of(b, (branch.tag for branch in b)).get(tag)
                if one is None or other is None:
                    raise _NoPlaceError(f"the branch `{tag}` is missing")
                return UnionValue(tag, self.carry(body, a[one].body, b[other].body))
            case _:
                return value

    def slot(
        self, value: SchemaValue | None, source: SchemaType | None, target: SchemaType | None
    ) -> SchemaValue | None:
        """A payload: there on both sides, or on neither."""
        if (source is None) != (target is None):
            raise _NoPlaceError("only one side has a payload there")
        if value is None or source is None or target is None:
            return None
        return self.carry(value, source, target)
