"""The host's projection of types to JSON Schema.

Not an oracle of compatibility: unrelated types may have equal projections.

Source: middleware 5.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import assert_never

from policyd.core.schema.branch_names import branch_names, key_of
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_schema_leaves import (
    binary_schema,
    capability_schema,
    narrowed_schema,
    number_schema,
    path_schema,
    plain_schema,
    quantity_schema,
    text_schema,
    url_schema,
)
from policyd.core.schema.json_schema_parts import JsonSchema, closed_object, constant, described, reference, rule_schema
from policyd.core.schema.types import (
    BinaryType,
    Branch,
    Case,
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
)

DRAFT = "https://json-schema.org/draft/2020-12/schema"


class Policy(Enum):
    """For whom the document is: they differ in the draft marker, in bounds, and in what has no JSON from outside."""

    CANONICAL = "canonical"
    EMBEDDED = "embedded"
    EXTERNAL_INPUT = "external_input"
    EXTERNAL_OUTPUT = "external_output"
    REFLECTION = "reflection"


def json_schema(graph: Graph, policy: Policy) -> JsonSchema:
    """The JSON Schema document of the graph's root, with all definitions and all union branches under `$defs`."""
    writer = _Writer(graph.definitions, policy, branch_names(graph))
    document = writer.schema(graph.root)
    defs: JsonSchema = {}
    for item in graph.definitions.items:
        body = writer.schema(item.body)
        if item.name is not None:
            body.setdefault("title", item.name)
        defs.setdefault(item.id, body)
    for name, branch in writer.names.values():
        defs[name] = writer.branch(branch)
    if defs:
        document["$defs"] = defs
    if policy is Policy.CANONICAL:
        document["$schema"] = DRAFT
    return document


@dataclass(frozen=True, slots=True)
class _Writer:
    """One document; as deep as the types are nested, which is bounded when they are read."""

    definitions: Definitions
    policy: Policy
    names: dict[tuple[str, object], tuple[str, Branch]] = field(default_factory=dict)

    def schema(self, type_: SchemaType) -> JsonSchema:
        """The schema of a type with its metadata."""
        return described(self.bare(type_), type_.metadata)

    def bare(self, type_: SchemaType) -> JsonSchema:
        """The schema of a type without its metadata."""
        match type_:
            case RecordType():
                return self.record(type_)
            case VariantType(cases):
                return {"oneOf": [self.case(case) for case in cases]}
            case UnionType():
                return self.union(type_)
            case ResultType(ok, err):
                return {"oneOf": [closed_object({"ok": self.slot(ok)}), closed_object({"err": self.slot(err)})]}
            case TupleType(elements):
                return self.tuple(elements)
            case ListType(element):
                return {"type": "array", "items": self.schema(element)}
            case FixedListType(element, length):
                return {"type": "array", "items": self.schema(element), "minItems": length, "maxItems": length}
            case MapType(key, value):
                pair = {**self.tuple((key, value)), "maxItems": 2}
                return {"type": "array", "items": pair}
            case OptionType(inner):
                return {"oneOf": [{"type": "null"}, self.schema(inner)]}
            case RefType(id):
                return reference(id)
            case _:
                return self.leaf(type_)

    def leaf(self, type_: SchemaType) -> JsonSchema:
        """The schema of a type without parts."""
        match type_:
            case PlainType(plain):
                return plain_schema(plain)
            case NumberType(number, restriction):
                is_exact = self.policy is Policy.REFLECTION and restriction is not None
                return narrowed_schema(number, restriction) if is_exact and restriction else number_schema(number)
            case EnumType(cases):
                return {"type": "string", "enum": list(cases)}
            case FlagsType(flags):
                return {"type": "array", "items": {"type": "string", "enum": list(flags)}, "uniqueItems": True}
            case TextType(text):
                return text_schema(text)
            case BinaryType(binary):
                return binary_schema(binary)
            case PathType(path):
                return path_schema(path)
            case UrlType(url):
                return url_schema(url)
            case QuantityType(quantity):
                return quantity_schema(quantity)
            case SecretType() | QuotaTokenType() | PermissionCardType() | FutureType() | StreamType() if (
                self.policy is Policy.REFLECTION
            ):
                return {"not": {}}
            case SecretType() | QuotaTokenType() | PermissionCardType():
                external = self.policy in (Policy.EXTERNAL_INPUT, Policy.EXTERNAL_OUTPUT)
                incoming = self.policy is Policy.EXTERNAL_INPUT
                return capability_schema(type_, external=external, incoming=incoming)
            case FutureType() | StreamType():
                return {"type": "null", "description": "WASI P3 placeholder"}
            case RecordType() | VariantType() | UnionType() | ResultType() | TupleType() | ListType() | RefType():
                return {}
            case FixedListType() | MapType() | OptionType():
                return {}
            case _:
                assert_never(type_)

    def record(self, type_: RecordType) -> JsonSchema:
        """A closed object; what resolves to an option may be missing."""
        properties = {f.name: described(self.schema(f.body), f.metadata) for f in type_.fields}
        needed = [f.name for f in type_.fields if not self.is_option(f.body)]
        return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}

    def is_option(self, type_: SchemaType) -> bool:
        """Whether a member of this type may be left out."""
        return isinstance(self.definitions.resolve(type_).type, OptionType)

    def case(self, case: Case) -> JsonSchema:
        """The name alone, or a closed object of one member."""
        if case.payload is None:
            return constant(case.name)
        return closed_object({case.name: self.schema(case.payload)})

    def slot(self, type_: SchemaType | None) -> JsonSchema:
        """The value of a result's side."""
        return {"type": "null"} if type_ is None else self.schema(type_)

    def tuple(self, elements: tuple[SchemaType, ...]) -> JsonSchema:
        """An array of exactly these members."""
        if not elements:
            return {"type": "array", "minItems": 0, "maxItems": 0}
        members = [self.schema(element) for element in elements]
        return {"type": "array", "prefixItems": members, "items": False, "minItems": len(elements)}

    def union(self, type_: UnionType) -> JsonSchema:
        """References to the branches; a discriminator when one field tells them all apart."""
        references = [reference(self.names[key_of(branch)][0]) for branch in type_.branches]
        rules = [branch.discriminator for branch in type_.branches]
        schema: JsonSchema = {"oneOf": list(references)}
        literals = [r for r in rules if isinstance(r, FieldEquals) and r.literal is not None]
        if rules and len(literals) == len(rules) and len({rule.field_name for rule in literals}) == 1:
            mapping = {rule.literal: ref["$ref"] for rule, ref in zip(literals, references, strict=True)}
            schema["discriminator"] = {"propertyName": literals[0].field_name, "mapping": mapping}
        return schema

    def branch(self, branch: Branch) -> JsonSchema:
        """The body of a branch and its rule."""
        return {"allOf": [described(self.schema(branch.body), branch.metadata), rule_schema(branch.discriminator)]}
