"""Random schemas, schemas near them, and random values: all types, recursion, restrictions, from a seed."""

from __future__ import annotations

from random import Random

from policyd.core.schema.examples import EPOCH, NO_ID, Examples, urls_of
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.numbers import Family, NumberKind, bits_of_float
from policyd.core.schema.restrictions import (
    Amount,
    BinaryRestriction,
    Bound,
    NumericRestriction,
    PathDirection,
    PathKind,
    PathSpec,
    QuantitySpec,
    TextRestriction,
    UrlRestriction,
)
from policyd.core.schema.text_wish import NoText, Texts, TextWish
from policyd.core.schema.types import (
    BinaryType,
    Branch,
    Case,
    EnumType,
    Field,
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
    TextRule,
    TextType,
    TupleType,
    UnionType,
    UrlType,
    VariantType,
)
from policyd.core.schema.values import (
    BinaryValue,
    DatetimeValue,
    DurationValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
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
    VariantValue,
)

from policyd.core.schema.values import BoolValue, CharValue, PathValue  # isort: skip

NAMES = ("a", "b", "c", "d")
REGEXES = ("^a+$", "^a*$", "^[a-c]{2}$", "b", "^(foo|bar)$")


def maybe(rng: Random, value, share=0.5):
    """The value, or None."""
    return value if rng.random() < share else None


def bounds(rng: Random, top: int) -> tuple[int | None, int | None]:
    """Two bounds, each perhaps absent, in order."""
    low, high = maybe(rng, rng.randint(0, top)), maybe(rng, rng.randint(0, top))
    return (high, low) if low is not None and high is not None and low > high else (low, high)


def number(rng: Random) -> SchemaType:
    kind = rng.choice(list(NumberKind))
    low, high = bounds(rng, 9)
    if kind.family is Family.FLOAT:
        made = [None if b is None else Bound(Family.FLOAT, bits_of_float(float(b))) for b in (low, high)]
    else:
        made = [None if b is None else Bound(kind.family, b) for b in (low, high)]
    unit = maybe(rng, "ms", 0.1)
    restriction = NumericRestriction(made[0], made[1], unit)
    return NumberType(kind, None if restriction == NumericRestriction() else restriction)


