"""The tool permissions that a chain asks for, hop by hop, and what is odd about the grants for it.

Source: middleware 4.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policyd.core.grants.resources import Invocation
from policyd.core.schema.numbers import Family
from policyd.core.schema.types import NumberType, PathType, TextType, UrlType
from policyd.core.tools.canonical_input import input_fields
from policyd.core.tools.chain import Chain
from policyd.core.tools.command_tree import callable_paths
from policyd.core.tools.compat_inputs import Injected
from policyd.core.tools.profile import Profile
from policyd.core.tools.tool import Body, Option, Positional, Tool
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
    chain: Chain, tool: str, agent: str, grants: ToolGrants, implementer: str, profile: Profile
) -> tuple[PermissionRow, ...]:
    """Every call that an agent's use of a chain can ask for: its own, and those of layers that change something."""
    rows: list[PermissionRow] = []
    if chain.effective is None:
        decided = grants.decide(CallShape(tool, None, True), implementer, profile)
        rows.append(PermissionRow(agent, "agent", tool, (), "<any command>", decided))
        return tuple(rows)
    for path, has_arguments in shapes(chain.effective):
        decided = grants.decide(CallShape(tool, path, has_arguments), implementer, profile)
        rows.append(PermissionRow(agent, "agent", tool, path, "<arguments>" if has_arguments else "", decided))
        if len(rows) >= MAX_PERMISSION_ROWS:
            return tuple(rows)
    if not profile.underlying_permission_check:
        return tuple(rows)
    for edge in chain.edges:
        if edge.found is None or not edge.found.is_accepted or edge.inner is None:
            continue
        inner = dict(shapes(edge.inner))
        names = dict.fromkeys((tool, edge.inner.name))
        for link in edge.found.commands:
            has_arguments = inner.get(link.path, True)
            decisions = {grants.decide(CallShape(n, link.path, has_arguments), implementer, profile) for n in names}
            decided = decisions.pop() if len(decisions) == 1 else Decided.UNDECIDED
            source = f"layer {edge.layer} ({edge.name})"
            words = "<arguments sent inward>" if has_arguments else ""
            rows.append(PermissionRow(agent, source, edge.inner.name, link.path, words, decided, edge.layer))
            if len(rows) >= MAX_PERMISSION_ROWS:
                return tuple(rows)
    return tuple(rows)


def shapes(tool: Tool) -> Iterator[tuple[tuple[str, ...], bool]]:
    """The commands of a tool, and whether a call of them can have arguments."""
    for path, place in sorted(callable_paths(tool).items()):
        yield path, any(True for _ in input_fields(tool, place))


def permission_findings(
    chain: Chain, tool: str, agent: str, grants: ToolGrants, rows: Sequence[PermissionRow], *, is_snapshot: bool
) -> Iterator[Finding]:
    """What is denied for certain, and grants that do not mean what they look like."""
    outer = [row for row in rows if row.layer is None]
    if outer and all(row.decided is Decided.NEVER for row in outer):
        words = f"no card of `{agent}` lets it call `{tool}`: `Denied` before any layer runs"
        yield finding("PERMISSION_DENIED", words, None, help=f"grant `tool(…/{tool}) : invoke : *`")
    lent = {row.command for row in outer if row.decided is not Decided.NEVER}
    for row in rows:
        if row.layer is not None and row.decided is Decided.NEVER and row.command in lent:
            command = " ".join(row.command) or "the root command"
            words = (
                f"{row.source} calls {command} of `{row.tool}`, which no card of `{agent}` lets through: the layer "
                "sees `denied`, and forwarding it gives a constraint violation"
            )
            yield finding("PERMISSION_DENIED", words, None)
    yield from _drifts(chain, grants, agent)
    if chain.effective is not None:
        yield from _unwritable(chain.effective, tool, agent, grants)
        if is_snapshot:
            yield from _confusable(chain.effective, tool, agent, grants)


def _drifts(chain: Chain, grants: ToolGrants, agent: str) -> Iterator[Finding]:
    """Exact grants that stop fitting because a default is put in further inside."""
    for edge in chain.edges:
        for link in () if edge.found is None else edge.found.commands:
            added = [
                item.name for item in link.input.fields if isinstance(item, Injected) and _is_written(edge.inner, item)
            ]
            if added and any(True for _ in grants.exact(link.path)):
                command = " ".join(link.path) or "the root command"
                names = ", ".join(f"`--{name}`" for name in added)
                words = (
                    f"layer {edge.layer} ({edge.name}): {command} gets {names} from its default, so that a grant "
                    f"of `{agent}` with exact arguments no longer fits the call inward"
                )
                yield finding("GRANT_ARGS_DRIFT", words, None)


def _is_written(inner: Tool | None, item: Injected) -> bool:
    """Whether a put-in value stands in targets: defaults of options and positionals do, flags at rest do not."""
    if inner is None:
        return False
    for command in inner.commands:
        body = command.body or Body()
        arguments: tuple[Option | Positional, ...] = (*command.globals.options, *body.options, *body.fixed)
        for argument in arguments:
            name = argument.long if isinstance(argument, Option) else argument.name
            if name == item.name:
                return argument.default is not None
    return False


def _unwritable(effective: Tool, tool: str, agent: str, grants: ToolGrants) -> Iterator[Finding]:
    """Exact grants that no call can match."""
    paths = dict(shapes(effective))
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
        if loose and any(grant.target.resource != Invocation(path or None) for grant in grants.exact(path)):
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
