"""Everything that is registered, used or not: valid definitions, names of one meaning, features that guests need.

Source: middleware 1.3, 2.1, 4.2 (steps 0 and 7), 8.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from policyd.core.schema.engines import Engines
from policyd.core.schema.graph import Graph
from policyd.core.schema.types import SchemaType, StringRule, TextRule, TextType, UnionType, UrlType, walk
from policyd.core.schema.wellformed import faults_of
from policyd.core.tools.canonical_input import input_of_valid
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.middleware import EmbeddedFaults, Middleware, Monomorphic, middleware_faults
from policyd.core.tools.positions import positions_of
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import Tool
from policyd.core.tools.tool_faults import ToolFault, ToolFaultKind
from policyd.core.tools.validate import tool_faults

RESERVED = "middleware"
"""The name that no tool can have."""


@dataclass(frozen=True, slots=True)
class Registered:
    """Something to tell about a registered tool or middleware.

    Attributes:
        label: of the specification.
        what: `tool` or `middleware`.
        name: under which it is registered.
        words: one line.
        is_open: whether only an engine was missing.
    """

    label: str
    what: str
    name: str
    words: str
    is_open: bool = False


def registry_remarks(
    tools: Mapping[str, Tool], middleware: Mapping[str, Middleware], profile: Profile, engines: Engines
) -> tuple[Registered, ...]:
    """Everything to tell about what is registered, whether any chain uses it or not."""
    return (
        *_identities(tools, middleware),
        *(told for name, tool in tools.items() for told in _tool(name, tool, profile, engines)),
        *(told for name, item in middleware.items() for told in _middleware(name, item, profile, engines)),
    )


def _identities(tools: Mapping[str, Tool], middleware: Mapping[str, Middleware]) -> Iterator[Registered]:
    for name, tool in tools.items():
        if RESERVED in (name, tool.name):
            words = f"`{RESERVED}` cannot be the name of a tool: the manifest declares middleware under it"
            yield Registered("RESERVED_NAME", "tool", name, words)
    taken: dict[str, str] = {}
    for name, item in middleware.items():
        for identity in dict.fromkeys((name, *item.aliases)):
            owner = taken.setdefault(identity, name)
            if owner != name:
                words = f"`{identity}` is a name or alias of middleware `{owner}` too"
                yield Registered("DUPLICATE_IDENTITY", "middleware", name, words)


def _faults(what: str, name: str, faults: Iterable[ToolFault], within: str = "") -> Iterator[Registered]:
    for fault in faults:
        is_open = fault.kind is ToolFaultKind.NEEDS_ENGINE
        label = "ENGINE_MISSING" if is_open else "INVALID_DEFINITION"
        if fault.kind is ToolFaultKind.DUPLICATE_IDENTITY:
            label = fault.kind.name
        yield Registered(label, what, name, within + fault_text(fault), is_open)


def fault_text(fault: ToolFault) -> str:
    """One fault of a definition in the platform's words.

    >>> fault_text(ToolFault(ToolFaultKind.DUPLICATE_NAME, "read", name="max"))
    'DuplicateName in `read`: `max`'
    """
    about = (fault.name, fault.value, fault.short, fault.id, fault.position, fault.formatter, fault.positional)
    first = next((part for part in about if part is not None), None)
    if first is None and fault.index is not None:
        first = f"command {fault.index}"
    where = f" in `{fault.command}`" if fault.command is not None else ""
    return f"{fault.kind.value}{where}" + (f": `{first}`" if first is not None else "")


def _tool(name: str, tool: Tool, profile: Profile, engines: Engines) -> Iterator[Registered]:
    faults = tool_faults(tool, engines)
    yield from _faults("tool", name, faults)
    if not faults:
        for path, place in callable_paths(tool).items():
            found = input_of_valid(tool, place, engines, wraps_optional=profile.optional_wrapping)
            if isinstance(found, ToolFault):
                where = " ".join(path) or "the root command"
                words = f"{where} has no canonical input, so no layer and no caller can use it"
                yield Registered("NO_CANONICAL_INPUT", "tool", name, words)
    yield from _features("tool", name, tool_types(tool), profile)


def _middleware(name: str, item: Middleware, profile: Profile, engines: Engines) -> Iterator[Registered]:
    for fault in middleware_faults(item, engines):
        if isinstance(fault, EmbeddedFaults):
            yield from _faults("middleware", name, fault.faults, f"its {fault.part} tool is not valid: ")
        else:
            yield from _faults("middleware", name, (fault,))
    for problem in faults_of(item.parameter_schema, engines):
        label = "ENGINE_MISSING" if problem.is_undecided else "INVALID_DEFINITION"
        words = f"the schema of its parameters is not well-formed: {problem.kind.value}"
        yield Registered(label, "middleware", name, words, problem.is_undecided)
    schema = item.parameter_schema
    types = [schema.root, *(part.body for part in schema.definitions.items)]
    if isinstance(item.scope, Monomorphic):
        types.extend(tool_types(item.scope.presented))
        types.extend(() if item.scope.expected is None else tool_types(item.scope.expected))
    yield from _features("middleware", name, types, profile)


def tool_types(tool: Tool) -> Iterator[SchemaType]:
    """Every type that is written in a tool."""
    yield from (position.type for position in positions_of(tool))
    yield from (item.body for item in tool.schema.definitions.items)


def _features(what: str, name: str, types: Iterable[SchemaType], profile: Profile) -> Iterator[Registered]:
    """What a guest built without a feature cannot do."""
    if profile.regex and profile.url:
        return
    needs = needed_features(types)
    for feature, is_there in (("regex", profile.regex), ("url", profile.url)):
        if feature in needs and not is_there:
            words = f"its types need the feature `{feature}`, without which the guest answers with an error"
            yield Registered("FEATURE_REQUIRED", what, name, words)


def needed_features(types: Iterable[SchemaType]) -> frozenset[str]:
    """The features that validating values of these types needs: `regex`, `url`.

    >>> sorted(needed_features([UrlType()]))
    ['url']
    """
    found: set[str] = set()
    for schema in types:
        for part in walk(schema):
            match part:
                case TextType(text) if text.regex is not None:
                    found.add("regex")
                case UrlType():
                    found.add("url")
                case UnionType(branches):
                    for branch in branches:
                        match branch.discriminator:
                            case StringRule(TextRule.REGEX):
                                found.add("regex")
                            case _:
                                continue
                case _:
                    continue
    return frozenset(found)


def graph_features(graph: Graph) -> frozenset[str]:
    """The same for a schema with its definitions."""
    return needed_features([graph.root, *(item.body for item in graph.definitions.reachable([graph.root]))])