def names_of(rng: Random, pool: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(rng.sample(pool, rng.randint(0, len(pool))))


def leaf(rng: Random) -> SchemaType:
    low, high = bounds(rng, 4)
    match rng.randrange(14):
        case 0 | 1 | 2:
            return number(rng)
        case 3:
            return PlainType(rng.choice(list(PlainKind)))
        case 4:
            return EnumType(tuple(rng.sample(NAMES, rng.randint(1, 3))))
        case 5:
            return FlagsType(tuple(rng.sample(NAMES, rng.randint(1, 3))))
        case 6:
            regex = maybe(rng, rng.choice(REGEXES), 0.3)
            return TextType(
                TextRestriction(
                    maybe(rng, names_of(rng, ("en", "de")), 0.3), *((None, None) if regex else (low, high)), regex
                )
            )
        case 7:
            return BinaryType(BinaryRestriction(maybe(rng, names_of(rng, ("image/png", "text/plain")), 0.3), low, high))
        case 8:
            spec = PathSpec(
                rng.choice(list(PathDirection)),
                rng.choice(list(PathKind)),
                None,
                maybe(rng, names_of(rng, ("txt", "md")), 0.3),
            )
            return PathType(spec)
        case 9:
            return UrlType(
                UrlRestriction(
                    maybe(rng, names_of(rng, ("https", "http", "HTTPS")), 0.4), maybe(rng, ("example.com",), 0.2)
                )
            )
        case 10:
            amounts = [None if b is None else Amount(b, rng.randint(0, 1), "kg") for b in (low, None)]
            return QuantityType(QuantitySpec("kg", names_of(rng, ("kg", "g")), *amounts))
        case 11:
            return SecretType(category=maybe(rng, "api", 0.4))
        case 12:
            return rng.choice([QuotaTokenType(maybe(rng, "calls")), PermissionCardType(rng.random() < 0.5)])
        case _:
            return rng.choice([StreamType(number(rng)), StreamType(), FutureType(number(rng))])


def schema(rng: Random, depth: int, ids: tuple[str, ...] = ()) -> SchemaType:
    """A type; references only below lists, so that every named type has values."""
    if depth <= 0 or rng.random() < 0.3:
        return leaf(rng)

    def inner() -> SchemaType:
        return schema(rng, depth - 1, ids)

    names = rng.sample(NAMES, rng.randint(1, 3))
    match rng.randrange(11):
        case 0 | 1 | 2:
            return RecordType(tuple(Field(n, inner()) for n in names))
        case 3:
            return VariantType(tuple(Case(n, maybe(rng, inner(), 0.6)) for n in names))
        case 4:
            return TupleType(tuple(inner() for _ in range(rng.randint(0, 3))))
        case 5:
            return ListType(RefType(rng.choice(ids)) if ids and rng.random() < 0.4 else inner())
        case 6:
            return FixedListType(inner(), rng.randint(1, 3))
        case 7:
            key = rng.choice([PlainType(PlainKind.STRING), NumberType(NumberKind.U8), NumberType(NumberKind.S64)])
            return MapType(key, inner())
        case 8:
            part = inner()
            return part if isinstance(part, (OptionType, UnionType, RefType)) else OptionType(part)
        case 9:
            return ResultType(maybe(rng, inner(), 0.7), maybe(rng, inner(), 0.7))
        case _:
            if rng.random() < 0.4:
                rules = [StringRule(TextRule.PREFIX, n) for n in names]
                return UnionType(
                    tuple(Branch(n, PlainType(PlainKind.STRING), r) for n, r in zip(names, rules, strict=True))
                )
            bodies = [RecordType((Field("kind", PlainType(PlainKind.STRING)), Field("v", inner()))) for _ in names]
            return UnionType(tuple(Branch(n, b, FieldEquals("kind", n)) for n, b in zip(names, bodies, strict=True)))


def graph(rng: Random) -> Graph:
    """A schema of its own, sometimes recursive."""
    if rng.random() < 0.75:
        return Graph(schema(rng, 3))
    ids = ("T", "U") if rng.random() < 0.5 else ("T",)
    items = tuple(Definition(id, RecordType((Field("v", leaf(rng)), Field("next", schema(rng, 2, ids))))) for id in ids)
    return Graph(rng.choice([RefType(ids[0]), RecordType((Field("x", RefType(ids[-1])),))]), Definitions(items))


def varied(rng: Random, found: SchemaType) -> SchemaType:
    """The type with something widened, narrowed, turned or replaced here and there."""
    if rng.random() < 0.06:
        return leaf(rng)

    def inner(part: SchemaType) -> SchemaType:
        return varied(rng, part)

    match found:
        case RecordType(fields):
            kept = [Field(f.name, inner(f.body)) for f in fields]
            if rng.random() < 0.2:
                rng.shuffle(kept)
            if rng.random() < 0.1:
                kept.append(Field("extra", leaf(rng)))
            if len(kept) > 1 and rng.random() < 0.15:
                kept.pop()
            return RecordType(tuple(kept))
        case VariantType(cases):
            changed = [Case(c.name, None if c.payload is None else inner(c.payload)) for c in cases]
            if rng.random() < 0.2:
                changed.append(Case("z"))
            if len(changed) > 1 and rng.random() < 0.15:
                changed.pop(0)
            return VariantType(tuple(changed))
        case EnumType(names) | FlagsType(names):
            more = list(names)
            if rng.random() < 0.3:
                more.append("z")
            if len(more) > 1 and rng.random() < 0.2:
                more.pop(0)
            return type(found)(tuple(more))
        case TupleType(parts):
            return TupleType(tuple(inner(part) for part in parts))
        case ListType(part):
            return ListType(inner(part))
        case FixedListType(part, length):
            return FixedListType(inner(part), length)
        case OptionType(part):
            changed_part = inner(part)
            return changed_part if isinstance(changed_part, OptionType) else OptionType(changed_part)
        case MapType(key, part):
            return MapType(key if rng.random() < 0.9 else number_key(rng), inner(part))
        case ResultType(ok, err):
            return ResultType(None if ok is None else inner(ok), None if err is None else inner(err))
        case UnionType(branches):
            changed_branches = [Branch(b.tag, kept_kind(rng, b), b.discriminator) for b in branches]
            if len(changed_branches) > 1 and rng.random() < 0.15:
                changed_branches.pop()
            return UnionType(tuple(changed_branches))
        case NumberType(kind):
            fresh = number(rng)
            assert isinstance(fresh, NumberType)
            narrowed = NumberType(kind, fresh.restriction if fresh.kind is kind else None)
            return rng.choice([found, NumberType(kind), narrowed])
        case TextType() | BinaryType() | UrlType():
            return rng.choice([found, found, type(found)()])
        case _:
            return found


def number_key(rng: Random) -> SchemaType:
    return rng.choice([NumberType(NumberKind.U8), PlainType(PlainKind.STRING)])


def kept_kind(rng: Random, branch: Branch) -> SchemaType:
    """The body of a branch changed so that its rule still suits it."""
    if isinstance(branch.body, RecordType):
        first, *rest = branch.body.fields
        return RecordType((first, *(Field(f.name, varied(rng, f.body)) for f in rest)))
    return branch.body


def pair(rng: Random) -> tuple[Graph, Graph]:
    """A schema and one near it, or another one altogether."""
    source = graph(rng)
    if rng.random() < 0.1:
        return source, graph(rng)
    items = tuple(Definition(d.id, varied_record(rng, d.body)) for d in source.definitions.items)
    return source, Graph(
        source.root if isinstance(source.root, RefType) else varied(rng, source.root), Definitions(items)
    )


def varied_record(rng: Random, body: SchemaType) -> SchemaType:
    assert isinstance(body, RecordType)
    return RecordType(tuple(Field(f.name, varied(rng, f.body)) for f in body.fields))


def value(rng: Random, found: SchemaType, definitions: Definitions, texts: Texts, depth: int = 0) -> SchemaValue | None:
    """A random value; it mostly keeps the restrictions. None where none was made."""
    resolved = definitions.resolve(found).type
    assert resolved is not None

    def inner(part: SchemaType) -> SchemaValue | None:
        return value(rng, part, definitions, texts, depth + 1)

    def many(parts: list[SchemaType]) -> list[SchemaValue] | None:
        made = [inner(part) for part in parts]
        return None if any(part is None for part in made) else made  # type: ignore[return-value]

    size = 0 if depth > 6 else rng.randint(0, 2)
    match resolved:
        case RecordType(fields):
            parts = many([f.body for f in fields])
            return None if parts is None else RecordValue(tuple(parts))
        case TupleType(types):
            parts = many(list(types))
            return None if parts is None else TupleValue(tuple(parts))
        case ListType(part):
            return ListValue(tuple(many([part] * size) or ()))
        case FixedListType(part, length):
            parts = many([part] * length)
            return None if parts is None else FixedListValue(tuple(parts))
        case MapType(key, part):
            keys, parts = many([key] * size), many([part] * size)
            return MapValue(tuple(zip(keys or (), parts or (), strict=False)))
        case OptionType(part):
            return OptionValue(inner(part) if rng.random() < 0.6 else None)
        case VariantType(cases):
            index = rng.randrange(len(cases))
            payload = cases[index].payload
            some = None if payload is None else inner(payload)
            return None if payload is not None and some is None else VariantValue(index, some)
        case ResultType(ok, err):
            is_ok = rng.random() < 0.5
            slot = ok if is_ok else err
            some = None if slot is None else inner(slot)
            return None if slot is not None and some is None else ResultValue(is_ok, some)
        case UnionType(branches):
            branch = rng.choice(branches)
            body = Examples(definitions, texts).body_of(branch)
            if isinstance(branch.body, RecordType) and isinstance(body, RecordValue):
                rest = many([f.body for f in branch.body.fields[1:]])
                return None if rest is None else UnionValue(branch.tag, RecordValue((body.fields[0], *rest)))
            return None if body is None else UnionValue(branch.tag, body)
        case _:
            return leaf_value(rng, resolved, texts)


def leaf_value(rng: Random, found: SchemaType, texts: Texts) -> SchemaValue | None:
    match found:
        case NumberType(kind, restriction):
            low = 0 if restriction is None or restriction.low is None else restriction.low.number
            high = 9 if restriction is None or restriction.high is None else restriction.high.number
            if restriction is None and not kind.is_float:
                return NumberValue(kind, rng.choice([kind.low, kind.high, rng.randint(0, 99)]))
            picked = rng.randint(int(low), max(int(low), int(high)))
            return NumberValue(kind, float(picked) if kind.is_float else picked)
        case EnumType(names):
            return EnumValue(rng.randrange(len(names)))
        case FlagsType(names):
            return FlagsValue(tuple(rng.random() < 0.5 for _ in names))
        case TextType(restriction):
            matches = () if restriction.regex is None else (restriction.regex,)
            low = restriction.min_length or 0
            high = restriction.max_length
            wish = TextWish(low + (rng.randint(0, 2) if high is None and not matches else 0), high, matches)
            text = texts.find(wish)
            spoken = maybe(rng, rng.choice(restriction.languages), 0.5) if restriction.languages else None
            return None if isinstance(text, NoText) else TextValue(text, spoken)
        case BinaryType(restriction):
            mime = maybe(rng, rng.choice(restriction.mime_types), 0.5) if restriction.mime_types else None
            return BinaryValue(bytes(restriction.min_bytes or 0), mime)
        case PathType(spec):
            extension = rng.choice(spec.extensions) if spec.extensions else ""
            return PathValue(f"a.{extension}" if extension and rng.random() < 0.5 else "a")
        case UrlType(restriction):
            made = list(urls_of(restriction, texts))
            return rng.choice(made) if made else None
        case QuantityType(spec):
            unit = rng.choice(spec.suffixes) if spec.suffixes else spec.base_unit
            low_bound = spec.low
            return (
                QuantityValue(0, 0, unit)
                if low_bound is None
                else QuantityValue(low_bound.mantissa, low_bound.scale, unit)
            )
        case SecretType(_, category):
            return SecretValue(NO_ID, rng.randint(0, 3), EPOCH, category=category)
        case QuotaTokenType(resource):
            return QuotaTokenValue(NO_ID, resource or "x", 1, 1, EPOCH)
        case PermissionCardType(polymorphic):
            return PermissionCardValue(NO_ID, polymorphic)
        case StreamType():
            return StreamValue(rng.randint(0, 9))
        case PlainType(kind):
            made_plain: dict[PlainKind, SchemaValue] = {
                PlainKind.BOOL: BoolValue(rng.random() < 0.5),
                PlainKind.STRING: StringValue(rng.choice(["", "a", "é"])),
                PlainKind.CHAR: CharValue(rng.choice("aé")),
                PlainKind.DATETIME: DatetimeValue(EPOCH),
                PlainKind.DURATION: DurationValue(rng.randint(-9, 9)),
            }
            return made_plain[kind]
        case _:
            return None
