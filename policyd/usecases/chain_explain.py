"""One call followed through a chain, layer by layer inward, and its outcome back out.

What a handler does is its own code: layers that present what they expect are followed as if they forward the call
unchanged; at an adapter the way inward ends, and the answer says so.

Source: middleware 1.8, 2.3, 4.5.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from policyd.core.grants.resources import Invocation
from policyd.core.grants.resources.tools import invocation_of_call
from policyd.core.schema.carry import violation_words
from policyd.core.schema.equivalent import are_equivalent
from policyd.core.schema.json_decode import decode_json
from policyd.core.schema.json_faults import JsonFault
from policyd.core.schema.json_text import JsonValue
from policyd.core.schema.reshape import Unshaped
from policyd.core.schema.steps import OutOfStepsError, within
from policyd.core.schema.validate import violations_of
from policyd.core.schema.values import RecordValue, SchemaValue
from policyd.core.tools.arguments import NoArguments, Written, written_arguments
from policyd.core.tools.boundaries import Underlying
from policyd.core.tools.canonical_input import CanonicalInput, canonical_input
from policyd.core.tools.chain import Chain, Edge
from policyd.core.tools.compat import CommandLink
from policyd.core.tools.compat_inputs import Injected
from policyd.core.tools.constraints import Given, first_broken
from policyd.core.tools.middleware import Monomorphic, Universal
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import Body, Tool
from policyd.findings import InputError
from policyd.usecases.chain_authority import Decided
from policyd.usecases.chain_check import Authority, ChainRow
from policyd.usecases.chain_outward import Crossed, Outcome, Step, failure_steps, outcome_steps
from policyd.usecases.chain_words import layer_name
from policyd.usecases.tool_documents import ENGINES
from policyd.usecases.tool_words import shown_value


@dataclass(frozen=True, slots=True)
class Followed:
    """The way of one call.

    Attributes:
        inward: steps up to the tool, or to where it ends.
        outward: steps of the outcome; where the call ended below a layer, what is seen of that.
        reaches_leaf: whether the way leads to the tool, if every layer forwards the call.
        open: on the way in, at which boundaries it is not decided whether the cards let the call through.
    """

    inward: tuple[Step, ...]
    outward: tuple[Step, ...]
    reaches_leaf: bool
    open: tuple[str, ...] = ()

    @property
    def reaches(self) -> str:
        """`yes`, `no`, or `unknown` where cards that are not decided could end the call."""
        if not self.reaches_leaf:
            return "no"
        return "unknown" if self.open else "yes"


MAX_STEPS = 10_000_000
"""Steps of work that one call may take."""
MAX_STEPS_SERVED = 500_000
"""Over HTTP, where others wait meanwhile."""


def follow_call(
    chain: Chain,
    command: tuple[str, ...],
    given: JsonValue,
    outcome: Outcome,
    profile: Profile,
    tool: str = "",
    authority: Authority | None = None,
    steps: int = MAX_STEPS,
) -> Followed:
    """Follow a call through a chain whose definitions are all known.

    Args:
        chain: accepted or not; a layer that does not fit ends the way.
        command: names or aliases from the root.
        given: the input, canonical JSON of the outermost definition's record.
        outcome: what the tool answers.
        profile: the rules in force.
        tool: under which name it is bound; empty for the outermost definition's.
        authority: whose cards decide each call; None where they are not known, and then nothing is said of them.
        steps: how much work its values and their types may take.

    Raises:
        InputError: CHAIN009, where the outermost definition is not known or the input cannot be read at all; CHAIN006
            where there is too much to follow.
    """
    if chain.effective is None:
        raise InputError.of("CHAIN009", "the outermost definition is not known: " + "; ".join(chain.unknown))
    name = tool or chain.effective.name
    try:
        with within(steps):
            return _Follower(chain, command, profile, name, authority, [], []).follow(given, outcome)
    except OutOfStepsError:
        raise InputError.of("CHAIN006", "the call carries more than one question may follow") from None


def authority_of(row: ChainRow, agent: str) -> Authority | None:
    """Whose cards decide: those of the agent type named, or of the first whose cards are known."""
    return next((found for found in row.authorities if not agent or found.agent == agent), None)


@dataclass(slots=True)
class _Follower:
    chain: Chain
    command: tuple[str, ...]
    profile: Profile
    bound: str
    authority: Authority | None
    inward: list[Step]
    outward: list[Step]
    failure: Underlying | None = None
    open: list[str] = field(default_factory=list)

    def follow(self, given: JsonValue, outcome: Outcome) -> Followed:
        """Both ways."""
        effective = self.chain.effective
        assert effective is not None  # asked for before
        arrived = self.arrive(effective, given)
        if arrived is None:
            return self.done(False)
        value = arrived
        crossed: list[Crossed] = []
        for edge in self.chain.edges:
            middleware = self.chain.layers[edge.layer - 1].middleware
            if middleware is None or edge.inner is None:
                self.end(layer_name(edge), "its definition, or that of what stands below it, was not given")
                return self.done(False)
            if isinstance(middleware.scope, Universal):
                self.tell(layer_name(edge), "universal: passes the call on as it is, if it forwards it")
                crossed.append(Crossed(edge, None, self.command))
                continue
            link = self.cross(edge, middleware.scope)
            crossed.append(Crossed(edge, link, self.command))
            moved = None if link is None else self.project(edge, link, value)
            if moved is None:
                if self.failure is not None:
                    self.outward.extend(failure_steps(crossed, self.failure))
                return self.done(False)
            value = moved
        leaf = self.chain.leaf
        if leaf is None:
            self.end("the tool", "its definition was not given")
            return self.done(False)
        self.tell(leaf.name, "the tool is called", self.shown(leaf, value))
        self.outward.extend(outcome_steps(leaf, self.command, crossed, outcome, self.profile))
        return self.done(True)

    def done(self, reaches: bool) -> Followed:
        """The answer so far."""
        return Followed(tuple(self.inward), tuple(self.outward), reaches, tuple(self.open))

    def tell(self, where: str, words: str, value: str = "") -> None:
        """Note a step inward."""
        self.inward.append(Step(where, words, value))

    def end(self, where: str, words: str, failure: Underlying | None = None) -> None:
        """Note the step at which the call ends; below a layer, the failure that the layer sees."""
        self.inward.append(Step(where, words, is_end=True))
        self.failure = None if where == "host" else failure

    def record(self, tool: Tool) -> CanonicalInput | None:
        """The input record of the command on one side."""
        found = canonical_input(tool, self.command, ENGINES, wraps_optional=self.profile.optional_wrapping)
        return found if isinstance(found, CanonicalInput) else None

    def shown(self, tool: Tool, value: SchemaValue) -> str:
        """An input as JSON."""
        record = self.record(tool)
        return "" if record is None else shown_value(value, record.graph, ENGINES)

    def arrive(self, effective: Tool, given: JsonValue) -> SchemaValue | None:
        """The host's checks of the call, in their order, up to the permission target."""
        name = " ".join((effective.name, *self.command))
        record = self.record(effective)
        if record is None:
            self.end("host", f"`{name}` is no command that can be called: `InvalidCommandPath`")
            return None
        # further inside a command is named as it is declared: aliases only count where they are written
        self.command = tuple(effective.commands[index].name for index in self._path(effective))
        value = decode_json(given, record.graph, ENGINES, form=self.profile.json_form)
        if isinstance(value, JsonFault):
            self.end("host", f"the input does not decode at `{value.path}`, {value.reason}: `InvalidInput`")
            return None
        self.tell("caller", f"calls `{name}`", shown_value(value, record.graph, ENGINES))
        return value if self.boundary("host", effective, record, value) else None

    def boundary(self, where: str, tool: Tool, record: CanonicalInput, value: SchemaValue) -> bool:
        """Checks 5 to 9 of a call on one definition."""
        broken = violations_of(value, record.graph, ENGINES)
        if broken:
            place = " › ".join(broken[0].path) or "the input"
            self.end(where, f"{violation_words(broken[0].kind)} at {place}: `InvalidInput`", Underlying.INVALID_INPUT)
            return False
        body = tool.commands[record.node].body or Body()
        assert isinstance(value, RecordValue)  # the root of the graph is a record
        index = first_broken(body.constraints, Given.of(record.fields, value))
        if index is not None:
            words = f"constraint {index + 1} of the command does not hold: `ConstraintViolation`"
            self.end(where, words, Underlying.CONSTRAINT_VIOLATION)
            return False
        written = written_arguments(
            tool,
            self.command,
            value,
            wraps_optional=self.profile.optional_wrapping,
            by_definition=self.profile.optional_wrapping,
            quotes=self.profile.quoted_arguments,
        )
        if isinstance(written, NoArguments):
            self.end(where, f"{written.reason}: `InvalidInput`", Underlying.INVALID_INPUT)
            return False
        target = " ".join([".".join(self.command), *(word.text for word in written)]).strip() or "(nothing)"
        bound = self.bound if where == "host" else tool.name
        self.tell(where, f"checks pass; permission target `tool(…/{bound}) : invoke : {target}`")
        return self.admits(where, tool, written)

    def admits(self, where: str, tool: Tool, words: tuple[Written, ...]) -> bool:
        """Check 9: whether the cards let the call through, where they are known."""
        authority = self.authority
        is_inward = where != "host"
        if authority is None or (is_inward and not self.profile.underlying_permission_check):
            return True
        call: Invocation | None = None
        try:
            call = invocation_of_call(self.command, [word.text for word in words])
        except ValueError as bad:
            if not authority.rules.is_next("tool_argument_kinds"):
                told = f"`{bad}` is no legal argument of a target: `ProtocolError`"
                self.end(where, told, Underlying.PROTOCOL_ERROR)
                return False
        if authority.rules.is_next("tool_argument_kinds") and any(
            word.is_positional and (word.text[:1] in ("", "-")) for word in words
        ):
            call = None
        names = dict.fromkeys((self.bound, tool.name) if is_inward else (self.bound,))
        found = {authority.grants.decide_call(n, call, authority.implementer, self.profile) for n in names}
        decided = found.pop() if len(found) == 1 else Decided.UNDECIDED
        match decided:
            case Decided.ALWAYS:
                self.tell(where, f"the cards of `{authority.agent}` let it through")
            case Decided.NEVER:
                seen = "the layer sees `denied`" if is_inward else "`Denied`"
                self.end(where, f"no card of `{authority.agent}` lets it through: {seen}", Underlying.DENIED)
            case _:
                self.tell(where, f"whether the cards of `{authority.agent}` let it through is not decided")
                self.open.append(where)
        return decided is not Decided.NEVER

    def cross(self, edge: Edge, scope: Monomorphic) -> CommandLink | None:
        """The link by which a layer calls inward, or the reason why the way ends at it."""
        where = layer_name(edge)
        if scope.expected is None:
            self.end(where, "a wildcard: its handler decides what it calls, policyd cannot follow it")
            return None
        if edge.found is None or not edge.found.is_accepted:
            self.end(where, "does not fit what stands below it: the deployment is refused")
            return None
        outer, inner = self.record(scope.presented), self.record(scope.expected)
        if outer is None or inner is None or not are_equivalent(outer.graph, inner.graph):
            self.end(where, "an adapter: its handler decides what it calls, policyd cannot follow it")
            return None
        names = tuple(scope.expected.commands[i].name for i in self._path(scope.expected))
        link = next((found for found in edge.found.commands if found.path == names), None)
        if link is None:
            words = "`invalid-command-path`: what it expects has no such command"
            self.end(where, words, Underlying.INVALID_COMMAND_PATH)
        else:
            self.tell(where, "presents what it expects; followed as if it forwards the call unchanged")
        return link

    def _path(self, tool: Tool) -> list[int]:
        found: list[int] = []
        index = 0
        for word in self.command:
            index = next(c for c in tool.children(index) if word in (tool.commands[c].name, *tool.commands[c].aliases))
            found.append(index)
        return found

    def project(self, edge: Edge, link: CommandLink, value: SchemaValue) -> SchemaValue | None:
        """The record for what stands below."""
        where = layer_name(edge)
        self.command = link.path
        expected = edge.expected
        record = None if expected is None else self.record(expected)
        if expected is not None and record is not None and isinstance(value, RecordValue):
            constraints = (expected.commands[record.node].body or Body()).constraints
            index = first_broken(constraints, Given.of(record.fields, value))
            if index is not None:
                words = (
                    f"constraint {index + 1} of what it expects does not hold: the layer sees `constraint-violation`"
                )
                self.end(where, words, Underlying.CONSTRAINT_VIOLATION)
                return None
        carried = link.input.carry(value, ENGINES)
        if isinstance(carried, Unshaped):
            if carried.is_undecided:
                self.end(where, "an engine for patterns or URLs would have to decide")
            else:
                broken = violation_words(carried.violations[0].kind) if carried.violations else "it does not fit"
                words = f"the input does not pass inward, {broken}: the layer sees `invalid-result`"
                self.end(where, words, Underlying.INVALID_RESULT)
            return None
        inner = edge.inner
        assert inner is not None  # asked for before
        told = [f"`{field.name}` is put in" for field in link.input.fields if isinstance(field, Injected)]
        told += [f"`{name}` is thrown away" for name in link.input.discarded]
        shown = shown_value(carried.value, link.input.target, ENGINES)
        if told or carried.value != value:
            self.tell(where, "the input is projected" + (": " + ", ".join(told) if told else ""), shown)
        record = self.record(inner)
        below = f"host, below {where}"
        if record is None or not self.boundary(below, inner, record, carried.value):
            return None
        return carried.value


def followed_lines(followed: Followed) -> list[str]:
    """The way as numbered lines."""
    lines: list[str] = []
    for head, steps in (("inward:", followed.inward), ("outward:", followed.outward)):
        if steps:
            lines.append(head)
        for number, step in enumerate(steps, 1):
            lines.append(f"  {number}. {step.where}: {step.words}" + (" — the call ends here" if step.is_end else ""))
            if step.value:
                lines.append(f"     {step.value}")
    why = {
        "yes": "yes, if every layer forwards",
        "no": "no",
        "unknown": f"unknown: whether the cards let it through is not decided at {', '.join(followed.open)}",
    }
    lines.append(f"reaches the tool: {why[followed.reaches]}")
    return lines


def followed_json(followed: Followed) -> dict[str, object]:
    """The way as JSON."""

    def step(found: Step) -> dict[str, object]:
        value = None
        if found.value:
            try:
                value = json.loads(found.value)
            except ValueError:
                value = found.value
        return {"where": found.where, "words": found.words, "value": value, "ends": found.is_end}

    return {
        "inward": [step(found) for found in followed.inward],
        "outward": [step(found) for found in followed.outward],
        "reaches": followed.reaches,
        "reachesTool": followed.reaches == "yes",
    }
