"""Whether one tool may stand where another is expected, in each of the three modes.

Inputs go from the expected tool to the inner one, results and error payloads the other way.

Source: middleware 3.5 to 3.12.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.schema.engines import Engines
from policyd.core.tools.canonical_input import input_of_valid
from policyd.core.tools.command_tree import Placed, callable_paths
from policyd.core.tools.compat_errors import ErrorLink, ErrorRule, link_errors
from policyd.core.tools.compat_inputs import InputLink, link_inputs
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.modes import Mode, Passage, passage
from policyd.core.tools.strict import are_strictly_equal
from policyd.core.tools.tool import Body, ResultContract, StreamContract, Tool
from policyd.core.tools.tool_faults import ToolFault
from policyd.core.tools.validate import tool_faults


@dataclass(frozen=True, slots=True)
class CommandLink:
    """How calls of one command of the expected tool are passed on.

    Attributes:
        path: canonical names from the root; empty for the root.
        input: how the inner record is built.
        result: how the result comes back; None when there is none.
        errors: the inner command's errors, in its order.
    """

    path: tuple[str, ...]
    input: InputLink
    result: Passage | None
    errors: tuple[ErrorLink, ...]


@dataclass(frozen=True, slots=True)
class Discarded:
    """An input that the inner command does not take: what callers give for it is thrown away."""

    path: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Compatibility:
    """The answer for one mode.

    Attributes:
        errors: why it is refused; empty when it is accepted.
        commands: the links of every command of the expected tool, when it is accepted; sorted by path.
        discarded: inputs that are thrown away, which Golem warns about; when it is accepted.
    """

    errors: tuple[Incompatibility, ...]
    commands: tuple[CommandLink, ...] = ()
    discarded: tuple[Discarded, ...] = ()

    @property
    def is_accepted(self) -> bool:
        """Whether the inner tool may stand there."""
        return not self.errors


def compatibility(
    expected: Tool,
    inner: Tool,
    mode: Mode,
    engines: Engines,
    *,
    error_rule: ErrorRule = ErrorRule.INNER_SUBSET,
    wraps_optional: bool = True,
) -> Compatibility:
    """Whether `inner` may stand where `expected` is expected.

    Args:
        expected: what the layer above was built for.
        inner: what stands below.
        mode: how much may differ.
        engines: for regular expressions and URLs in definitions and their defaults.
        error_rule: which side's errors decide.
        wraps_optional: whether inputs that are neither required nor defaulted are options.
    """
    invalid = (*_invalid(expected, True, engines), *_invalid(inner, False, engines))
    if invalid:
        return Compatibility(invalid)
    if expected.name != inner.name:
        return Compatibility((Incompatibility(IncompatibilityKind.TOOL_NAME_MISMATCH),))
    if mode is Mode.STRICT_EQUALITY and not are_strictly_equal(expected, inner):
        return Compatibility((Incompatibility(IncompatibilityKind.NOT_STRICTLY_EQUAL),))
    linker = _Linker(expected, inner, mode, engines, error_rule, wraps_optional, [], [], [])
    below = callable_paths(inner)
    for path, place in sorted(callable_paths(expected).items()):
        linker.link(path, place, below.get(path))
    if linker.errors:
        return Compatibility(tuple(linker.errors))
    return Compatibility((), tuple(linker.links), tuple(linker.discarded))


def _invalid(tool: Tool, is_expected: bool, engines: Engines) -> tuple[Incompatibility, ...]:
    kind = IncompatibilityKind.INVALID_EXPECTED if is_expected else IncompatibilityKind.INVALID_INNER
    return tuple(Incompatibility(kind, fault=fault) for fault in tool_faults(tool, engines))


@dataclass(frozen=True, slots=True)
class _Linker:
    """One comparison of two valid tools of the same name."""

    expected: Tool
    inner: Tool
    mode: Mode
    engines: Engines
    error_rule: ErrorRule
    wraps_optional: bool
    errors: list[Incompatibility]
    links: list[CommandLink]
    discarded: list[Discarded]

    def refuse(
        self, kind: IncompatibilityKind, path: tuple[str, ...], place: str = "", fault: ToolFault | None = None
    ) -> None:
        """Note why a command is refused."""
        self.errors.append(Incompatibility(kind, path, place, fault))

    def link(self, path: tuple[str, ...], above: Placed, below: Placed | None) -> None:
        """Compare one command of the expected tool with the inner one of the same path."""
        outer = self.expected.commands[above.index].body
        inner = None if below is None else self.inner.commands[below.index].body
        if outer is None or below is None or inner is None:
            self.refuse(IncompatibilityKind.COMMAND_MISSING, path)
            return
        if not self.constraints_fit(outer, inner):
            self.refuse(IncompatibilityKind.CONSTRAINT_NOT_GUARANTEED, path)
            return
        differing = _differing_stream(outer, inner)
        if differing is not None:
            self.refuse(IncompatibilityKind.STREAM_CONTRACT_DIFFERS, path, f".{differing}")
            return
        inputs = self.inputs(path, above, below)
        result = self.result(path, outer.result, inner.result)
        errors, refused = link_errors(
            outer.errors,
            inner.errors,
            self.mode,
            self.expected.schema.definitions,
            self.inner.schema.definitions,
            self.error_rule,
        )
        self.errors.extend(problem.within(path) for problem in refused)
        if inputs is not None:
            self.discarded.extend(Discarded(path, name) for name in inputs.discarded)
            self.links.append(CommandLink(path, inputs, result, errors))

    def constraints_fit(self, outer: Body, inner: Body) -> bool:
        """Whether the expected command promises what the inner one demands."""
        if self.mode is Mode.NOMINAL:
            return True
        if self.mode is Mode.STRICT_EQUALITY:
            return outer.constraints == inner.constraints
        return all(constraint in outer.constraints for constraint in inner.constraints)

    def inputs(self, path: tuple[str, ...], above: Placed, below: Placed) -> InputLink | None:
        """How the inner record is built, or None after noting why it cannot be."""
        source = input_of_valid(self.expected, above, self.engines, wraps_optional=self.wraps_optional)
        target = input_of_valid(self.inner, below, self.engines, wraps_optional=self.wraps_optional)
        for found in (source, target):
            if isinstance(found, ToolFault):
                self.refuse(IncompatibilityKind.NO_CANONICAL_INPUT, path, fault=found)
                return None
        assert not isinstance(source, ToolFault)
        assert not isinstance(target, ToolFault)
        linked = link_inputs(source, target, self.mode)
        if isinstance(linked, Incompatibility):
            self.errors.append(linked.within(path))
            return None
        return linked

    def result(
        self, path: tuple[str, ...], outer: ResultContract | None, inner: ResultContract | None
    ) -> Passage | None:
        """How the result comes back; None when there is none, or after noting why it cannot."""
        if outer is None or inner is None:
            if outer is not inner:
                self.refuse(IncompatibilityKind.RESULT_PRESENCE_DIFFERS, path, ".result")
            return None
        found = passage(
            inner.type, self.inner.schema.definitions, outer.type, self.expected.schema.definitions, self.mode
        )
        if isinstance(found, Passage):
            return found
        self.errors.append(found.located(IncompatibilityKind.RESULT_NOT_SUBSTITUTABLE, path, ".result"))
        return None


def _differing_stream(outer: Body, inner: Body) -> str | None:
    """The first stream whose contracts differ, documentation apart."""

    def contract(stream: StreamContract | None) -> object:
        return None if stream is None else (stream.mime, stream.required)

    for name, one, other in (
        ("stdin", outer.stdin, inner.stdin),
        ("stdout", outer.stdout, inner.stdout),
        ("stderr", outer.stderr, inner.stderr),
    ):
        if contract(one) != contract(other):
            return name
    return None
