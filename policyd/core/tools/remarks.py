"""What a pair of tools is told beside its verdict: inputs thrown away, drifting defaults, risky types, misread values.

Source: middleware 3.6, 3.7, 3.10, 3.11.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.nominal import Fate, fate
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.pairs import Proven
from policyd.core.schema.schema_risks import SchemaRiskKind, schema_risks
from policyd.core.schema.text_wish import Texts
from policyd.core.schema.types import FixedListType, ListType, MapType, OptionType, SchemaType
from policyd.core.schema.values import BoolValue, NumberValue, SchemaValue
from policyd.core.tools.canonical_input import InputField, input_fields
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.constraint import Present, ValueIs, refs_of
from policyd.core.tools.modes import Mode
from policyd.core.tools.tool import (
    Body,
    BoolFlag,
    CountFlag,
    Flag,
    Option,
    Positional,
    RepeatableList,
    RepeatableMap,
    Tail,
    Tool,
)


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to tell beside a verdict.

    Attributes:
        label: of the specification.
        path: the command; None where it is about the tool.
        place: below the command, as in a mismatch.
        words: one line, lower-case start.
    """

    label: str
    path: tuple[str, ...] | None
    place: str
    words: str


_RISK_WORDS = {
    SchemaRiskKind.QUANTITY_UNITS: "only the base unit is sent, which the other side does not list: every value fails",
    SchemaRiskKind.UNION_DISCRIMINATOR: "the rules of a union's branches differ: values may fail at run time",
    SchemaRiskKind.SECRET_REF: "references below a secret are compared by their id, whatever they mean",
}
_FATES = {
    Fate.FAILS: ("NOMINAL_ALWAYS_FAILS", "no value passes: every call fails here"),
    Fate.HAZARD: ("NOMINAL_POSITIONAL_HAZARD", "values pass that mean something else on the other side"),
    Fate.PARTIAL: ("NOMINAL_PARTIAL", "some values fail here at run time"),
    Fate.NO_VALUES: ("NOMINAL_ALWAYS_FAILS", "there are no values of this type"),
}


def pair_remarks(
    expected: Tool, inner: Tool, mode: Mode, texts: Texts, *, wraps_optional: bool = True
) -> tuple[Remark, ...]:
    """Everything to tell about a pair that is accepted in `mode`; sorted by command.

    Args:
        expected: what the layer above was built for.
        inner: what stands below.
        mode: in which they were found compatible.
        texts: engines, and a finder for questions about patterns.
        wraps_optional: whether inputs that are neither required nor defaulted are options.
    """
    if mode is Mode.STRICT_EQUALITY:
        return ()
    found: list[Remark] = []
    if inner.requires_filesystem and not expected.requires_filesystem:
        words = "what stands below needs a file system, and this is not said above"
        found.append(Remark("FILESYSTEM_NEED_HIDDEN", None, "", words))
    below = callable_paths(inner)
    known = _Known()
    for path, place in sorted(callable_paths(expected).items()):
        other = below.get(path)
        if other is None:
            continue
        above_fields = {f.name: f for f in reversed(list(input_fields(expected, place, wraps_optional=wraps_optional)))}
        below_fields = list(input_fields(inner, other, wraps_optional=wraps_optional))
        pair = _Pair(expected, inner, path, mode, texts, known)
        outer, own = expected.commands[place.index].body, inner.commands[other.index].body
        if outer is None or own is None:
            continue
        found.extend(pair.inputs(above_fields, below_fields))
        found.extend(pair.constraints(own, above_fields, below_fields))
        found.extend(pair.outcomes(outer, own))
        found.extend(annotation_remarks(outer, own, path))
    return tuple(found)


def annotation_remarks(above: Body, below: Body, path: tuple[str, ...]) -> Iterator[Remark]:
    """Claims above that something below denies."""
    if above.annotations is None or below.annotations is None:
        return
    if above.annotations.read_only is True and below.annotations.read_only is False:
        words = "the command claims to read only, and the one below says that it does not"
        yield Remark("ANNOTATION_WEAKENED", path, "", words)
    if above.annotations.destructive is False and below.annotations.destructive is True:
        words = "the command claims not to be destructive, and the one below says that it is"
        yield Remark("ANNOTATION_WEAKENED", path, "", words)


