"""The smallest value of a type: zero, empty, none, the first case, as far as the restrictions let it.

Source: middleware 1.2, 8.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import assert_never

from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.instants import Instant
from policyd.core.schema.leaf_values import path_violations, quantity_violations, url_violations
from policyd.core.schema.numbers import NumberKind, to_f32
from policyd.core.schema.restrictions import (
    BinaryRestriction,
    NumericRestriction,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.steps import spend
from policyd.core.schema.text_wish import NoText, Texts, TextWish
from policyd.core.schema.types import (
    BinaryType,
    Branch,
    EnumType,
    FieldEquals,
    FixedListType,
    FlagsType,
    FutureType,
    ListType,
    MapType,
    NumberType,
    OptionType,
    PathType,
    PermissionCardType,
    PlainKind,
    PlainType,
    QuantityType,
    QuotaTokenType,
    RecordType,
    RefType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    StringRule,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
    parts_of,
    walk,
)
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import (
    BinaryValue,
    BoolValue,
    CharValue,
    DatetimeValue,
    DurationValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    PathValue,
    PermissionCardValue,
    QuantityValue,
    QuotaTokenValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    SecretValue,
    StreamValue,
    StringValue,
    TextValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)

MAX_EXAMPLE_NODES = 20_000
"""Larger examples are not made."""
MAX_ROUNDS = 160
"""Named types that need each other are followed so far; a chain that no comparison would follow ends sooner."""
NO_ID = "00000000-0000-0000-0000-000000000000"
EPOCH = Instant(0)


@dataclass(slots=True)
class Examples:
    """Smallest values of the types of one graph; made once per named type."""

    definitions: Definitions
    texts: Texts
    _named: dict[str, tuple[SchemaValue, int]] = field(default_factory=dict)
    _settled: set[str] = field(default_factory=set)
    _asked: int = 0

    def of(self, schema: SchemaType) -> SchemaValue | None:
        """A valid value of a type, or None where there is none or none was found."""
        self._settle(schema)
        found = self._make(schema)
        if found is None or violations_of(found[0], Graph(schema, self.definitions), self.texts.engines):
            return None
        return found[0]

    def body_of(self, branch: Branch) -> SchemaValue | None:
        """A body of a union's branch that satisfies its rule."""
        self._settle(branch.body)
        found = self._body(branch)
        return None if found is None else found[0]

    def is_empty(self, schema: SchemaType, above: frozenset[str] = frozenset()) -> bool:
        """Whether a type certainly has no value: what only holds itself has none either.

        After `MAX_EXAMPLE_NODES` types the answer is no, which only says that nothing is certain.
        """
        self._asked += 1
        spend()
        if self._asked > MAX_EXAMPLE_NODES:
            return False
        match schema:
            case RefType(id):
                body = self.definitions.body(id)
                return body is None or id in above or self.is_empty(body, above | {id})
            case RecordType() | TupleType() | FixedListType():
                return any(self.is_empty(part, above) for part in parts_of(schema))
            case VariantType(cases):
                return all(case.payload is not None and self.is_empty(case.payload, above) for case in cases)
            case UnionType(branches):
                return all(self.is_empty(branch.body, above) for branch in branches)
            case ResultType(ok, err):
                return all(slot is not None and self.is_empty(slot, above) for slot in (ok, err))
            case FutureType():
                return True
            case UrlType(restriction):
                return () in (restriction.schemes, restriction.hosts)
            case TextType(text):
                matches = () if text.regex is None else (text.regex,)
                return self.texts.find(TextWish(text.min_length or 0, text.max_length, matches)) is NoText.NONE
            case _:
                return False

    def _settle(self, schema: SchemaType) -> None:
        """Make values of the named types that are needed, the ones that need no others first."""
        fresh = [part.id for part in walk(schema) if isinstance(part, RefType) and part.id not in self._settled]
        if not fresh:
            return
        wanted = [item.id for item in self.definitions.reachable([schema]) if item.id not in self._settled]
        self._settled.update(wanted)
        for _ in range(MAX_ROUNDS):
            before = len(wanted)
            # later definitions are mostly the inner ones
            for id in reversed(wanted):
                spend()
                body = self.definitions.body(id)
                found = None if body is None else self._make(body)
                if found is not None:
                    self._named[id] = found
            wanted = [id for id in wanted if id not in self._named]
            if not wanted or len(wanted) == before:
                return

    def _make(self, schema: SchemaType) -> tuple[SchemaValue, int] | None:
        """A value with its size, from what is known of the named types so far."""
        spend()
        match schema:
            case RefType(id):
                return self._named.get(id)
            case RecordType(fields):
                return _joined(RecordValue, [self._make(f.body) for f in fields])
            case TupleType(elements):
                return _joined(TupleValue, [self._make(part) for part in elements])
            case FixedListType(element, length):
                one = self._make(element)
                if one is None or one[1] * length > MAX_EXAMPLE_NODES:
                    return None
                return FixedListValue((one[0],) * length), one[1] * length + 1
            case ListType():
                return ListValue(()), 1
            case MapType():
                return MapValue(()), 1
            case OptionType():
                return OptionValue(None), 1
            case VariantType() | ResultType() | UnionType():
                return self._choice(schema)
            case FutureType():
                return None
            case _:
                leaf = leaf_example(schema, self.texts)
                return None if leaf is None else (leaf, 1)

    def _choice(self, schema: VariantType | ResultType | UnionType) -> tuple[SchemaValue, int] | None:
        """The first alternative that has a value."""
        match schema:
            case VariantType(cases):
                for index, case in enumerate(cases):
                    if case.payload is None:
                        return VariantValue(index), 1
                for index, case in enumerate(cases):
                    found = None if case.payload is None else self._make(case.payload)
                    if found is not None:
                        return VariantValue(index, found[0]), found[1] + 1
            case ResultType(ok, err):
                for is_ok, slot in ((True, ok), (False, err)):
                    if slot is None:
                        return ResultValue(is_ok), 1
                    found = self._make(slot)
                    if found is not None:
                        return ResultValue(is_ok, found[0]), found[1] + 1
            case UnionType(branches):
                for branch in branches:
                    found = self._body(branch)
                    if found is not None:
                        return UnionValue(branch.tag, found[0]), found[1] + 1
            case _:
                assert_never(schema)
        return None

    def _body(self, branch: Branch) -> tuple[SchemaValue, int] | None:
        body = self.definitions.resolve(branch.body).type
        rule = branch.discriminator
        if isinstance(rule, StringRule):
            value = None if body is None else leaf_example(body, self.texts, rule)
            return None if value is None else (value, 1)
        if not isinstance(body, RecordType):
            return None
        parts = [self._make(f.body) for f in body.fields]
        if isinstance(rule, FieldEquals) and rule.literal is not None:
            index = next((i for i, f in enumerate(body.fields) if f.name == rule.field_name), None)
            if index is None:
                return None
            target = self.definitions.resolve(body.fields[index].body).type
            value = None if target is None else literal_value(target, rule.literal, self.texts)
            parts[index] = None if value is None else (value, 1)
        return _joined(RecordValue, parts)


