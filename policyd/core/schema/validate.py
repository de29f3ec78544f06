"""Validating values: every rule of the type that a value breaks.

Source: middleware 8.2, 1.3, 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from policyd.core.schema.discriminators import rule_holds
from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.leaf_values import (
    binary_violations,
    number_violations,
    path_violations,
    quantity_violations,
    text_violations,
    url_violations,
)
from policyd.core.schema.name_index import NameIndex
from policyd.core.schema.outcomes import Validity, Violation, ViolationKind, validity_of
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    BinaryType,
    EnumType,
    FixedListType,
    FlagsType,
    ListType,
    MapType,
    NumberType,
    OptionType,
    PathType,
    PermissionCardType,
    PlainType,
    QuantityType,
    QuotaTokenType,
    RecordType,
    RefType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
    width_of,
)
from policyd.core.schema.values import (
    PLAIN_VALUES,
    BinaryValue,
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
    TextValue,
    TupleValue,
    UnionValue,
    UrlValue,
    VariantValue,
)

_Path = tuple[str, ...]


def violations_of(value: SchemaValue, graph: Graph, engines: Engines) -> tuple[Violation, ...]:
    """Every rule of the graph's root that the value breaks, outside first.

    What would need an engine that is not there is listed as such; `validity` sums it up.
    """
    walk = _Walk(graph.definitions, engines, [(graph.root, value, ())], [])
    while walk.pending:
        walk.check(*walk.pending.pop())
    return tuple(walk.found)


def validity(value: SchemaValue, graph: Graph, engines: Engines) -> Validity:
    """Whether the value fits the graph's root."""
    return validity_of(violations_of(value, graph, engines))


