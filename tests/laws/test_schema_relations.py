"""Laws of the relations between types, with the preconditions of the specification."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from policyd.core.schema.assignable import is_assignable
from policyd.core.schema.engines import NO_ENGINES
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.graph import Definition, Definitions, Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_encode import Encoded, encode
from policyd.core.schema.numbers import Family, NumberKind
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.project import Plan, project
from policyd.core.schema.reshape import Reshaped, Stage, Unshaped, reshape
from policyd.core.schema.restrictions import BinaryRestriction, Bound, NumericRestriction, TextRestriction
from policyd.core.schema.type_read import read_graph
from policyd.core.schema.type_write import graph_json
from policyd.core.schema.types import (
    BinaryType,
    Branch,
    Case,
    EnumType,
    Field,
    FieldAbsent,
    FieldEquals,
    FixedListType,
    FlagsType,
    ListType,
    MapType,
    NumberType,
    OptionType,
    PlainKind,
    PlainType,
    RecordType,
    RefType,
    ResultType,
    SchemaType,
    TextType,
    TupleType,
    UnionType,
    VariantType,
    walk,
)
from policyd.core.schema.validate import validity
from policyd.core.schema.value_json import read_value, value_json
from policyd.core.schema.values import (
    BinaryValue,
    BoolValue,
    CharValue,
    DurationValue,
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    StringValue,
    TextValue,
    TupleValue,
    UnionValue,
    VariantValue,
)
from policyd.core.schema.wellformed import faults_of

NAMES = ("a", "b", "c")
KINDS = (NumberKind.U8, NumberKind.S32, NumberKind.F64)


def _sorted_pair(low: int | None, high: int | None) -> tuple[int | None, int | None]:
    return (low, high) if low is None or high is None or low <= high else (high, low)


def numbers() -> st.SearchStrategy[SchemaType]:
    def build(kind: NumberKind, low: int | None, high: int | None) -> SchemaType:
        low, high = _sorted_pair(low, high)
        if kind.family is Family.FLOAT or (low is None and high is None):
            return NumberType(kind)
        bounds = [None if b is None else Bound(kind.family, b) for b in (low, high)]
        return NumberType(kind, NumericRestriction(*bounds))

    bound = st.none() | st.integers(0, 9)
    return st.builds(build, st.sampled_from(KINDS), bound, bound)


def texts() -> st.SearchStrategy[SchemaType]:
    languages = st.none() | st.sampled_from([(), ("en",), ("en", "de")])
    bound = st.none() | st.integers(0, 3)

    def build(spoken: tuple[str, ...] | None, low: int | None, high: int | None) -> SchemaType:
        return TextType(TextRestriction(spoken, *_sorted_pair(low, high)))

    return st.builds(build, languages, bound, bound)


def binaries() -> st.SearchStrategy[SchemaType]:
    bound = st.none() | st.integers(0, 3)
    return st.builds(lambda low, high: BinaryType(BinaryRestriction(None, *_sorted_pair(low, high))), bound, bound)


LEAVES = (
    st.sampled_from([PlainType(k) for k in (PlainKind.BOOL, PlainKind.STRING, PlainKind.CHAR, PlainKind.DURATION)])
    | numbers()
    | texts()
    | binaries()
    | st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(lambda names: EnumType(tuple(names)))
    | st.lists(st.sampled_from(NAMES), min_size=1, unique=True).map(lambda names: FlagsType(tuple(names)))
)
_NAMED = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)
_KEYS = st.sampled_from([PlainType(PlainKind.STRING), NumberType(NumberKind.U8)])


def _composed(inner: st.SearchStrategy[SchemaType]) -> st.SearchStrategy[SchemaType]:
    def named(make):
        return _NAMED.flatmap(lambda names: st.tuples(*[inner] * len(names)).map(lambda parts: make(names, parts)))

    def union(names: list[str], parts: tuple[SchemaType, ...]) -> SchemaType:
        string = PlainType(PlainKind.STRING)
        bodies = [RecordType((Field("kind", string), Field("v", part))) for part in parts]
        return UnionType(tuple(Branch(n, b, FieldEquals("kind", n)) for n, b in zip(names, bodies, strict=True)))

    maybe = st.none() | inner
    return (
        named(lambda names, parts: RecordType(tuple(Field(n, p) for n, p in zip(names, parts, strict=True))))
        | named(lambda names, parts: VariantType(tuple(Case(n, p) for n, p in zip(names, parts, strict=True))))
        | named(union)
        | st.lists(inner, max_size=3).map(lambda parts: TupleType(tuple(parts)))
        | inner.map(ListType)
        | inner.map(lambda part: FixedListType(part, 2))
        | inner.filter(lambda part: not isinstance(part, OptionType)).map(OptionType)
        | st.builds(MapType, _KEYS, inner)
        | st.builds(ResultType, maybe, maybe)
    )


TYPES = st.recursive(LEAVES, _composed, max_leaves=6)


@st.composite
def graphs(draw) -> Graph:
    """A graph, sometimes recursive through a list, under names of its own."""
    root = draw(TYPES)
    if draw(st.booleans()):
        return Graph(root)
    id = draw(st.sampled_from(["Tree", "Node"]))
    body = RecordType((Field("value", root), Field("items", ListType(RefType(id)))))
    return Graph(RefType(id), Definitions((Definition(id, body),)))


@st.composite
def varied(draw, schema: SchemaType) -> SchemaType:
    """The type, with a part of it widened, narrowed or turned here and there."""
    match schema:
        case RecordType(fields):
            kept = [Field(f.name, draw(varied(f.body))) for f in fields]
            if draw(st.booleans()):
                kept = draw(st.permutations(kept))
            if draw(st.booleans()):
                kept = [*kept, Field("extra", draw(LEAVES))]
            return RecordType(tuple(kept))
        case EnumType(names):
            return EnumType(tuple(draw(st.permutations([*names, "z"] if draw(st.booleans()) else names))))
        case FlagsType(names):
            return FlagsType(tuple(draw(st.permutations([*names, "z"] if draw(st.booleans()) else names))))
        case VariantType(cases):
            changed = [Case(c.name, None if c.payload is None else draw(varied(c.payload))) for c in cases]
            return VariantType((*changed, Case("z")) if draw(st.booleans()) else tuple(changed))
        case TupleType(parts):
            return TupleType(tuple(draw(varied(part)) for part in parts))
        case ListType(part):
            return ListType(draw(varied(part)))
        case OptionType(part):
            return OptionType(draw(varied(part)))
        case MapType(key, part):
            return MapType(key, draw(varied(part)))
        case NumberType(kind, restriction):
            return NumberType(kind, None if draw(st.booleans()) else restriction)
        case TextType():
            return TextType() if draw(st.booleans()) else schema
        case BinaryType():
            return BinaryType() if draw(st.booleans()) else schema
        case _:
            return schema


@st.composite
def pairs(draw) -> tuple[Graph, Graph]:
    """A graph and another one that is near it."""
    source = draw(graphs())
    if draw(st.integers(0, 4)) == 0:
        return source, draw(graphs())
    if isinstance(source.root, RefType):
        item = source.definitions.items[0]
        body = draw(varied(item.body.fields[0].body))
        fields = (Field("value", body), Field("items", ListType(RefType("Other"))))
        return source, Graph(RefType("Other"), Definitions((Definition("Other", RecordType(fields)),)))
    return source, Graph(draw(varied(source.root)))


def draw_value(draw, schema: SchemaType, definitions: Definitions, depth: int = 0) -> SchemaValue:
    """A value of the type's shape; it mostly fits the restrictions as well."""
    resolved = definitions.resolve(schema).type

    def inner(part: SchemaType) -> SchemaValue:
        return draw_value(draw, part, definitions, depth + 1)

    size = 0 if depth > 5 else draw(st.integers(0, 2))
    match resolved:
        case RecordType(fields):
            return RecordValue(tuple(inner(f.body) for f in fields))
        case TupleType(parts):
            return TupleValue(tuple(inner(part) for part in parts))
        case ListType(part):
            return ListValue(tuple(inner(part) for _ in range(size)))
        case FixedListType(part, length):
            return FixedListValue(tuple(inner(part) for _ in range(length)))
        case MapType(key, part):
            return MapValue(tuple((inner(key), inner(part)) for _ in range(size)))
        case OptionType(part):
            return OptionValue(inner(part) if draw(st.booleans()) else None)
        case VariantType(cases):
            index = draw(st.integers(0, len(cases) - 1))
            payload = cases[index].payload
            return VariantValue(index, None if payload is None else inner(payload))
        case ResultType(ok, err):
            is_ok = draw(st.booleans())
            slot = ok if is_ok else err
            return ResultValue(is_ok, None if slot is None else inner(slot))
        case UnionType(branches):
            branch = draw(st.sampled_from(branches))
            body = inner(branch.body)
            assert isinstance(body, RecordValue)
            return UnionValue(branch.tag, RecordValue((StringValue(branch.tag), *body.fields[1:])))
        case EnumType(names):
            return EnumValue(draw(st.integers(0, len(names) - 1)))
        case FlagsType(names):
            return FlagsValue(tuple(draw(st.booleans()) for _ in names))
        case NumberType(kind):
            return NumberValue(kind, float(draw(st.integers(0, 9))) if kind.is_float else draw(st.integers(0, 9)))
        case TextType():
            return TextValue(draw(st.text("xyz", max_size=3)), draw(st.none() | st.just("en")))
        case BinaryType():
            return BinaryValue(draw(st.binary(max_size=3)))
        case PlainType(PlainKind.BOOL):
            return BoolValue(draw(st.booleans()))
        case PlainType(PlainKind.CHAR):
            return CharValue(draw(st.characters(codec="utf-8")))
        case PlainType(PlainKind.DURATION):
            return DurationValue(draw(st.integers(-(2**63), 2**63 - 1)))
        case _:
            return StringValue(draw(st.text(max_size=3)))


