"""Where two types part under a relation that only says yes or no.

Source: middleware 3.3, 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from policyd.core.schema.graph import Definitions
from policyd.core.schema.project import Mismatch, MismatchKind
from policyd.core.schema.types import (
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
    TupleType,
    UnionType,
    VariantType,
)

MAX_STEPS = 200
"""So many pairs are looked at on the way down to a difference."""


def differing_place(
    source: SchemaType,
    target: SchemaType,
    sources: Definitions,
    targets: Definitions,
    holds: Callable[[SchemaType, SchemaType], bool],
) -> Mismatch:
    """An innermost place at which a relation does not hold, following the first part that differs.

    A pair that was met before is not followed again: of a type that holds itself, the place is told where it is
    first met, not at the end of a long way round.

    Args:
        source: of a pair for which the relation does not hold.
        target: the other side.
        sources: what references of the source mean.
        targets: what those of the target mean.
        holds: the relation.
    """
    here = Mismatch("", MismatchKind.NOT_SUBSTITUTABLE, source, target)
    met: dict[tuple[int, int], tuple[SchemaType, SchemaType]] = {}
    pending = [(source, target, "")]
    while pending and len(met) < MAX_STEPS:
        one, other, path = pending.pop()
        a, b = sources.resolve(one).type, targets.resolve(other).type
        if a is None or b is None:
            return Mismatch(path, MismatchKind.NOT_SUBSTITUTABLE, one, other)
        if (id(a), id(b)) in met:
            continue
        # keeps the types, so that no id is used again
        met[id(a), id(b)] = a, b
        here = Mismatch(path, MismatchKind.NOT_SUBSTITUTABLE, a, b)
        parting = [(x, y, path + step) for x, y, step in _pairs(a, b) if not holds(x, y)]
        if not parting:
            return here
        pending.extend(reversed(parting))
    return here


def _pairs(source: SchemaType, target: SchemaType) -> Iterator[tuple[SchemaType, SchemaType, str]]:
    """The parts of two types that stand side by side, where they have the same parts."""
    match source, target:
        case RecordType(a), RecordType(b) if [f.name for f in a] == [f.name for f in b]:
            yield from ((f.body, g.body, f".{f.name}") for f, g in zip(a, b, strict=True))
        case TupleType(a), TupleType(b) if len(a) == len(b):
            yield from ((x, y, f"[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True)))
        case ListType(a), ListType(b):
            yield a, b, "[]"
        case FixedListType(a, n), FixedListType(b, m) if n == m:
            yield a, b, "[]"
        case OptionType(a), OptionType(b):
            yield a, b, ".some"
        case MapType(k, v), MapType(other_key, w):
            yield k, other_key, ".key"
            yield v, w, ".value"
        case ResultType(ok, err), ResultType(other_ok, other_err):
            for a, b, step in ((ok, other_ok, ".ok"), (err, other_err, ".err")):
                if a is not None and b is not None:
                    yield a, b, step
        case VariantType(a), VariantType(b) if [c.name for c in a] == [c.name for c in b]:
            for c, d in zip(a, b, strict=True):
                if c.payload is not None and d.payload is not None:
                    yield c.payload, d.payload, f".{c.name}"
        case UnionType(a), UnionType(b):
            bodies = {branch.tag: branch for branch in reversed(b)}
            for branch in a:
                other = bodies.get(branch.tag)
                if other is not None and other.discriminator == branch.discriminator:
                    yield branch.body, other.body, f".{branch.tag}"
        case (SecretType(a), SecretType(b)):
            if source.category == target.category:
                yield a, b, ".secret"
        case (FutureType(a), FutureType(b)) | (StreamType(a), StreamType(b)):
            if a is not None and b is not None:
                yield a, b, ".item"
        case _:
            return
