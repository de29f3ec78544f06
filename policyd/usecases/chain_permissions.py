"""The tool permissions that a chain asks for, hop by hop, and what is odd about the grants for it.

Source: middleware 4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from policyd.core.grants.resources import Invocation
from policyd.core.schema.numbers import Family
from policyd.core.schema.types import NumberType, PathType, TextType, UrlType
from policyd.core.tools.canonical_input import input_fields
from policyd.core.tools.chain import Chain
from policyd.core.tools.command_tree import callable_paths, find_command
from policyd.core.tools.compat_inputs import Injected
from policyd.core.tools.middleware import Universal
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import Body, BoolFlag, Flag, Option, Positional, Tail, Tool
from policyd.findings import Finding
from policyd.usecases.chain_authority import CallShape, Decided, ToolGrants
from policyd.usecases.chain_words import finding

MAX_PERMISSION_ROWS = 2_000
"""Rows of one chain and agent."""


@dataclass(frozen=True, slots=True)
class PermissionRow:
    """One call along a chain.

    Attributes:
        agent: whose cards decide.
        source: who calls: `agent`, or a layer by position and name.
        tool: in the target.
        command: canonical names from the root.
        arguments: what stands behind the command, in words.
        decided: whether it is let through.
        layer: the position of the calling layer, None for the agent.
    """

    agent: str
    source: str
    tool: str
    command: tuple[str, ...]
    arguments: str
    decided: Decided
    layer: int | None = None

    @property
    def target(self) -> str:
        """The target without its owner.

        >>> PermissionRow("A", "agent", "grep", ("search",), "<arguments>", Decided.ALWAYS).target
        'tool(…/grep) : invoke : search <arguments>'
        """
        words = [".".join(self.command), self.arguments]
        return f"tool(…/{self.tool}) : invoke : {' '.join(word for word in words if word) or '(nothing)'}"


def permission_rows(
    chain: Chain,
    tool: str,
    agent: str,
    grants: ToolGrants,
    implementer: str,
    profile: Profile,
    *,
    by_definition: bool = True,
) -> tuple[PermissionRow, ...]:
    """Every call that an agent's use of a chain can ask for: its own, and those of layers that change something.

    Args:
        chain: compiled.
        tool: under which name it is bound.
        agent: whose cards decide.
        grants: those of its cards.
        implementer: the component that implements the tool.
        profile: the rules in force.
        by_definition: whether arguments are sorted by the definition, else by the look of their text.
    """
    rows: list[PermissionRow] = []
    if chain.effective is None:
        decided = grants.decide(CallShape(tool, None, True), implementer, profile)
        rows.append(PermissionRow(agent, "agent", tool, (), "<any command>", decided))
        return tuple(rows)
    for shape in shapes(chain.effective, by_definition=by_definition):
        decided = grants.decide(replace(shape, tool=tool), implementer, profile)
        words = "<arguments>" if shape.has_arguments else ""
        rows.append(PermissionRow(agent, "agent", tool, shape.command or (), words, decided))
        if len(rows) >= MAX_PERMISSION_ROWS:
            return tuple(rows)
    if not profile.underlying_permission_check:
        return tuple(rows)
    for edge in chain.edges:
        middleware = chain.layers[edge.layer - 1].middleware
        if middleware is None or edge.inner is None or edge.is_refused or isinstance(middleware.scope, Universal):
            continue
        # a typed layer calls what it expects, a wildcard may call anything that is there
        typed = None if edge.found is None else {link.path for link in edge.found.commands}
        names = dict.fromkeys((tool, edge.inner.name))
        for shape in shapes(edge.inner, by_definition=by_definition):
            path = shape.command or ()
            if typed is not None and path not in typed:
                continue
            decisions = {grants.decide(replace(shape, tool=name), implementer, profile) for name in names}
            decided = decisions.pop() if len(decisions) == 1 else Decided.UNDECIDED
            source = f"layer {edge.layer} ({edge.name})"
            words = "<arguments sent inward>" if shape.has_arguments else ""
            rows.append(PermissionRow(agent, source, edge.inner.name, path, words, decided, edge.layer))
            if len(rows) >= MAX_PERMISSION_ROWS:
                return tuple(rows)
    return tuple(rows)


def shapes(tool: Tool, *, by_definition: bool = True) -> Iterator[CallShape]:
    """The commands of a tool as calls without values, sorted."""
    for path, place in sorted(callable_paths(tool).items()):
        fields = list(input_fields(tool, place))
        longs = frozenset(name for field in fields for name in _longs(field.argument)) if by_definition else None
        yield CallShape(tool.name, path, bool(fields), longs)


def _longs(argument: Option | Flag | Positional | Tail) -> Iterator[str]:
    """The long names under which an argument stands in targets."""
    match argument:
        case Option(long):
            yield long
        case Flag(long, BoolFlag()):
            yield from (long, f"no-{long}")
        case Flag(long):
            yield long
        case _:
            return


def permission_findings(
    chain: Chain,
    tool: str,
    agent: str,
    grants: ToolGrants,
    rows: Sequence[PermissionRow],
    *,
    is_snapshot: bool,
    is_unasked: bool = False,
) -> Iterator[Finding]:
    """What is denied for certain, and grants that do not mean what they look like.

    Args:
        chain: the chain.
        tool: the name under which the tool is bound.
        agent: whose cards decide.
        grants: those cards.
        rows: the calls along the chain.
        is_snapshot: the edition.
        is_unasked: whether nobody wrote the binding; an agent whose cards leave out such a tool lacks nothing.
    """
    outer = [row for row in rows if row.layer is None]
    if outer and not is_unasked and all(row.decided is Decided.NEVER for row in outer):
        words = f"no card of `{agent}` lets it call `{tool}`: `Denied` before any layer runs"
        grant = f"tool(?component/{tool}) @ ?agent : invoke : *"
        yield finding("PERMISSION_DENIED", words, None, help=f"where its component provides the tool, grant `{grant}`")
    lent = {row.command for row in outer if row.decided is not Decided.NEVER}
    useful = {row.layer for row in rows if row.decided is not Decided.NEVER}
    for row in rows:
        if row.layer is None or row.decided is not Decided.NEVER:
            continue
        # of a layer that may call nothing at all every call is told, also of commands that nobody outside has
        if row.command in lent or (lent and row.layer not in useful):
            command = " ".join(row.command) or "the root command"
            words = (
                f"{row.source} calls {command} of `{row.tool}`, which no card of `{agent}` lets through: the layer "
                "sees `denied`, and forwarding it gives a constraint violation"
            )
            yield finding("PERMISSION_DENIED", words, None)
    yield from _drifts(chain, tool, grants, agent, rows)
    if chain.effective is not None:
        yield from _unwritable(chain.effective, tool, agent, grants)
        if is_snapshot:
            yield from _confusable(chain.effective, tool, agent, grants)


def _drifts(
    chain: Chain, tool: str, grants: ToolGrants, agent: str, rows: Sequence[PermissionRow]
) -> Iterator[Finding]:
    """Exact grants that stop fitting because a default is put in further inside, where such calls are checked."""
    decided = {(row.layer, row.command): row.decided for row in rows}
    for edge in chain.edges:
        if edge.found is None or edge.inner is None:
            continue
        for link in edge.found.commands:
            if decided.get((edge.layer, link.path), Decided.ALWAYS) is Decided.ALWAYS:
                continue
            added = [
                item.name
                for item in link.input.fields
                if isinstance(item, Injected) and _is_written(edge.inner, link.path, item)
            ]
            if added and any(True for _ in grants.exact(link.path, (tool, edge.inner.name))):
                command = " ".join(link.path) or "the root command"
                names = ", ".join(f"`--{name}`" for name in added)
                words = (
                    f"layer {edge.layer} ({edge.name}): {command} gets {names} from its default, so that a grant "
                    f"of `{agent}` with exact arguments no longer fits the call inward"
                )
                yield finding("GRANT_ARGS_DRIFT", words, None)


def _is_written(inner: Tool, path: tuple[str, ...], item: Injected) -> bool:
    """Whether a put-in value stands in targets: defaults of options and positionals do, flags at rest do not."""
    place = find_command(inner, path)
    if place is None:
        return False
    found = next((field.argument for field in input_fields(inner, place) if field.name == item.name), None)
    return isinstance(found, (Option, Positional)) and found.default is not None


def _unwritable(effective: Tool, tool: str, agent: str, grants: ToolGrants) -> Iterator[Finding]:
    """Exact grants that no call can match."""
    paths = {shape.command for shape in shapes(effective)}
    root = effective.commands[0].body
    for lists in grants.lists.values():
        for grant in lists:
            resource = grant.target.resource
            if not isinstance(resource, Invocation) or grant.target.owner.known[4:] not in ((), (tool,)):
                continue
            command = resource.command or ()
            short = next((a.text for a in resource.arguments if a.text[:1] == "-" and a.text[:2] != "--"), None)
            if short is not None:
                words = f"a grant of `{agent}` names `{short}`, and targets always have long names: it never matches"
                yield finding("UNEXPRESSIBLE_GRANT", words, None, help="write the long name")
            elif command and command not in paths and root is not None and root.fixed and len(command) == 1:
                words = (
                    f"a grant of `{agent}` begins with `{command[0]}`, which is read as a command, not as the argument "
                    f"`{root.fixed[0].name}`: only `*` can grant such calls"
                )
                yield finding("UNEXPRESSIBLE_GRANT", words, None)


def _confusable(effective: Tool, tool: str, agent: str, grants: ToolGrants) -> Iterator[Finding]:
    """Positionals whose text can look like an option of an exact grant."""
    for path, place in callable_paths(effective).items():
        body = effective.commands[place.index].body or Body()
        loose = [p.name for p in body.fixed if _is_loose(p, effective)]
        if loose and any(grant.target.resource != Invocation(path or None) for grant in grants.exact(path, (tool,))):
            command = " ".join(path) or "the root command"
            words = (
                f"`{tool}` {command}: the text of `{loose[0]}` can look like an option, so that a call fits an "
                f"exact grant of `{agent}` that nobody meant"
            )
            yield finding("TARGET_CONFUSION", words, None)


def _is_loose(positional: Positional, tool: Tool) -> bool:
    found = tool.schema.definitions.resolve(positional.type).type
    if isinstance(found, NumberType):
        return found.kind.family is not Family.UNSIGNED
    return isinstance(found, (TextType, PathType, UrlType))