def has_map(graph: Graph) -> bool:
    types = (graph.root, *(item.body for item in graph.definitions.items))
    return any(isinstance(part, MapType) for type_ in types for part in walk(type_))


@given(graphs())
def test_generated_graphs_are_well_formed(graph):
    """The laws below are about well-formed types."""
    assert not faults_of(graph, NO_ENGINES)


@given(graphs())
def test_relations_are_reflexive(graph):
    """Every type is equivalent and assignable to itself, and projects to itself."""
    assert are_equivalent(graph, graph)
    assert is_assignable(graph.root, graph.root, graph.definitions)
    assert isinstance(project(graph, graph), Plan)


@given(pairs())
def test_equivalence_is_symmetric_and_implies_the_rest(pair):
    """Equivalent types are assignable and project both ways."""
    one, other = pair
    equivalent = are_equivalent(one, other)
    assert equivalent is are_equivalent(other, one)
    if equivalent:
        assert isinstance(project(one, other), Plan)
        assert isinstance(project(other, one), Plan)
        shared = Definitions((*one.definitions.items, *other.definitions.items))
        assert is_assignable(one.root, other.root, shared)
        assert is_assignable(other.root, one.root, shared)


@given(pairs())
def test_assignable_types_project(pair):
    """Where no maps are, assignability is the stronger relation."""
    one, other = pair
    shared = Definitions((*one.definitions.items, *other.definitions.items))
    assume(len({item.id for item in shared.items}) == len(shared.items))
    if is_assignable(one.root, other.root, shared) and not has_map(one):
        assert isinstance(project(one, other), Plan)


