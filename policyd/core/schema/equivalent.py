"""Equivalence: the same type, names of definitions and metadata apart.

Source: middleware 3.4.
"""

from __future__ import annotations

from collections.abc import Iterable

from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.pairs import Pair, Proven, all_hold
from policyd.core.schema.steps import spend
from policyd.core.schema.types import (
    BinaryType,
    EnumType,
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
    width_of,
)


def are_equivalent(left: Graph, right: Graph, proven: Proven | None = None) -> bool:
    """Whether the two roots are the same type: order, names and restrictions as written, references by meaning.

    Args:
        left: a schema.
        right: another one.
        proven: what was found equivalent before between the same definitions, whose types must still exist.
    """

    def demands(a: SchemaType, b: SchemaType) -> Iterable[Pair] | None:
        return _demands(meaning(a, left.definitions), meaning(b, right.definitions))

    return all_hold((left.root, right.root), demands, proven)


class SameTypes:
    """Equivalence among the types of one set of definitions, for many questions: what is known follows from each other.

    Types that were found equivalent are joined, so that three of a kind cost two comparisons, not three.
    """

    def __init__(self, definitions: Definitions) -> None:
        self.definitions = definitions
        self._leader: dict[int, int] = {}
        # keeps the types, so that no id is used again
        self._kept: dict[int, SchemaType] = {}

    def holds(self, left: SchemaType, right: SchemaType, rights: Definitions | None = None) -> bool:
        """Whether two types are equivalent.

        Args:
            left: a type of the definitions.
            right: another one.
            rights: what references of `right` mean, where it is of other definitions.
        """
        others = self.definitions if rights is None else rights
        joined: list[int] = []
        pending = [(left, right)]
        while pending:
            spend()
            first, second = pending.pop()
            a, b = meaning(first, self.definitions), meaning(second, others)
            one, other = self._find(a), self._find(b)
            if one == other:
                continue
            further = _demands(a, b)
            if further is None:
                # what was joined on the way rested on this pair
                for id in joined:
                    del self._leader[id]
                return False
            self._leader[one] = other
            joined.append(one)
            pending.extend(further)
        return True

    def _find(self, schema: SchemaType) -> int:
        found = id(schema)
        self._kept.setdefault(found, schema)
        while found in self._leader:
            found = self._leader[found]
        return found


def meaning(schema: SchemaType, definitions: Definitions) -> SchemaType:
    """What a reference leads to; one that leads nowhere stands for its last id."""
    resolved = definitions.resolve(schema)
    return RefType(resolved.last_id or "") if resolved.type is None else resolved.type


def slots(left: SchemaType | None, right: SchemaType | None) -> list[Pair] | None:
    """The pair of two optional types: none when both are absent, None when only one is there."""
    if left is None or right is None:
        return [] if left is right else None
    return [(left, right)]


def _demands(left: SchemaType, right: SchemaType) -> Iterable[Pair] | None:
    spend(width_of(left) + width_of(right))
    match left, right:
        case RecordType(a), RecordType(b):
            same = [f.name for f in a] == [f.name for f in b]
            return [(f.body, g.body) for f, g in zip(a, b, strict=True)] if same else None
        case VariantType(a), VariantType(b):
            if [c.name for c in a] != [c.name for c in b]:
                return None
            return together([slots(c.payload, d.payload) for c, d in zip(a, b, strict=True)])
        case UnionType(a), UnionType(b):
            return union_demands(left, right)
        case TupleType(a), TupleType(b):
            return list(zip(a, b, strict=True)) if len(a) == len(b) else None
        case (ListType(a), ListType(b)) | (OptionType(a), OptionType(b)):
            return [(a, b)]
        case FixedListType(a, n), FixedListType(b, m):
            return [(a, b)] if n == m else None
        case MapType(k, v), MapType(other_key, w):
            return [(k, other_key), (v, w)]
        case ResultType(ok, err), ResultType(other_ok, other_err):
            return together([slots(ok, other_ok), slots(err, other_err)])
        case SecretType(a, c), SecretType(b, d):
            return [(a, b)] if c == d else None
        case (FutureType(a), FutureType(b)) | (StreamType(a), StreamType(b)):
            return slots(a, b)
        case _:
            return [] if same_leaf(left, right) else None


def together(parts: Iterable[list[Pair] | None]) -> list[Pair] | None:
    """All the pairs, or None when some part does not hold."""
    pairs: list[Pair] = []
    for part in parts:
        if part is None:
            return None
        pairs.extend(part)
    return pairs


def union_demands(left: UnionType, right: UnionType) -> list[Pair] | None:
    """Branches as a set by tag: equally many, the same tags, equal rules; the bodies remain to be compared."""
    if len(left.branches) != len(right.branches):
        return None
    by_tag = {branch.tag: branch for branch in reversed(right.branches)}
    pairs: list[Pair] = []
    for branch in left.branches:
        other = by_tag.get(branch.tag)
        if other is None or other.discriminator != branch.discriminator:
            return None
        pairs.append((branch.body, other.body))
    return pairs


def same_leaf(left: SchemaType, right: SchemaType) -> bool:
    """Whether two types without parts are the same, metadata apart."""
    match left, right:
        case NumberType(k, r), NumberType(other, s):
            return k is other and r == s
        case PlainType(k), PlainType(other):
            return k is other
        case (EnumType(a), EnumType(b)) | (FlagsType(a), FlagsType(b)):
            return a == b
        case TextType(a), TextType(b):
            return a == b
        case BinaryType(a), BinaryType(b):
            return a == b
        case UrlType(a), UrlType(b):
            return a == b
        case PathType(a), PathType(b):
            return a == b
        case QuantityType(a), QuantityType(b):
            return a == b
        case QuotaTokenType(a), QuotaTokenType(b):
            return a == b
        case PermissionCardType(a), PermissionCardType(b):
            return a == b
        case RefType(a), RefType(b):
            return a == b
        case _:
            return False
