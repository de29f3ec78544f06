"""Writing types and graphs as JSON: the inverse of `type_json`.

Source: middleware 1.4.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from policyd.core.schema.graph import Definition, Graph
from policyd.core.schema.restriction_json import (
    binary_json,
    numeric_json,
    path_json,
    present,
    quantity_json,
    text_json,
    url_json,
)
from policyd.core.schema.types import (
    NO_METADATA,
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
    TextRule,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
    kind_of,
)

Json: TypeAlias = dict[str, object]


def graph_json(graph: Graph) -> Json:
    """The JSON form of a graph; without definitions there is no `defs`."""
    defs = [definition_json(item) for item in graph.definitions.items]
    return {**({"defs": defs} if defs else {}), "root": type_json(graph.root)}


def definition_json(item: Definition) -> Json:
    """The JSON form of a definition."""
    return present(id=item.id, name=item.name, body=type_json(item.body))


def type_json(schema: SchemaType) -> Json:
    """The JSON form of a type; metadata and restrictions that say nothing are left out.

    >>> type_json(RefType("Order"))
    {'kind': 'ref', 'value': {'id': 'Order'}}
    """
    return {"kind": kind_of(schema), "value": {**_content(schema), **_metadata_of(schema.metadata)}}


def _metadata_of(metadata: Metadata) -> Json:
    found = metadata_json(metadata)
    return {"metadata": found} if found else {}


def metadata_json(metadata: Metadata) -> Json:
    """The JSON form of metadata, each member left out when it is empty."""
    if metadata is NO_METADATA:
        return {}
    role = metadata.role
    return present(
        doc=metadata.doc,
        aliases=metadata.aliases or None,
        examples=metadata.examples or None,
        deprecated=metadata.deprecated,
        role=None if role is None else present(tag=role.tag, value=role.value),
    )


def _maybe(schema: SchemaType | None) -> Json | None:
    return None if schema is None else type_json(schema)


def _content(schema: SchemaType) -> Json:
    match schema:
        case PlainType():
            return {}
        case RefType(id):
            return {"id": id}
        case NumberType(_, restriction):
            return {} if restriction is None else {"restrictions": numeric_json(restriction)}
        case TextType(restriction):
            return {"restrictions": text_json(restriction)}
        case BinaryType(restriction):
            return {"restrictions": binary_json(restriction)}
        case UrlType(restriction):
            return {"restrictions": url_json(restriction)}
        case PathType(spec):
            return {"spec": path_json(spec)}
        case QuantityType(spec):
            return {"spec": quantity_json(spec)}
        case EnumType(cases):
            return {"cases": list(cases)}
        case FlagsType(flags):
            return {"flags": list(flags)}
        case QuotaTokenType(resource_name):
            return {"spec": present(resourceName=resource_name)}
        case PermissionCardType(polymorphic):
            return {"spec": {"polymorphic": polymorphic}}
        case _:
            return _nested(schema)


def _nested(schema: SchemaType) -> Json:
    match schema:
        case RecordType(fields):
            return {"fields": [_field(field) for field in fields]}
        case VariantType(cases):
            return {"cases": [_case(case) for case in cases]}
        case TupleType(parts):
            return {"elements": [type_json(part) for part in parts]}
        case ListType(element):
            return {"element": type_json(element)}
        case FixedListType(element, length):
            return {"element": type_json(element), "length": length}
        case MapType(key, value):
            return {"key": type_json(key), "value": type_json(value)}
        case OptionType(inner):
            return {"inner": type_json(inner)}
        case ResultType(ok, err):
            return {"spec": present(ok=_maybe(ok), err=_maybe(err))}
        case UnionType(branches):
            return {"spec": {"branches": [_branch(branch) for branch in branches]}}
        case SecretType(inner, category):
            return {"spec": present(inner=type_json(inner), category=category)}
        case FutureType(item) | StreamType(item):
            return {"inner": _maybe(item)}
        case (
            PlainType() | RefType() | NumberType() | TextType() | BinaryType() | UrlType() | PathType() | QuantityType()
        ):
            return {}
        case EnumType() | FlagsType() | QuotaTokenType() | PermissionCardType():
            return {}
        case _:
            assert_never(schema)


def _field(field: Field) -> Json:
    return {"name": field.name, "body": type_json(field.body), **_metadata_of(field.metadata)}


def _case(case: Case) -> Json:
    return {**present(name=case.name, payload=_maybe(case.payload)), **_metadata_of(case.metadata)}


def _branch(branch: Branch) -> Json:
    rule = discriminator_json(branch.discriminator)
    return {"tag": branch.tag, "body": type_json(branch.body), "discriminator": rule, **_metadata_of(branch.metadata)}


def discriminator_json(rule: Discriminator) -> Json:
    """The JSON form of a discriminator rule."""
    match rule:
        case StringRule(kind, text):
            name = "substring" if kind is TextRule.CONTAINS else kind.value
            return {"rule": kind.value, "value": {name: text}}
        case FieldEquals(field_name, literal):
            return {"rule": "field-equals", "value": present(fieldName=field_name, literal=literal)}
        case FieldAbsent(field_name):
            return {"rule": "field-absent", "value": {"fieldName": field_name}}
        case _:
            assert_never(rule)
