"""Reshaping values along a plan, with an account of the streams inside.

Source: middleware 3.2 (last paragraphs), 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.outcomes import Validity, Violation, validity_of
from policyd.core.schema.project import Bodies, Each, Keep, Members, Node, Pick, Plan, Recase, Reflag, Relay, Slots
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import (
    EnumValue,
    FixedListValue,
    FlagsValue,
    ListValue,
    MapValue,
    OptionValue,
    RecordValue,
    ResultValue,
    SchemaValue,
    StreamValue,
    TupleValue,
    UnionValue,
    VariantValue,
    streams_in,
)
from policyd.findings import InputError


class Stage(Enum):
    """Where a value failed on its way."""

    SOURCE = "source"
    VALUE = "value"
    TARGET = "target"


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The value in its new form.

    Attributes:
        value: fits the target.
        converted: numbers of streams whose items are reshaped one by one; others are handed on whole.
        discarded: numbers of streams that were dropped with what they stood in.
    """

    value: SchemaValue
    converted: tuple[int, ...] = ()
    discarded: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Unshaped:
    """Why there is no new form; all streams of the value are disposed of.

    Attributes:
        stage: where it failed.
        violations: the rules broken there; empty when the value did not fit a step of the plan.
        discarded: numbers of the streams in the value.
    """

    stage: Stage
    violations: tuple[Violation, ...] = ()
    discarded: tuple[int, ...] = ()

    @property
    def is_undecided(self) -> bool:
        """Whether it only failed for want of an engine."""
        return validity_of(self.violations) is Validity.UNDECIDED


class _MisfitError(Exception):
    """A value that a step of the plan cannot take."""


def reshape(value: SchemaValue, plan: Plan, source: Graph, target: Graph, engines: Engines) -> Reshaped | Unshaped:
    """The value of the source's root as one of the target's, validated before and after.

    Raises:
        InputError: SCHEMA003, for a value nested too deeply to be reshaped.
    """
    broken = violations_of(value, source, engines)
    if broken:
        return Unshaped(Stage.SOURCE, broken, tuple(streams_in(value)))
    run = Run(plan, [], [])
    try:
        shaped = run.apply(0, value)
    except RecursionError:
        raise InputError.of("SCHEMA003", "nested too deeply to be reshaped") from None
    except _MisfitError:
        return Unshaped(Stage.VALUE, (), tuple(streams_in(value)))
    broken = violations_of(shaped, target, engines)
    if broken:
        return Unshaped(Stage.TARGET, broken, tuple(streams_in(value)))
    return Reshaped(shaped, tuple(run.converted), tuple(run.discarded))


def pass_unchanged(value: SchemaValue, source: Graph, target: Graph, engines: Engines) -> Reshaped | Unshaped:
    """The value as it is, if it fits both types: what nominal mode does."""
    for graph, stage in ((source, Stage.SOURCE), (target, Stage.VALUE)):
        broken = violations_of(value, graph, engines)
        if broken:
            return Unshaped(stage, broken, tuple(streams_in(value)))
    return Reshaped(value)


@dataclass(frozen=True, slots=True)
class Run:
    """One walk along a plan; as deep as the value, which is bounded when it is read."""

    plan: Plan
    converted: list[int] = field(default_factory=list)
    discarded: list[int] = field(default_factory=list)

    def apply(self, node: Node, value: SchemaValue) -> SchemaValue:
        """The value behind one step."""
        match self.plan.steps[node], value:
            case Keep(), _:
                return value
            case Pick(fields), RecordValue(parts):
                return self.pick(fields, parts)
            case Members(steps), TupleValue(parts):
                return TupleValue(tuple(self.apply(step, part) for step, part in zip(steps, parts, strict=True)))
            case Each(step), ListValue(parts):
                return ListValue(tuple(self.apply(step, part) for part in parts))
            case Each(step), FixedListValue(parts):
                return FixedListValue(tuple(self.apply(step, part) for part in parts))
            case Each(step), MapValue(entries):
                return MapValue(tuple((key, self.apply(step, part)) for key, part in entries))
            case Each(step), OptionValue(some):
                return OptionValue(self.maybe(step, some))
            case Slots(ok, err), ResultValue(is_ok, some):
                return ResultValue(is_ok, self.maybe(ok if is_ok else err, some))
            case Recase(cases), VariantValue(case, payload):
                index, inner = cases[case]
                return VariantValue(index, self.maybe(inner, payload))
            case Recase(cases), EnumValue(case):
                return EnumValue(cases[case][0])
            case Reflag(positions, size), FlagsValue(bits):
                set_flags = {position for position, bit in zip(positions, bits, strict=True) if bit}
                return FlagsValue(tuple(index in set_flags for index in range(size)))
            case Bodies(branches), UnionValue(tag, body):
                return UnionValue(tag, self.apply(dict(branches)[tag], body))
            case Relay(item), StreamValue(number):
                if item is not None:
                    self.converted.append(number)
                return value
            case _:
                raise _MisfitError

    def maybe(self, node: Node | None, value: SchemaValue | None) -> SchemaValue | None:
        """What is inside, if there is anything."""
        return None if node is None or value is None else self.apply(node, value)

    def pick(self, fields: tuple[tuple[int, Node], ...], parts: tuple[SchemaValue, ...]) -> SchemaValue:
        """The fields of the target; what is left over is dropped."""
        used = {index for index, _ in fields}
        for index, part in enumerate(parts):
            if index not in used:
                self.discarded.extend(streams_in(part))
        return RecordValue(tuple(self.apply(step, parts[index]) for index, step in fields))
