"""Chains of middleware over a tool: each layer against what stands below it, from the inside out.

Source: middleware 4.1 to 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum

from policyd.core.schema.text_wish import Texts
from policyd.core.tools.compat import Compatibility, compatibility
from policyd.core.tools.compat_inputs import Injected
from policyd.core.tools.incompatibility import Incompatibility, IncompatibilityKind
from policyd.core.tools.inheritance import inherited_errors, with_errors
from policyd.core.tools.lifted_inputs import lifted_remarks
from policyd.core.tools.middleware import Middleware, Monomorphic, Universal
from policyd.core.tools.modes import Mode
from policyd.core.tools.profile import Profile
from policyd.core.tools.remarks import Remark, pair_remarks, presented_remarks
from policyd.core.tools.tool import Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind
from policyd.core.tools.validate import tool_faults

MAX_LAYERS = 1_000
"""Layers of one chain."""


class Verdict(Enum):
    """The answer of a comparison or a chain, as it is printed."""

    ACCEPT = "accept"
    ACCEPT_WITH_WARNINGS = "accept with warnings"
    REJECT = "reject"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Layer:
    """One installation in a chain.

    Attributes:
        name: as it is installed.
        middleware: its definition; None where that was not given.
    """

    name: str
    middleware: Middleware | None


@dataclass(frozen=True, slots=True)
class Conflicting:
    """An error that a layer would have to present in two forms."""

    error: str
    path: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Edge:
    """What a layer comes to over what stands below it.

    Attributes:
        layer: position from the outside, from 1.
        name: of the layer.
        below: position of the next layer, None for the tool itself.
        expected: what a monomorphic layer expects; None for universal ones and wildcards.
        inner: the effective definition below; None where it is not known.
        found: the comparison; None where there is none (universal, wildcard, unknown).
        conflicts: errors that cannot be passed on.
        synthesized: faults of what the layer would present with the errors passed on.
        inherited: names of errors that are passed on, and whether a call through the layer can end in them.
        remarks: beside the verdict.
        effective: the definition visible above the layer; None where it is not known.
    """

    layer: int
    name: str
    below: int | None
    expected: Tool | None
    inner: Tool | None
    found: Compatibility | None
    conflicts: tuple[Conflicting, ...] = ()
    synthesized: tuple[ToolFault, ...] = ()
    inherited: tuple[tuple[str, bool], ...] = ()
    remarks: tuple[Remark, ...] = ()
    effective: Tool | None = None

    @property
    def injected(self) -> tuple[tuple[tuple[str, ...], str], ...]:
        """Inputs of what stands below that are filled without the caller: command and name."""
        if self.found is None:
            return ()
        return tuple(
            (link.path, item.name)
            for link in self.found.commands
            for item in link.input.fields
            if isinstance(item, Injected)
        )

    @property
    def is_refused(self) -> bool:
        """Whether the layer may not stand there."""
        refused = self.found is not None and any(not is_open(reason) for reason in self.found.errors)
        return (
            refused or bool(self.conflicts) or any(f.kind is not ToolFaultKind.NEEDS_ENGINE for f in self.synthesized)
        )


def is_open(reason: Incompatibility) -> bool:
    """Whether a reason only says that an engine is missing."""
    return reason.fault is not None and reason.fault.kind is ToolFaultKind.NEEDS_ENGINE


@dataclass(frozen=True, slots=True)
class Chain:
    """A compiled chain.

    Attributes:
        layers: outermost first.
        leaf: the tool at the end; None where its definition was not given.
        mode: in which it was compiled.
        edges: one per layer, outermost first.
        effective: what callers see; None where it is not known.
        unknown: sentences on what was not given or could not be decided.
    """

    layers: tuple[Layer, ...]
    leaf: Tool | None
    mode: Mode
    edges: tuple[Edge, ...]
    effective: Tool | None
    unknown: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """Reject beats undecided, and both beat warnings."""
        if any(edge.is_refused for edge in self.edges):
            return Verdict.REJECT
        if self.unknown:
            return Verdict.UNDECIDED
        told = {remark.label for edge in self.edges for remark in edge.remarks}
        warned = told & {"INPUT_DISCARDED", "GOLEM_WOULD_REJECT"}
        return Verdict.ACCEPT_WITH_WARNINGS if warned else Verdict.ACCEPT


def compile_chain(
    layers: tuple[Layer, ...], leaf: Tool | None, mode: Mode, texts: Texts, profile: Profile, leaf_name: str = ""
) -> Chain:
    """The chain of `layers`, outermost first, over `leaf`.

    Args:
        layers: 0..n installations.
        leaf: the tool itself; None where its definition was not given.
        mode: how much may differ.
        texts: engines, and a finder.
        profile: the rules in force.
        leaf_name: how the tool is called where its definition was not given.
    """
    effective = leaf
    unknown: list[str] = []
    if leaf is None:
        unknown.append(f"the definition of tool `{leaf_name}` was not given")
    edges: list[Edge] = []
    # the same middleware over the same definition is compared once; what the numbers stand for lives in the edges
    known: dict[tuple[int, int], Edge] = {}
    for position in range(len(layers), 0, -1):
        layer = layers[position - 1]
        below = position + 1 if position < len(layers) else None
        pair = (id(layer.middleware), id(effective))
        same = known.get(pair)
        if same is None:
            edge = known[pair] = _edge(layer, position, below, effective, mode, texts, profile)
        else:
            edge = replace(same, layer=position, name=layer.name, below=below)
        unknown.extend(_open_ends(edge, layer))
        edges.append(edge)
        effective = edge.effective
    return Chain(layers, leaf, mode, tuple(reversed(edges)), effective, tuple(dict.fromkeys(unknown)))


def _open_ends(edge: Edge, layer: Layer) -> list[str]:
    """What a layer leaves undecided."""
    if layer.middleware is None:
        return [f"the definition of middleware `{layer.name}` was not given"]
    faults = [reason.fault for reason in (() if edge.found is None else edge.found.errors) if is_open(reason)]
    if faults or any(fault.kind is ToolFaultKind.NEEDS_ENGINE for fault in edge.synthesized):
        return [f"a regular expression or URL in the definitions at `{layer.name}` could not be judged"]
    return []


def _edge(
    layer: Layer, position: int, below: int | None, inner: Tool | None, mode: Mode, texts: Texts, profile: Profile
) -> Edge:
    middleware = layer.middleware
    if middleware is None:
        return Edge(position, layer.name, below, None, inner, None)
    scope = middleware.scope
    if isinstance(scope, Universal):
        return Edge(position, layer.name, below, None, inner, None, effective=inner)
    if inner is None:
        return Edge(position, layer.name, below, scope.expected, None, None, effective=scope.presented)
    return _monomorphic(layer, scope, position, below, inner, mode, texts, profile)


def _monomorphic(
    layer: Layer,
    scope: Monomorphic,
    position: int,
    below: int | None,
    inner: Tool,
    mode: Mode,
    texts: Texts,
    profile: Profile,
) -> Edge:
    found: Compatibility | None = None
    remarks: tuple[Remark, ...] = ()
    if scope.expected is not None:
        found = compatibility(
            scope.expected,
            inner,
            mode,
            texts.engines,
            error_rule=profile.error_rule,
            wraps_optional=profile.optional_wrapping,
        )
        if found.is_accepted:
            remarks = pair_remarks(scope.expected, inner, mode, texts, wraps_optional=profile.optional_wrapping)
        elif profile.option_lift and mode is Mode.STRUCTURAL_SUBTYPE:
            wraps = profile.optional_wrapping
            remarks = lifted_remarks(scope.expected, inner, found, texts.engines, wraps_optional=wraps)
            found = Compatibility(()) if remarks else found
    told = {(remark.label, remark.path) for remark in remarks}
    of_itself = (r for r in presented_remarks(scope.presented, inner) if (r.label, r.path) not in told)
    remarks = (*remarks, *of_itself)
    inherited, clashes = inherited_errors(scope.expected, inner)
    presented, conflicts = with_errors(scope.presented, inherited)
    synthesized = tool_faults(presented, texts.engines) if inherited else ()
    return Edge(
        position,
        layer.name,
        below,
        scope.expected,
        inner,
        found,
        tuple(Conflicting(conflict.name, conflict.path) for conflict in (*clashes, *conflicts)),
        synthesized,
        tuple((item.error.name, item.is_reachable) for item in inherited),
        remarks,
        presented,
    )


def invalid_reasons(edge: Edge) -> tuple[Incompatibility, ...]:
    """The reasons of an edge that are about a definition that is not valid by itself."""
    kinds = (IncompatibilityKind.INVALID_EXPECTED, IncompatibilityKind.INVALID_INNER)
    return () if edge.found is None else tuple(reason for reason in edge.found.errors if reason.kind in kinds)