def _joined(
    make: type[RecordValue] | type[TupleValue], parts: list[tuple[SchemaValue, int] | None]
) -> tuple[SchemaValue, int] | None:
    known = [part for part in parts if part is not None]
    size = sum(part[1] for part in known) + 1
    if len(known) != len(parts) or size > MAX_EXAMPLE_NODES:
        return None
    return make(tuple(part[0] for part in known)), size


def literal_value(schema: SchemaType, literal: str, texts: Texts) -> SchemaValue | None:
    """The value of a string, URL or path type with this text."""
    match schema:
        case PlainType(PlainKind.STRING):
            return StringValue(literal)
        case UrlType(restriction):
            return None if any(url_violations(restriction, literal, texts.engines)) else UrlValue(literal)
        case PathType(spec):
            return None if any(path_violations(spec, literal)) else PathValue(literal)
        case _:
            return None


def leaf_example(schema: SchemaType, texts: Texts, rule: StringRule | None = None) -> SchemaValue | None:
    """The smallest value of a type without parts; for string-like types one that satisfies a rule of a union."""
    rules = () if rule is None else (rule,)
    match schema:
        case NumberType(kind, restriction):
            return number_example(kind, restriction)
        case PlainType(PlainKind.STRING):
            found = texts.find(TextWish(rules=rules))
            return None if isinstance(found, NoText) else StringValue(found)
        case PlainType(plain):
            return _PLAIN[plain]
        case EnumType(names):
            return EnumValue(0) if names else None
        case FlagsType(names):
            return FlagsValue((False,) * len(names))
        case TextType(restriction):
            return text_example(restriction, texts)
        case BinaryType(restriction):
            return binary_example(restriction)
        case PathType(spec):
            return path_example(spec, texts, rules)
        case UrlType(restriction):
            return next(urls_of(restriction, texts, rules), None)
        case QuantityType(spec):
            return quantity_example(spec)
        case SecretType(_, category):
            return SecretValue(NO_ID, 0, EPOCH, category=category)
        case QuotaTokenType(resource):
            return QuotaTokenValue(NO_ID, resource or "calls", 0, 0, EPOCH)
        case PermissionCardType(polymorphic):
            return PermissionCardValue(NO_ID, polymorphic)
        case StreamType():
            return StreamValue(0)
        case _:
            assert not parts_of(schema)
            return None


