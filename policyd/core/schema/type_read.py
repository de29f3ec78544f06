"""The JSON form of types and graphs: kind-tagged objects with camelCase members.

Source: middleware 1.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.reading import (
    below,
    defaulted,
    fail,
    integer,
    list_of,
    member,
    members,
    optional,
    surfaced,
    tagged,
    text,
    truth,
)
from policyd.core.schema.restriction_json import (
    read_binary,
    read_numeric,
    read_path,
    read_quantity,
    read_text,
    read_url,
)
from policyd.core.schema.types import (
    NO_METADATA,
    STRING,
    BinaryType,
    Branch,
    Case,
    Discriminator,
    EnumType,
    Field,
    FieldAbsent,
    FieldEquals,
    FixedListType,
    FlagsType,
    FutureType,
    ListType,
    MapType,
    Metadata,
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
    Role,
    SchemaType,
    SecretType,
    StreamType,
    StringRule,
    TextRule,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
)

T = TypeVar("T")
_Reader: TypeAlias = Callable[[Mapping[str, object], int, Metadata], SchemaType]

_TAGS = ("multimodal", "unstructured-text", "unstructured-binary", "other")


def read_type(json: object) -> SchemaType:
    """The type that a JSON value stands for.

    Raises:
        InputError: SCHEMA001, when members are missing or of the wrong kind, or it is nested too deeply.
    """
    return surfaced("SCHEMA001", "type", lambda: type_at(json))


def read_graph(json: object) -> Graph:
    """The graph `{defs?, root}` that a JSON value stands for.

    Raises:
        InputError: SCHEMA001, like `read_type`.
    """
    return surfaced("SCHEMA001", "schema", lambda: graph_at(json))


def graph_at(json: object) -> Graph:
    """Like `read_graph`, inside of a reading that is under way."""
    found = members(json)
    none: tuple[Definition, ...] = ()
    definitions = defaulted(found, "defs", list_of(_definition), none)
    return Graph(member(found, "root", type_at), Definitions(definitions))


def _definition(json: object) -> Definition:
    found = members(json)
    return Definition(member(found, "id", text), member(found, "body", type_at), optional(found, "name", text))


def type_at(json: object, depth: int = 0) -> SchemaType:
    """Like `read_type`, inside of a reading that is under way."""
    kind, content = tagged(json)
    reader = _READERS.get(kind)
    if reader is None:
        fail(f"`{kind}` is no kind of type")
    try:
        found = members(content)
        return reader(found, below(depth), defaulted(found, "metadata", _metadata, NO_METADATA))
    except RecursionError:
        fail("nested too deeply")


def _inner(found: Mapping[str, object], name: str, depth: int) -> SchemaType:
    return member(found, name, lambda json: type_at(json, depth))


def _maybe(found: Mapping[str, object], name: str, depth: int) -> SchemaType | None:
    return optional(found, name, lambda json: type_at(json, depth))


def _spec(found: Mapping[str, object], read: Callable[[Mapping[str, object]], T]) -> T:
    return member(found, "spec", lambda json: read(members(json)))


def _metadata(json: object) -> Metadata:
    found = members(json)
    return Metadata(
        optional(found, "doc", text),
        defaulted(found, "aliases", list_of(text), ()),
        defaulted(found, "examples", list_of(text), ()),
        optional(found, "deprecated", text),
        optional(found, "role", _role),
    )


def _role(json: object) -> Role:
    found = members(json)
    tag = member(found, "tag", text)
    if tag not in _TAGS:
        fail(f"`{tag}` is no role")
    return Role(tag, member(found, "value", text) if tag == "other" else None)


def _ref(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return RefType(member(found, "id", text), metadata)


def _plain(kind: PlainKind) -> _Reader:
    return lambda found, depth, metadata: PlainType(kind, metadata)


def _number(kind: NumberKind) -> _Reader:
    return lambda found, depth, metadata: NumberType(kind, optional(found, "restrictions", read_numeric), metadata)


def _record(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    def field(json: object) -> Field:
        parts = members(json)
        name = member(parts, "name", text)
        return Field(name, _inner(parts, "body", depth), defaulted(parts, "metadata", _metadata, NO_METADATA))

    return RecordType(member(found, "fields", list_of(field)), metadata)


def _variant(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    def case(json: object) -> Case:
        parts = members(json)
        name = member(parts, "name", text)
        return Case(name, _maybe(parts, "payload", depth), defaulted(parts, "metadata", _metadata, NO_METADATA))

    return VariantType(member(found, "cases", list_of(case)), metadata)


def _enum(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return EnumType(member(found, "cases", list_of(text)), metadata)


def _flags(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return FlagsType(member(found, "flags", list_of(text)), metadata)


def _tuple(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return TupleType(member(found, "elements", list_of(lambda json: type_at(json, depth))), metadata)


def _list(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return ListType(_inner(found, "element", depth), metadata)


def _fixed_list(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return FixedListType(_inner(found, "element", depth), member(found, "length", integer(0, 2**32 - 1)), metadata)


def _map(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return MapType(_inner(found, "key", depth), _inner(found, "value", depth), metadata)


def _option(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return OptionType(_inner(found, "inner", depth), metadata)


def _result(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    ok, err = _spec(found, lambda spec: (_maybe(spec, "ok", depth), _maybe(spec, "err", depth)))
    return ResultType(ok, err, metadata)


def _text(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return TextType(member(found, "restrictions", read_text), metadata)


def _binary(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return BinaryType(member(found, "restrictions", read_binary), metadata)


def _path(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return PathType(member(found, "spec", read_path), metadata)


def _url(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return UrlType(member(found, "restrictions", read_url), metadata)


def _quantity(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return QuantityType(member(found, "spec", read_quantity), metadata)


def _union(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    def branch(json: object) -> Branch:
        parts = members(json)
        tag = member(parts, "tag", text)
        body = _inner(parts, "body", depth)
        rule = member(parts, "discriminator", _discriminator)
        return Branch(tag, body, rule, defaulted(parts, "metadata", _metadata, NO_METADATA))

    return UnionType(_spec(found, lambda spec: member(spec, "branches", list_of(branch))), metadata)


_RULE_MEMBERS = {"prefix": "prefix", "suffix": "suffix", "contains": "substring", "regex": "regex"}


def _discriminator(json: object) -> Discriminator:
    rule, content = tagged(json, "rule")
    found = members(content)
    if rule in _RULE_MEMBERS:
        return StringRule(TextRule(rule), member(found, _RULE_MEMBERS[rule], text))
    if rule == "field-equals":
        return FieldEquals(member(found, "fieldName", text), optional(found, "literal", text))
    if rule == "field-absent":
        return FieldAbsent(member(found, "fieldName", text))
    return fail(f"`{rule}` is no discriminator rule")


def _secret(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    def spec(parts: Mapping[str, object]) -> tuple[SchemaType, str | None]:
        unsaid: SchemaType = STRING
        inner = defaulted(parts, "inner", lambda json: type_at(json, depth), unsaid)
        return inner, optional(parts, "category", text)

    return SecretType(*_spec(found, spec), metadata)


def _quota_token(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return QuotaTokenType(_spec(found, lambda spec: optional(spec, "resourceName", text)), metadata)


def _permission_card(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return PermissionCardType(_spec(found, lambda spec: member(spec, "polymorphic", truth)), metadata)


def _future(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return FutureType(_maybe(found, "inner", depth), metadata)


def _stream(found: Mapping[str, object], depth: int, metadata: Metadata) -> SchemaType:
    return StreamType(_maybe(found, "inner", depth), metadata)


_READERS: dict[str, _Reader] = {
    **{kind.value: _plain(kind) for kind in PlainKind},
    **{kind.value: _number(kind) for kind in NumberKind},
    "ref": _ref,
    "record": _record,
    "variant": _variant,
    "enum": _enum,
    "flags": _flags,
    "tuple": _tuple,
    "list": _list,
    "fixed-list": _fixed_list,
    "map": _map,
    "option": _option,
    "result": _result,
    "text": _text,
    "binary": _binary,
    "path": _path,
    "url": _url,
    "quantity": _quantity,
    "union": _union,
    "secret": _secret,
    "quota-token": _quota_token,
    "permission-card": _permission_card,
    "future": _future,
    "stream": _stream,
}