def presented_remarks(presented: Tool, inner: Tool) -> Iterator[Remark]:
    """What a layer says of itself and something below it denies, whatever it expects there.

    A command that does not exist below is only compared where everything below says the contrary of it.
    """
    if inner.requires_filesystem and not presented.requires_filesystem:
        words = "what stands below needs a file system, and this is not said above"
        yield Remark("FILESYSTEM_NEED_HIDDEN", None, "", words)
    below = {path: inner.commands[place.index].body or Body() for path, place in callable_paths(inner).items()}
    for path, place in sorted(callable_paths(presented).items()):
        own = presented.commands[place.index].body or Body()
        others = [below[path]] if path in below else list(below.values())
        told = [list(annotation_remarks(own, other, path)) for other in others]
        if told and all(told):
            yield from told[0]


@dataclass(frozen=True, slots=True)
class _Known:
    """What was found for earlier commands of the same two tools, inward and outward apart."""

    inward: Proven = dataclasses.field(default_factory=dict)
    outward: Proven = dataclasses.field(default_factory=dict)
    given: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    returned: set[tuple[str, str]] = dataclasses.field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Pair:
    """One command on both sides."""

    expected: Tool
    inner: Tool
    path: tuple[str, ...]
    mode: Mode
    texts: Texts
    known: _Known

    def remark(self, label: str, place: str, words: str) -> Remark:
        """A remark about this command."""
        return Remark(label, self.path, place, words)

    def passages(self, source: Graph, target: Graph, place: str, *, is_inward: bool) -> Iterator[Remark]:
        """What happens to values of one type on their way."""
        if self.mode is Mode.NOMINAL:
            proven = self.known.inward if is_inward else self.known.outward
            found = fate(source, target, self.texts, proven)
            if found is not Fate.OK:
                label, words = _FATES[found]
                yield self.remark(label, place, words)
            return
        for risk in schema_risks(source, target, self.known.given if is_inward else self.known.returned):
            yield self.remark(risk.kind.value, place + risk.path, _RISK_WORDS[risk.kind])

    def inputs(self, above: dict[str, InputField], below: list[InputField]) -> Iterator[Remark]:
        """What differs between inputs of one name."""
        taken = {field.name for field in below}
        for name in above:
            if name not in taken:
                words = "the input is thrown away: what stands below does not take it"
                yield self.remark("INPUT_DISCARDED", f".input.{name}", words)
        for field in below:
            given = above.get(field.name)
            if given is None:
                continue
            place = f".input.{field.name}"
            source = Graph(given.type, self.expected.schema.definitions)
            target = Graph(field.type, self.inner.schema.definitions)
            yield from self.passages(source, target, place, is_inward=True)
            yield from self.arguments(given, field, place)

    def arguments(self, given: InputField, field: InputField, place: str) -> Iterator[Remark]:
        """What differs between two arguments although their types go together."""
        if isinstance(field.argument, Tail):
            low, high = _occurrences(given)
            most = field.argument.max
            if field.argument.min > low or (most is not None and (high is None or high > most)):
                words = f"{_range(low, high)} occurrences are taken above, {_range(field.argument.min, most)} below"
                yield self.remark("TAIL_BOUNDS_DRIFT", place, words)
        match field.argument:
            case Flag(_, CountFlag(most)) if most is not None:
                counted = _count(given)
                if counted is None or counted > most:
                    words = f"the flag is counted up to {'any number' if counted is None else counted}, below to {most}"
                    yield self.remark("COUNT_MAX_DRIFT", place, words)
            case Flag(_, BoolFlag(default=True, negatable=False)) if _can_be_false(given):
                words = "`false` can be sent, and the flag below cannot be switched off"
                yield self.remark("NOT_NEGATABLE_DRIFT", place, words)
            case _:
                pass
        if self.default_differs(given, field) and _default(given) is not None and _default(field) is not None:
            words = "the defaults differ: the one above is sent"
            yield self.remark("DEFAULT_DRIFT", place, words)

    def default_differs(self, given: InputField, field: InputField) -> bool:
        """Whether an omitted argument is another value on both sides, or only one side has a default."""
        one, other = _default(given), _default(field)
        if one is None or other is None:
            return one is not other
        return self.moved(one, _declared(given), _declared(field)) != other

    def moved(self, value: SchemaValue, source: SchemaType, target: SchemaType) -> SchemaValue | None:
        """A value of the expected tool as one of the inner tool, by names; None where it does not get there."""
        one = Graph(source, self.expected.schema.definitions)
        found = carry(value, one, Graph(target, self.inner.schema.definitions), self.texts.engines)
        return None if isinstance(found, Refused) else found

    def constraints(self, own: Body, above: dict[str, InputField], below: list[InputField]) -> Iterator[Remark]:
        """Constraints that mean something else above, although they are written alike."""
        by_name: dict[str, InputField] = {}
        for field in below:
            for name in (field.name, *field.aliases):
                by_name.setdefault(name, field)
        told: set[tuple[str, str]] = set()
        for constraint in own.constraints:
            for ref in refs_of(constraint):
                found = by_name.get(ref.name)
                given = None if found is None else above.get(found.name)
                if found is None or given is None:
                    continue
                label = words = ""
                if isinstance(ref, Present) and self.default_differs(given, found):
                    label = "CONSTRAINT_DEFAULT_DRIFT"
                    words = "a constraint asks whether it is given, which the different defaults decide differently"
                elif isinstance(ref, ValueIs) and self.is_reindexed(ref.value, given, found):
                    label = "VALUE_IS_REINDEX"
                    words = "a constraint names a case by its index, which is another case above"
                if label and (label, found.name) not in told:
                    told.add((label, found.name))
                    yield self.remark(label, f".input.{found.name}", words)

    def is_reindexed(self, literal: SchemaValue, given: InputField, field: InputField) -> bool:
        """Whether a literal of the inner constraint stands for something else in the expected type."""
        pairs = zip(
            _whole_and_inside(given.type, self.expected.schema.definitions),
            _whole_and_inside(field.type, self.inner.schema.definitions),
            strict=False,
        )
        for source, target in pairs:
            one = Graph(source, self.expected.schema.definitions)
            try:
                found = carry(literal, one, Graph(target, self.inner.schema.definitions), self.texts.engines)
            except (IndexError, ValueError):
                continue
            if found is not None and not isinstance(found, Refused) and found != literal:
                return True
        return False

    def outcomes(self, outer: Body, own: Body) -> Iterator[Remark]:
        """Results and error payloads on their way out."""
        sources, targets = self.inner.schema.definitions, self.expected.schema.definitions
        if outer.result is not None and own.result is not None:
            source, target = Graph(own.result.type, sources), Graph(outer.result.type, targets)
            yield from self.passages(source, target, ".result", is_inward=False)
        declared = {error.name: error.payload for error in reversed(outer.errors)}
        for error in own.errors:
            payload = declared.get(error.name)
            if error.payload is not None and payload is not None:
                place = f".error.{error.name}"
                yield from self.passages(Graph(error.payload, sources), Graph(payload, targets), place, is_inward=False)


