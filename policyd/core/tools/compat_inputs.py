"""Inputs of two tools side by side: how the inner record is built from the expected one.

Source: middleware 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.numbers import NumberKind
from policyd.core.schema.reshape import Reshaped, Stage, Unshaped
from policyd.core.schema.types import OptionType
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import (
    BoolValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    RecordValue,
    SchemaValue,
    streams_in,
)
from policyd.core.tools.canonical_input import CanonicalInput, InputField
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.modes import Mode, Passage, passage
from policyd.core.tools.tool import (
    BoolFlag,
    CountFlag,
    Flag,
    Option,
    Positional,
    RepeatableList,
    RepeatableMap,
    Tail,
)


@dataclass(frozen=True, slots=True)
class FromExpected:
    """A field that is filled from one of the expected record."""

    name: str
    index: int
    passage: Passage


@dataclass(frozen=True, slots=True)
class Injected:
    """A field that only the inner command has, and the value put in."""

    name: str
    value: SchemaValue


@dataclass(frozen=True, slots=True)
class InputLink:
    """How an input record of the expected command becomes one of the inner command.

    Attributes:
        source: the expected record.
        target: the inner record.
        fields: one per inner field, in its order.
        discarded: names of expected fields that are not passed on, in their order.
    """

    source: Graph
    target: Graph
    fields: tuple[FromExpected | Injected, ...]
    discarded: tuple[str, ...]

    def carry(self, value: SchemaValue, engines: Engines) -> Reshaped | Unshaped:
        """The inner record for a value of the expected one."""
        broken = violations_of(value, self.source, engines)
        if broken or not isinstance(value, RecordValue):
            return Unshaped(Stage.SOURCE, broken, tuple(streams_in(value)))
        parts: list[SchemaValue] = []
        converted: list[int] = []
        used: set[int] = set()
        dropped: list[int] = []
        for field in self.fields:
            if isinstance(field, Injected):
                parts.append(field.value)
                continue
            used.add(field.index)
            carried = field.passage.carry(value.fields[field.index], engines)
            if isinstance(carried, Unshaped):
                return Unshaped(carried.stage, carried.violations, tuple(streams_in(value)))
            parts.append(carried.value)
            converted.extend(carried.converted)
            dropped.extend(carried.discarded)
        for index, part in enumerate(value.fields):
            if index not in used:
                dropped.extend(streams_in(part))
        record = RecordValue(tuple(parts))
        broken = violations_of(record, self.target, engines)
        if broken:
            return Unshaped(Stage.TARGET, broken, tuple(streams_in(value)))
        return Reshaped(record, tuple(converted), tuple(dropped))


def link_inputs(source: CanonicalInput, target: CanonicalInput, mode: Mode) -> InputLink | Incompatibility:
    """How the inner record is built from the expected one, or the first field that cannot be filled.

    Args:
        source: the expected command's record.
        target: the inner command's record.
        mode: how types are compared; fields are matched by name in every mode.
    """
    by_name: dict[str, tuple[int, InputField]] = {}
    for index, field in enumerate(source.fields):
        by_name.setdefault(field.name, (index, field))
    fields: list[FromExpected | Injected] = []
    for field in target.fields:
        place = f".input.{field.name}"
        found = by_name.get(field.name)
        if found is None:
            value = injected_value(field, target.definitions)
            if value is None:
                kind = IncompatibilityKind.INNER_INPUT_WITHOUT_DEFAULT
                return Incompatibility(kind, (), place, subject=field.name)
            fields.append(Injected(field.name, value))
            continue
        index, given = found
        way = passage(given.type, source.definitions, field.type, target.definitions, mode)
        if not isinstance(way, Passage):
            return way.located(IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE, (), place, field.name)
        fields.append(FromExpected(field.name, index, way))
    taken = {field.name for field in target.fields}
    discarded = tuple(field.name for field in source.fields if field.name not in taken)
    return InputLink(source.graph, target.graph, tuple(fields), discarded)


def injected_value(field: InputField, definitions: Definitions) -> SchemaValue | None:
    """What is put into a field that callers do not know, or None when there is nothing to put in."""
    match field.argument:
        case (Positional() | Option()) as argument if argument.default is not None:
            return argument.default
        case Option(_, RepeatableList()):
            return ListValue(())
        case Option(_, RepeatableMap()):
            return MapValue(())
        case Flag(_, BoolFlag(default)):
            return BoolValue(default)
        case Flag(_, CountFlag()):
            return NumberValue(NumberKind.U32, 0)
        case Tail() as tail:
            return ListValue(()) if tail.min == 0 else None
        case _:
            is_option = isinstance(definitions.resolve(field.type).type, OptionType)
            return OptionValue(None) if is_option else None
