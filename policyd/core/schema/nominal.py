"""What becomes of values that are passed on unchanged, as nominal mode does: they pass, fail, or are misread.

Types are compared by shape alone, position by position, names ignored; where names, order or parts that validation
does not look at differ, values that pass are misread.

Source: middleware 3.7, 7.1 (nominal column).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.graph import Graph
from policyd.core.schema.leaf_reading import (
    ALL,
    NONE,
    SOME,
    Passes,
    Reading,
    category_reading,
    leaf_reading,
    one_of,
    together,
)
from policyd.core.schema.pairs import Proven
from policyd.core.schema.project import MAX_PLAN_DEPTH
from policyd.core.schema.steps import spend
from policyd.core.schema.text_wish import Texts
from policyd.core.schema.types import (
    Branch,
    Case,
    Discriminator,
    FieldAbsent,
    FieldEquals,
    FixedListType,
    FutureType,
    ListType,
    MapType,
    OptionType,
    RecordType,
    ResultType,
    SchemaType,
    SecretType,
    StreamType,
    StringRule,
    TextRule,
    TupleType,
    UnionType,
    VariantType,
    width_of,
)

MAX_COMPARED = 20_000
"""Pairs of one comparison; beyond them values count as failing here and there, never as safe."""


class Fate(Enum):
    """What nominal mode does with the values of a pair; the value is the word of the table."""

    OK = "ok"
    PARTIAL = "partial"
    HAZARD = "hazard"
    FAILS = "fails"
    NO_VALUES = "no values exist"


def fate(source: Graph, target: Graph, texts: Texts, proven: Proven | None = None) -> Fate:
    """What becomes of values of the source's root that are passed on as values of the target's.

    Args:
        source: well-formed.
        target: well-formed.
        texts: engines, and a finder for questions about two patterns.
        proven: as in `are_equivalent`.
    """
    if isinstance(source.definitions.resolve(source.root).type, FutureType):
        return Fate.NO_VALUES
    if are_equivalent(source, target, proven):
        return Fate.OK
    found = _Comparison(source, target, texts).read(source.root, target.root, 0)
    if found.passes is Passes.NONE:
        return Fate.FAILS
    if found.is_misread:
        return Fate.HAZARD
    return Fate.PARTIAL if found.passes is Passes.SOME else Fate.OK


@dataclass(slots=True)
class _Comparison:
    source: Graph
    target: Graph
    texts: Texts
    under_way: set[tuple[str, str]] = field(default_factory=set)
    known: dict[tuple[str, str], Reading] = field(default_factory=dict)
    nodes: int = 0

    def read(self, source: SchemaType, target: SchemaType, depth: int) -> Reading:
        """A pair; one that is under way is taken to be all right."""
        a, b = self.source.definitions.resolve(source), self.target.definitions.resolve(target)
        self.nodes += 1
        if a.type is None or b.type is None:
            return NONE
        if self.nodes > MAX_COMPARED or depth > MAX_PLAN_DEPTH:
            return SOME
        spend(1 + width_of(a.type) + width_of(b.type))
        if a.last_id is None or b.last_id is None:
            return self.step(a.type, b.type, depth + 1)
        key = (a.last_id, b.last_id)
        if key in self.under_way:
            return ALL
        if key not in self.known:
            self.under_way.add(key)
            self.known[key] = self.step(a.type, b.type, depth + 1)
            self.under_way.discard(key)
        return self.known[key]

    def step(self, source: SchemaType, target: SchemaType, depth: int) -> Reading:
        """Two resolved types."""
        match source, target:
            case RecordType(a), RecordType(b):
                if len(a) != len(b):
                    return NONE
                parts = together(self.read(x.body, y.body, depth) for x, y in zip(a, b, strict=True))
                moved = any(x.name != y.name for x, y in zip(a, b, strict=True))
                return Reading(parts.passes, parts.passes is not Passes.NONE and (parts.is_misread or moved))
            case TupleType(a), TupleType(b):
                if len(a) != len(b):
                    return NONE
                return together(self.read(x, y, depth) for x, y in zip(a, b, strict=True))
            case FixedListType(a, n), FixedListType(b, m):
                return self.read(a, b, depth) if n == m else NONE
            case (ListType(a), ListType(b)) | (OptionType(a), OptionType(b)):
                return self.read(a, b, depth).within()
            case MapType(k, v), MapType(other_key, w):
                return together((self.read(k, other_key, depth), self.read(v, w, depth))).within()
            case ResultType(), ResultType():
                slots = ((source.ok, target.ok), (source.err, target.err))
                return one_of(self.slot(own, other, depth) for own, other in slots)
            case VariantType(a), VariantType(b):
                return one_of(self.case(case, b[i] if i < len(b) else None, depth) for i, case in enumerate(a))
            case UnionType(a), UnionType(b):
                by_tag = {branch.tag: branch for branch in reversed(b)}
                return one_of(self.branch(branch, by_tag.get(branch.tag), depth) for branch in a)
            case SecretType(payload, category), SecretType(other_payload, other_category):
                found = category_reading(category, other_category)
                unlike = self.read(payload, other_payload, depth)
                misread = unlike.passes is Passes.NONE or unlike.is_misread
                return Reading(found.passes, found.passes is not Passes.NONE and misread)
            case StreamType(item), StreamType(other_item):
                if item is None or other_item is None:
                    return Reading(Passes.ALL, item is not other_item)
                return Reading(Passes.ALL, self.read(item, other_item, depth) != ALL)
            case FutureType(), _:
                return ALL if isinstance(target, FutureType) else NONE
            case _:
                return leaf_reading(source, target, self.texts)

    def slot(self, own: SchemaType | None, other: SchemaType | None, depth: int) -> Reading:
        """A payload: there on both sides, or on neither."""
        if own is None or other is None:
            return ALL if own is other else NONE
        return self.read(own, other, depth)

    def case(self, own: Case, other: Case | None, depth: int) -> Reading:
        """A case of a variant, which is told by its index."""
        if other is None:
            return NONE
        found = self.slot(own.payload, other.payload, depth)
        return Reading(found.passes, found.passes is not Passes.NONE and (found.is_misread or own.name != other.name))

    def branch(self, own: Branch, other: Branch | None, depth: int) -> Reading:
        """A branch of a union, which is told by its tag; the rule of the target must hold as well."""
        if other is None:
            return NONE
        return together((self.read(own.body, other.body, depth), _rules(own.discriminator, other.discriminator)))


def _rules(own: Discriminator, other: Discriminator) -> Reading:
    """Texts and records that satisfy the first rule: do they satisfy the second."""
    match own, other:
        case _ if own == other:
            return ALL
        case StringRule(TextRule.PREFIX, a), StringRule(TextRule.PREFIX, b):
            return ALL if a.startswith(b) else SOME if b.startswith(a) else NONE
        case StringRule(TextRule.SUFFIX, a), StringRule(TextRule.SUFFIX, b):
            return ALL if a.endswith(b) else SOME if b.endswith(a) else NONE
        case StringRule(kind, a), StringRule(TextRule.CONTAINS, b) if kind is not TextRule.REGEX and b in a:
            return ALL
        case StringRule(), StringRule():
            return SOME
        case FieldEquals(a, literal), FieldEquals(b, other_literal) if a == b:
            if other_literal is None:
                return ALL
            return SOME if literal is None else NONE
        case (FieldEquals(a), FieldAbsent(b)) | (FieldAbsent(a), FieldEquals(b)) if a == b:
            return NONE
        case _:
            return SOME