@dataclass(frozen=True, slots=True)
class _Walk:
    """One validation: what is still to be checked (last first), and what was found."""

    definitions: Definitions
    engines: Engines
    pending: list[tuple[SchemaType, SchemaValue, _Path]]
    found: list[Violation]
    index: NameIndex = field(default_factory=NameIndex)

    def broken(self, kind: ViolationKind, path: _Path) -> None:
        """Note one violation."""
        self.found.append(Violation(kind, path))

    def check(self, schema: SchemaType, value: SchemaValue, path: _Path) -> None:
        """Check one value against one type, leaving what is inside for later."""
        spend()
        if isinstance(schema, RefType):
            resolved = self.definitions.resolve(schema)
            if resolved.type is None:
                self.broken(ViolationKind.SHAPE_MISMATCH if resolved.is_cycle else ViolationKind.DANGLING_REF, path)
                return
            schema = resolved.type
        spend(width_of(schema))
        match schema, value:
            case RecordType(fields), RecordValue(parts):
                if len(fields) != len(parts):
                    self.broken(ViolationKind.RECORD_ARITY_MISMATCH, path)
                else:
                    names = [f"field:{field.name}" for field in fields]
                    self.later([field.body for field in fields], parts, path, names)
            case TupleType(types), TupleValue(parts):
                if len(types) != len(parts):
                    self.broken(ViolationKind.TUPLE_ARITY_MISMATCH, path)
                else:
                    self.later(types, parts, path, _indices(parts))
            case ListType(element), ListValue(parts):
                self.later([element] * len(parts), parts, path, _indices(parts))
            case FixedListType(element, length), FixedListValue(parts):
                if length != len(parts):
                    self.broken(ViolationKind.FIXED_LIST_LENGTH_MISMATCH, path)
                else:
                    self.later([element] * len(parts), parts, path, _indices(parts))
            case MapType(key, item), MapValue(entries):
                both = [part for _ in entries for part in (key, item)]
                names = [name for i in range(len(entries)) for name in (f"key:{i}", f"value:{i}")]
                self.later(both, tuple(part for entry in entries for part in entry), path, names)
            case OptionType(inner), OptionValue(some):
                if some is not None:
                    self.pending.append((inner, some, (*path, "some")))
            case _:
                self.choice(schema, value, path)

    def later(
        self, types: Sequence[SchemaType], parts: tuple[SchemaValue, ...], path: _Path, names: Sequence[str]
    ) -> None:
        """Check the parts after this; the first of them next."""
        triples = [(type_, part, (*path, name)) for type_, part, name in zip(types, parts, names, strict=True)]
        self.pending.extend(reversed(triples))

    def choice(self, schema: SchemaType, value: SchemaValue, path: _Path) -> None:
        """Check a value whose type offers a choice, or a leaf."""
        match schema, value:
            case VariantType(cases), VariantValue(case, payload):
                if case >= len(cases):
                    self.broken(ViolationKind.VARIANT_CASE_OUT_OF_RANGE, path)
                else:
                    absent = ViolationKind.VARIANT_PAYLOAD_PRESENCE_MISMATCH
                    self.slot(cases[case].payload, payload, path, "payload", absent)
            case ResultType(ok, err), ResultValue(is_ok, some):
                slot, name = (ok, "ok") if is_ok else (err, "err")
                self.slot(slot, some, path, name, ViolationKind.RESULT_PAYLOAD_PRESENCE_MISMATCH)
            case EnumType(names), EnumValue(case):
                if case >= len(names):
                    self.broken(ViolationKind.ENUM_CASE_OUT_OF_RANGE, path)
            case FlagsType(names), FlagsValue(bits):
                if len(bits) != len(names):
                    self.broken(ViolationKind.FLAGS_ARITY_MISMATCH, path)
            case UnionType(), UnionValue():
                self.union(schema, value, path)
            case _:
                for kind in self._leaf_kinds(schema, value):
                    self.broken(kind, path)

    def slot(
        self, schema: SchemaType | None, value: SchemaValue | None, path: _Path, name: str, absent: ViolationKind
    ) -> None:
        """Check a payload: there exactly when it is declared."""
        if (schema is None) != (value is None):
            self.broken(absent, path)
        elif schema is not None and value is not None:
            self.pending.append((schema, value, (*path, name)))

    def union(self, schema: UnionType, value: UnionValue, path: _Path) -> None:
        """Check the tag, the rule of its branch, and the body."""
        place = self.index.of(schema.branches, (b.tag for b in schema.branches)).get(value.tag)
        if place is None:
            self.broken(ViolationKind.UNION_UNKNOWN_TAG, path)
            return
        branch, inside = schema.branches[place], (*path, "body")
        self.pending.append((branch.body, value.body, inside))
        holds = rule_holds(branch, value.body, self.definitions, self.engines)
        if holds is None:
            self.broken(ViolationKind.NEEDS_PATTERNS, inside)
        elif not holds:
            self.broken(ViolationKind.UNION_DISCRIMINATOR_MISMATCH, inside)

    def _leaf_kinds(self, schema: SchemaType, value: SchemaValue) -> Iterator[ViolationKind]:
        match schema, value:
            case NumberType(kind, restriction), NumberValue(same, number) if kind is same:
                yield from number_violations(kind, restriction, number)
            case TextType(text), TextValue():
                yield from text_violations(text, value, self.engines)
            case BinaryType(binary), BinaryValue():
                yield from binary_violations(binary, value)
            case PathType(spec), PathValue(path):
                yield from path_violations(spec, path)
            case UrlType(urls), UrlValue(url):
                yield from url_violations(urls, url, self.engines)
            case QuantityType(quantity), QuantityValue():
                yield from quantity_violations(quantity, value)
            case SecretType(_, category), SecretValue():
                if category is not None and value.category != category:
                    yield ViolationKind.SECRET_CATEGORY_MISMATCH
            case QuotaTokenType(resource), QuotaTokenValue():
                if resource is not None and value.resource_name != resource:
                    yield ViolationKind.QUOTA_TOKEN_RESOURCE_MISMATCH
            case PermissionCardType(polymorphic), PermissionCardValue():
                if value.polymorphic != polymorphic:
                    yield ViolationKind.PERMISSION_CARD_POLYMORPHIC_MISMATCH
            case StreamType(), StreamValue():
                return
            case PlainType(plain), _ if isinstance(value, PLAIN_VALUES[plain]):
                return
            case _:
                yield ViolationKind.SHAPE_MISMATCH


def _indices(parts: tuple[SchemaValue, ...]) -> list[str]:
    return [f"index:{index}" for index in range(len(parts))]