def _range(low: int, high: int | None) -> str:
    return f"{low} or more" if high is None else f"{low} to {high}"


def _occurrences(field: InputField) -> tuple[int, int | None]:
    """How many occurrences callers may give."""
    match field.argument:
        case Tail(_, _, low, high):
            return low, high
        case _:
            return 0, None


def _count(field: InputField) -> int | None:
    """The greatest count that callers may give; None for any."""
    match field.argument:
        case Flag(_, CountFlag(most)):
            return most
        case _:
            return None


def _can_be_false(field: InputField) -> bool:
    match field.argument:
        case Flag(_, BoolFlag(default, negatable)):
            return negatable or not default
        case _:
            return True


def _default(field: InputField) -> SchemaValue | None:
    """What an omitted argument comes to, where that is written in the definition."""
    match field.argument:
        case Option() | Positional():
            return field.argument.default
        case Flag(_, BoolFlag(default)):
            return BoolValue(default)
        case Flag():
            return NumberValue(NumberKind.U32, 0)
        case _:
            return None


def _declared(field: InputField) -> SchemaType:
    """The type that a default has, which is never wrapped."""
    match field.argument:
        case Option(_, RepeatableList() | RepeatableMap()) | Tail() | Flag():
            return field.type
        case Option():
            return field.argument.declared_type
        case Positional():
            return field.argument.type


def _whole_and_inside(schema: SchemaType, definitions: Definitions) -> Iterator[SchemaType]:
    """The type and what it holds, down through options, lists and map values."""
    current = schema
    for _ in range(20):
        yield current
        match definitions.resolve(current).type:
            case OptionType(inner) | ListType(inner) | FixedListType(inner) | MapType(_, inner):
                current = inner
            case _:
                return