_PLAIN: dict[PlainKind, SchemaValue] = {
    PlainKind.BOOL: BoolValue(False),
    PlainKind.CHAR: CharValue("a"),
    PlainKind.STRING: StringValue(""),
    PlainKind.DATETIME: DatetimeValue(EPOCH),
    PlainKind.DURATION: DurationValue(0),
}


def number_example(kind: NumberKind, restriction: NumericRestriction | None) -> SchemaValue | None:
    """The number nearest to zero."""
    low = None if restriction is None or restriction.low is None else restriction.low.number
    high = None if restriction is None or restriction.high is None else restriction.high.number
    found: int | float = 0
    if low is not None and found < low:
        found = low
    if high is not None and found > high:
        found = high
    if kind.is_float:
        rounded = to_f32(float(found)) if kind is NumberKind.F32 else float(found)
        return NumberValue(kind, rounded)
    return NumberValue(kind, int(found))


def text_example(restriction: TextRestriction, texts: Texts) -> SchemaValue | None:
    """A shortest text."""
    matches = () if restriction.regex is None else (restriction.regex,)
    found = texts.find(TextWish(restriction.min_length or 0, restriction.max_length, matches))
    return None if isinstance(found, NoText) else TextValue(found)


def binary_example(restriction: BinaryRestriction) -> SchemaValue | None:
    """The fewest bytes, all zero."""
    size = restriction.min_bytes or 0
    if size > MAX_EXAMPLE_NODES or (restriction.max_bytes is not None and size > restriction.max_bytes):
        return None
    return BinaryValue(bytes(size))


def path_example(spec: PathSpec, texts: Texts, rules: tuple[StringRule, ...] = ()) -> SchemaValue | None:
    """A short path."""
    found = texts.find(TextWish(1, None, rules=rules))
    candidates = ("a",) if isinstance(found, NoText) else (found, f"{found}a", f"a{found}")
    for text in candidates:
        if all(texts.satisfies(rule, text) for rule in rules) and not any(path_violations(spec, text)):
            return PathValue(text)
    for extension in spec.extensions or ():
        if not any(path_violations(spec, f"a.{extension}")):
            return None if rules else PathValue(f"a.{extension}")
    return None


def urls_of(restriction: UrlRestriction, texts: Texts, rules: tuple[StringRule, ...] = ()) -> Iterator[SchemaValue]:
    """Some URLs that a restriction lets through, the plainest first."""
    schemes = restriction.schemes if restriction.schemes is not None else ("https", "http")
    hosts = restriction.hosts if restriction.hosts is not None else ("example.com",)
    for scheme in schemes:
        for host in hosts:
            for text in (f"{scheme}://{host}/", *(_ruled(f"{scheme}://{host}/", rule) for rule in rules)):
                if all(texts.satisfies(r, text) for r in rules) and not any(
                    url_violations(restriction, text, texts.engines)
                ):
                    yield UrlValue(text)
    for rule in rules:
        if not any(url_violations(restriction, rule.text, texts.engines)) and texts.satisfies(rule, rule.text):
            yield UrlValue(rule.text)


def _ruled(url: str, rule: StringRule) -> str:
    return url + rule.text


def quantity_example(spec: QuantitySpec) -> SchemaValue | None:
    """Zero, or a bound, in a unit that is allowed."""
    units = spec.suffixes or (spec.base_unit,)
    amounts = [(0, 0), *((bound.mantissa, bound.scale) for bound in (spec.low, spec.high) if bound is not None)]
    for unit in units:
        for mantissa, scale in amounts:
            value = QuantityValue(mantissa, scale, unit)
            if not any(quantity_violations(spec, value)):
                return value
    return None