@given(st.data())
def test_projection_is_transitive(data):
    """What projects to a type that projects on, projects all the way."""
    one, other = data.draw(pairs())
    assume(isinstance(project(one, other), Plan) and not isinstance(other.root, RefType))
    third = Graph(data.draw(varied(other.root)))
    if isinstance(project(other, third), Plan):
        assert isinstance(project(one, third), Plan)


@given(st.data())
def test_assignability_is_transitive(data):
    """The same for assignability."""
    first = data.draw(TYPES)
    second = data.draw(varied(first))
    third = data.draw(varied(second))
    none = Definitions()
    if is_assignable(first, second, none) and is_assignable(second, third, none):
        assert is_assignable(first, third, none)


@given(st.data())
def test_projected_values_fit_the_target(data):
    """A valid value of a type that projects has a valid form in the target; discriminators are the same here."""
    source, target = data.draw(pairs())
    plan = project(source, target)
    assume(isinstance(plan, Plan))
    value = draw_value(data.draw, source.root, source.definitions)
    shaped = reshape(value, plan, source, target, NO_ENGINES)
    if validity(value, source, NO_ENGINES) is Validity.VALID:
        assert isinstance(shaped, Reshaped)
        assert validity(shaped.value, target, NO_ENGINES) is Validity.VALID
    else:
        assert isinstance(shaped, Unshaped)
        assert shaped.stage is Stage.SOURCE


@given(st.data())
def test_assignable_values_fit_as_they_are(data):
    """A valid value of an assignable type is valid in the target unchanged."""
    source = data.draw(TYPES)
    target = data.draw(varied(source))
    assume(is_assignable(source, target, Definitions()))
    value = draw_value(data.draw, source, Definitions())
    if validity(value, Graph(source), NO_ENGINES) is Validity.VALID:
        assert validity(value, Graph(target), NO_ENGINES) is Validity.VALID


@given(graphs())
def test_types_survive_their_json(graph):
    """Reading what was written gives the graph back."""
    assert read_graph(graph_json(graph)) == graph


@given(st.data())
def test_values_survive_their_json(data):
    """Both forms, the tagged one and the canonical one, give the value back."""
    graph = data.draw(graphs())
    value = draw_value(data.draw, graph.root, graph.definitions)
    assert read_value(value_json(value)) == value
    encoded = encode(value, graph, NO_ENGINES)
    assert isinstance(encoded, Encoded)
    assert decode_json(encoded.json, graph, NO_ENGINES) == value


def test_absent_fields_tell_branches_apart():
    """A rule about an absent field and one about a present one never both hold."""
    string = PlainType(PlainKind.STRING)
    here = Branch("here", RecordType((Field("k", string),)), FieldEquals("k"))
    gone = Branch("gone", RecordType((Field("z", string),)), FieldAbsent("k"))
    graph = Graph(UnionType((here, gone)))
    assert not faults_of(graph, NO_ENGINES)
    assert decode_json({"z": "x"}, graph, NO_ENGINES) == UnionValue("gone", RecordValue((StringValue("x"),)))
