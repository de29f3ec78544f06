"""The outcome of a call on its way back out: what each layer sees, and what its own boundary makes of it.

A layer that presents another result or other errors than it expects has a handler that makes them: there the way ends.

Source: middleware 1.8, 2.3, 4.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from policyd.core.schema.carry import violation_words
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.examples import Examples
from policyd.core.schema.graph import Definitions, Graph
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import JsonFault
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.reshape import Reshaped, Unshaped
from policyd.core.schema.types import SchemaType
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import SchemaValue
from policyd.core.tools.boundaries import FORWARDING, Underlying
from policyd.core.tools.chain import Edge
from policyd.core.tools.command_tree import find_command
from policyd.core.tools.compat import CommandLink
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import Body, Tool
from policyd.usecases.chain_words import layer_name
from policyd.usecases.tool_documents import ENGINES, TEXTS
from policyd.usecases.tool_words import shown_value


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happens.

    Attributes:
        where: `caller`, `host`, a layer by position and name, or the tool.
        words: what happens.
        value: what travels on from here, as JSON; empty where nothing new does.
        is_end: whether the call ends here.
    """

    where: str
    words: str
    value: str = ""
    is_end: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the tool answers: a result, or a declared error; None of both stands for an example result.

    Attributes:
        result: JSON of the result.
        has_result: whether `result` is given.
        error: the name of the error; empty for none.
        payload: JSON of its payload.
    """

    result: JsonValue = None
    has_result: bool = False
    error: str = ""
    payload: JsonValue = None


@dataclass(frozen=True, slots=True)
class Crossed:
    """A layer that the call went through on its way in.

    Attributes:
        edge: between the layer and what stands below it.
        link: how the command is passed on; None where the layer passes everything on.
        command: the command as the layer was called, by canonical names.
    """

    edge: Edge
    link: CommandLink | None
    command: tuple[str, ...]

    @property
    def presented(self) -> tuple[Tool, Body] | None:
        """What the layer shows to whoever calls it, and the body of the command; None where that is not known."""
        tool = self.edge.effective
        place = None if tool is None else find_command(tool, self.command)
        if tool is None or place is None:
            return None
        return tool, tool.commands[place.index].body or Body()


def failure_steps(crossed: Sequence[Crossed], failure: Underlying) -> tuple[Step, ...]:
    """What each layer sees of a failure below it, and makes of it by forwarding; the innermost first."""
    steps: list[Step] = []
    for layer in reversed(crossed):
        made = FORWARDING[failure]
        words = f"sees `{failure.value}`; forwarded it becomes `{made.wire.value}`: {made.words}"
        steps.append(Step(layer_name(layer.edge), words))
        failure = made.wire
    return (*steps, Step("caller", f"sees `{failure.value}`"))


def outcome_steps(
    leaf: Tool, command: tuple[str, ...], crossed: Sequence[Crossed], outcome: Outcome, profile: Profile
) -> tuple[Step, ...]:
    """The outcome on its way out, step by step.

    Args:
        leaf: the tool.
        command: as it was called, by canonical names.
        crossed: the layers, outermost first.
        outcome: what the tool answers.
        profile: the rules in force.
    """
    place = find_command(leaf, command)
    body = Body() if place is None else leaf.commands[place.index].body or Body()
    way = _Way(leaf, body, tuple(reversed(crossed)), outcome, profile)
    if outcome.error:
        way.error()
    else:
        way.result()
    return tuple(way.steps)


@dataclass(slots=True)
class _Way:
    leaf: Tool
    body: Body
    layers: tuple[Crossed, ...]
    outcome: Outcome
    profile: Profile
    steps: list[Step] = field(default_factory=list)

    def tell(self, where: str, words: str, value: str = "") -> None:
        """Note a step outward."""
        self.steps.append(Step(where, words, value))

    def end(self, where: str, words: str) -> None:
        """Note the step at which the way ends."""
        self.steps.append(Step(where, words, is_end=True))

    def read(self, json: JsonValue, graph: Graph) -> tuple[SchemaValue | None, str]:
        """A value that the tool answers, or None and why it is none of the declared type."""
        found = decode_json(json, graph, ENGINES, form=self.profile.json_form)
        if isinstance(found, JsonFault):
            return None, found.reason
        broken = violations_of(found, graph, ENGINES)
        return (None, violation_words(broken[0].kind)) if broken else (found, "")

    def result(self) -> None:
        """A result."""
        value: SchemaValue | None = None
        if self.body.result is None:
            self.tell(self.leaf.name, "returns without a result")
        else:
            graph = Graph(self.body.result.type, self.leaf.schema.definitions)
            words, reason = "returns", ""
            if self.outcome.has_result:
                value, reason = self.read(self.outcome.result, graph)
            else:
                words, value = "returns, for example", Examples(graph.definitions, TEXTS).of(graph.root)
            if reason:
                self.end(self.leaf.name, f"returns something else, {reason}: `InvalidResult`")
                return
            if value is None:
                self.end(self.leaf.name, "returns; no example of its result was found")
                return
            self.tell(self.leaf.name, words, shown_value(value, graph, ENGINES))
        for layer in self.layers:
            where = layer_name(layer.edge)
            if layer.link is None:
                self.tell(where, "hands the result on" if value is not None else "returns without a result")
                continue
            if not self.presents_result(layer):
                self.end(where, "presents another result than it gets: its handler makes it, policyd cannot follow it")
                return
            if value is None or layer.link.result is None:
                self.tell(where, "returns without a result")
                continue
            carried = layer.link.result.carry(value, ENGINES)
            if not isinstance(carried, Reshaped):
                self.end(where, f"the result does not pass outward{_why(carried)}: the layer sees `invalid-result`")
                return
            value = carried.value
            shown = shown_value(value, layer.link.result.target, ENGINES)
            self.tell(where, "gets the result, and hands it on", shown)
        self.tell("caller", "gets the result" if value is not None else "gets success, without a result")

    def presents_result(self, layer: Crossed) -> bool:
        """Whether what the layer gets from below is what it presents."""
        expected, presented = _expected(layer), layer.presented
        if expected is None or presented is None:
            return False
        one, other = expected[1].result, presented[1].result
        return _is_same(
            None if one is None else one.type,
            expected[0].schema.definitions,
            None if other is None else other.type,
            presented[0].schema.definitions,
        )

    def error(self) -> None:
        """A declared error, or a failure of the call itself."""
        name = self.outcome.error
        error = next((e for e in self.body.errors if e.name == name), None)
        kinds = {kind.value: kind for kind in Underlying}
        if error is None and name in kinds:
            self.tell(self.leaf.name, f"the call to it ends in `{name}`")
            self.steps.extend(failure_steps(tuple(reversed(self.layers)), kinds[name]))
            return
        if error is None:
            self.refused(f"raises `{name}`, which it does not declare")
            return
        value: SchemaValue | None = None
        shown = ""
        if error.payload is not None:
            graph = Graph(error.payload, self.leaf.schema.definitions)
            value, reason = self.read(self.outcome.payload, graph)
            if value is None:
                self.refused(f"the payload is none of `{name}`, {reason}")
                return
            shown = shown_value(value, graph, ENGINES)
        self.tell(self.leaf.name, f"ends in the error `{name}`", shown)
        for layer in self.layers:
            where = layer_name(layer.edge)
            if layer.link is None:
                self.tell(where, "hands the error on")
                continue
            found = next((e for e in layer.link.errors if e.name == name), None)
            if found is None or not found.expected:
                self.end(where, f"does not know `{name}`: it sees `invalid-result`")
                return
            shown = ""
            if found.payload is not None and value is not None:
                carried = found.payload.carry(value, ENGINES)
                if not isinstance(carried, Reshaped):
                    self.end(
                        where, f"the payload does not pass outward{_why(carried)}: the layer sees `invalid-result`"
                    )
                    return
                value, shown = carried.value, shown_value(carried.value, found.payload.target, ENGINES)
            if not self.presents_error(layer, name):
                words = (
                    f"gets the error `{name}`, which it does not present so: its handler makes something else of it, "
                    "and forwarded as it is, it is `InvalidResult`"
                )
                self.end(where, words)
                return
            self.tell(where, "gets the error, and forwards it", shown)
        self.tell("caller", f"gets the custom error `{name}`")

    def refused(self, words: str) -> None:
        """What the tool answers is not what it declares: its boundary makes an invalid result of it."""
        self.tell(self.leaf.name, f"{words}: `InvalidResult` at its boundary")
        self.steps.extend(failure_steps(tuple(reversed(self.layers)), Underlying.INVALID_RESULT))

    def presents_error(self, layer: Crossed, name: str) -> bool:
        """Whether the layer may end in the error as it expects it."""
        expected, presented = _expected(layer), layer.presented
        if expected is None or presented is None:
            return False
        one = next((e for e in expected[1].errors if e.name == name), None)
        other = next((e for e in presented[1].errors if e.name == name), None)
        if one is None or other is None:
            return False
        return _is_same(one.payload, expected[0].schema.definitions, other.payload, presented[0].schema.definitions)


def _why(unshaped: Unshaped) -> str:
    broken = unshaped.violations
    return f", {violation_words(broken[0].kind)}" if broken else ""


def _expected(layer: Crossed) -> tuple[Tool, Body] | None:
    tool = layer.edge.expected
    place = None if tool is None or layer.link is None else find_command(tool, layer.link.path)
    if tool is None or place is None:
        return None
    return tool, tool.commands[place.index].body or Body()


def _is_same(one: SchemaType | None, ones: Definitions, other: SchemaType | None, others: Definitions) -> bool:
    if one is None or other is None:
        return one is other
    return are_equivalent(Graph(one, ones), Graph(other, others))
