"""Payloads that show why a tool may not stand where another is expected: an input, a result, an error, or a call.

Source: middleware 3.2, 3.6, 3.8, 3.10.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import islice, product

from policyd.core.schema.carry import Refused, carry
from policyd.core.schema.examples import Examples
from policyd.core.schema.graph import Graph
from policyd.core.schema.leaf_witness import NoWitness
from policyd.core.schema.outcomes import Validity
from policyd.core.schema.text_wish import Texts
from policyd.core.schema.types import ListType, MapType, OptionType
from policyd.core.schema.validate import validity
from policyd.core.schema.values import (
    BoolValue,
    ListValue,
    MapValue,
    NumberValue,
    OptionValue,
    RecordValue,
    SchemaValue,
)
from policyd.core.schema.witness import Shown, Witness, witness
from policyd.core.tools.canonical_input import CanonicalInput, InputField, canonical_input
from policyd.core.tools.compat_inputs import injected_value
from policyd.core.tools.constraint import Constraint, ValueIs, refs_of
from policyd.core.tools.constraints import Given, first_broken, holds
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.tool import Body, Flag, Option, Positional, Tool

MAX_CALLS_TRIED = 4096
"""Calls that are tried for one constraint."""


class Part(Enum):
    """What kind of payload a witness is."""

    CALL = "call"
    INPUT = "input"
    RESULT = "result"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ToolWitness:
    """A payload that shows a reason, or why there is none.

    Attributes:
        part: of what it is a value.
        graph: its type.
        witness: the value, or the reason why none shows it.
    """

    part: Part
    graph: Graph
    witness: Witness


def tool_witness(
    expected: Tool, inner: Tool, reason: Incompatibility, texts: Texts, *, wraps_optional: bool = True
) -> ToolWitness | None:
    """The payload that shows `reason`, None where it is about names or declarations and no payload is involved.

    Args:
        expected: what the layer above was built for.
        inner: what stands below.
        reason: one that comparing them gave.
        texts: engines, and a finder.
        wraps_optional: as in the comparison.
    """
    search = _Search(expected, inner, reason, texts, wraps_optional)
    match reason.kind:
        case IncompatibilityKind.INPUT_NOT_SUBSTITUTABLE:
            return search.input()
        case IncompatibilityKind.RESULT_NOT_SUBSTITUTABLE:
            return search.result()
        case IncompatibilityKind.ERROR_PAYLOAD_NOT_SUBSTITUTABLE:
            return search.error()
        case IncompatibilityKind.INNER_ONLY_ERROR:
            return search.only_error()
        case IncompatibilityKind.INNER_INPUT_WITHOUT_DEFAULT | IncompatibilityKind.COMMAND_MISSING:
            return search.call()
        case IncompatibilityKind.CONSTRAINT_NOT_GUARANTEED:
            return search.constraint()
        case IncompatibilityKind.PROJECTION_TOO_LARGE:
            return ToolWitness(Part.CALL, Graph(), NoWitness.TOO_LARGE)
        case _:
            return None


@dataclass(frozen=True, slots=True)
class _Search:
    expected: Tool
    inner: Tool
    reason: Incompatibility
    texts: Texts
    wraps: bool

    def record(self, tool: Tool) -> CanonicalInput | None:
        """The input record of the command on one side."""
        found = canonical_input(tool, self.reason.path, self.texts.engines, wraps_optional=self.wraps)
        return found if isinstance(found, CanonicalInput) else None

    def body(self, tool: Tool) -> Body | None:
        """The command on one side."""
        found = self.record(tool)
        return None if found is None else tool.commands[found.node].body

    def between(self, part: Part, source: Graph, target: Graph) -> ToolWitness:
        """The witness of two types."""
        return ToolWitness(part, source, witness(source, target, self.texts) or NoWitness.NOT_FOUND)

    def input(self) -> ToolWitness | None:
        """A value of one input."""
        above, below = self.record(self.expected), self.record(self.inner)
        if above is None or below is None:
            return None
        one = next((f for f in above.fields if f.name == self.reason.subject), None)
        other = next((f for f in below.fields if f.name == self.reason.subject), None)
        if one is None or other is None:
            return None
        source, target = Graph(one.type, above.definitions), Graph(other.type, below.definitions)
        return self.between(Part.INPUT, source, target)

    def result(self) -> ToolWitness | None:
        """A value of the result."""
        outer, own = self.body(self.expected), self.body(self.inner)
        if outer is None or own is None or outer.result is None or own.result is None:
            return None
        source = Graph(own.result.type, self.inner.schema.definitions)
        return self.between(Part.RESULT, source, Graph(outer.result.type, self.expected.schema.definitions))

    def error(self) -> ToolWitness | None:
        """A payload of the error."""
        outer, own = self.body(self.expected), self.body(self.inner)
        if outer is None or own is None:
            return None
        one = next((e.payload for e in own.errors if e.name == self.reason.subject), None)
        other = next((e.payload for e in outer.errors if e.name == self.reason.subject), None)
        if one is None or other is None:
            return None
        source = Graph(one, self.inner.schema.definitions)
        return self.between(Part.ERROR, source, Graph(other, self.expected.schema.definitions))

    def only_error(self) -> ToolWitness | None:
        """A smallest payload of an error that nobody above knows."""
        own = self.body(self.inner)
        payload = None if own is None else next((e.payload for e in own.errors if e.name == self.reason.subject), None)
        if payload is None:
            return None
        graph = Graph(payload, self.inner.schema.definitions)
        return self.smallest(Part.ERROR, graph, "the error is not known above")

    def smallest(self, part: Part, graph: Graph, words: str) -> ToolWitness:
        """A smallest value of a type."""
        value = Examples(graph.definitions, self.texts).of(graph.root)
        return ToolWitness(part, graph, NoWitness.UNINHABITED if value is None else Shown(value, words))

    def call(self) -> ToolWitness | None:
        """A smallest call as it is written above."""
        above = self.record(self.expected)
        if above is None:
            return None
        missing = self.reason.kind is IncompatibilityKind.COMMAND_MISSING
        words = "there is no such command below" if missing else f"`{self.reason.subject}` is not given"
        return self.smallest(Part.CALL, above.graph, words)

    def constraint(self) -> ToolWitness | None:
        """A call that keeps the constraints above and breaks one below."""
        above, below = self.record(self.expected), self.record(self.inner)
        outer, own = self.body(self.expected), self.body(self.inner)
        if above is None or below is None or outer is None or own is None:
            return None
        asked = tuple(c for c in own.constraints if c not in outer.constraints)
        for call in islice(self.calls(above, (*asked, *outer.constraints)), MAX_CALLS_TRIED):
            if validity(call, above.graph, self.texts.engines) is not Validity.VALID:
                continue
            if first_broken(outer.constraints, Given.of(above.fields, call)) is not None:
                continue
            moved = self.moved(call, above, below)
            if moved is not None and any(not holds(c, Given.of(below.fields, moved)) for c in asked):
                return ToolWitness(Part.CALL, above.graph, Shown(call, "a constraint below does not hold"))
        return ToolWitness(Part.CALL, above.graph, NoWitness.NOT_FOUND)

    def moved(self, call: RecordValue, above: CanonicalInput, below: CanonicalInput) -> RecordValue | None:
        """The inner record of a call, None where one of its inputs does not get there."""
        given = dict(zip((f.name for f in above.fields), zip(above.fields, call.fields, strict=True), strict=True))
        parts: list[SchemaValue] = []
        for field in below.fields:
            part: SchemaValue | Refused | None
            if field.name in given:
                own, value = given[field.name]
                source, target = Graph(own.type, above.definitions), Graph(field.type, below.definitions)
                part = carry(value, source, target, self.texts.engines)
            else:
                part = injected_value(field, below.definitions)
            if part is None or isinstance(part, Refused):
                return None
            parts.append(part)
        return RecordValue(tuple(parts))

    def calls(self, above: CanonicalInput, constraints: tuple[Constraint, ...]) -> Iterator[RecordValue]:
        """Calls in which the arguments that constraints are about are given or not; few given ones first."""
        examples = Examples(above.definitions, self.texts)
        named = {ref.name for constraint in constraints for ref in refs_of(constraint)}
        literals: dict[str, list[SchemaValue]] = {}
        for constraint in constraints:
            for ref in refs_of(constraint):
                if isinstance(ref, ValueIs):
                    literals.setdefault(ref.name, []).append(ref.value)
        choices: list[list[SchemaValue]] = []
        for field in above.fields:
            least = examples.of(field.type)
            if least is None:
                return
            options = [_omitted(field, least)]
            if named.intersection((field.name, *field.aliases)):
                options += _given(field, examples, literals.get(field.name, []), above)
            choices.append(list(dict.fromkeys(options)))
        ranked = sorted(
            islice(product(*(range(len(options)) for options in choices)), MAX_CALLS_TRIED),
            key=lambda picks: sum(1 for pick in picks if pick),
        )
        for picks in ranked:
            yield RecordValue(tuple(options[pick] for options, pick in zip(choices, picks, strict=True)))


def _omitted(field: InputField, least: SchemaValue) -> SchemaValue:
    """What the record holds for an argument that is not given."""
    match field.argument:
        case (Option() | Positional()) as argument if argument.default is not None:
            return argument.default
        case Flag():
            return injected_value(field, _NO_DEFINITIONS) or least
        case _:
            return least


def _given(
    field: InputField, examples: Examples, literals: list[SchemaValue], above: CanonicalInput
) -> Iterator[SchemaValue]:
    """Values by which an argument counts as given, and those that constraints name."""
    match above.definitions.resolve(field.type).type, field.argument:
        case _, Flag():
            off = injected_value(field, _NO_DEFINITIONS)
            match off:
                case BoolValue(truth):
                    yield BoolValue(not truth)
                case NumberValue(kind, _):
                    yield NumberValue(kind, 1)
                case _:
                    return
        case OptionType(inner), _:
            some = examples.of(inner)
            if some is not None:
                yield OptionValue(some)
            yield from (OptionValue(literal) for literal in literals)
        case ListType(element), _:
            one = examples.of(element)
            if one is not None:
                yield ListValue((one,))
            yield from (ListValue((literal,)) for literal in literals)
        case MapType(key, value), _:
            pair = examples.of(key), examples.of(value)
            if pair[0] is not None and pair[1] is not None:
                yield MapValue(((pair[0], pair[1]),))
        case _, _:
            least = examples.of(field.type)
            if least is not None:
                yield least
    yield from literals


_NO_DEFINITIONS = Graph().definitions
