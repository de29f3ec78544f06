"""Which calls along a chain an agent's cards let through, decided without values.

Source: middleware 4.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from policyd.analysis.effect import THIS_AGENT, UNKNOWN_ACCOUNT, UNKNOWN_COMPONENT, applies, is_unknown
from policyd.analysis.subject import AuditedCard
from policyd.core.application import AgentType, Deployment
from policyd.core.cards import Bound
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Grant, agent_holder
from policyd.core.grants.resources import AnyResource, Invocation, Resource
from policyd.core.tools.profile import OwnerComponent, Profile
from policyd.syntax import Form, parse_grants

TOOL_CLASS = "tool"
UNKNOWN_APPLICATION = "\0application"
UNKNOWN_ENVIRONMENT = "\0environment"


class Decided(Enum):
    """Whether a call is let through, as far as that can be said without its arguments."""

    ALWAYS = "always"
    CONDITIONAL = "conditional"
    NEVER = "never"
    UNDECIDED = "undecided"


class _Share(Enum):
    ALL = 2
    SOME = 1
    NONE = 0
    OPEN = -1


@dataclass(frozen=True, slots=True)
class CallShape:
    """A call without values.

    Attributes:
        tool: the name in its target.
        command: canonical names from the root; None for any, where the definition of the tool is not known.
        has_arguments: whether anything can stand behind the command.
        longs: the long names that its targets can have, `no-` forms included; None where a positional can look like
            any of them, as in edition `snapshot`, or where the definition is not known.
    """

    tool: str
    command: tuple[str, ...] | None
    has_arguments: bool
    longs: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ToolGrants:
    """The grants of one agent that are about tools, by list, and the names that its targets have.

    Attributes:
        lists: the four lists, only what applies to the agent.
        account, application, environment: of the owner of targets; placeholders where not known.
        caller: the component of the agent.
        named: the grants of each list by the command that they name; those about all calls under None.
    """

    lists: Mapping[Bound, tuple[Grant, ...]]
    account: str
    application: str
    environment: str
    caller: str
    named: Mapping[Bound, Mapping[tuple[str, ...] | None, tuple[Grant, ...]]] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        """Sort the grants by command, because one card may name many."""
        object.__setattr__(self, "named", {bound: _by_command(grants) for bound, grants in self.lists.items()})

    def decide(self, shape: CallShape, implementer: str, profile: Profile) -> Decided:
        """Whether a call is let through, under the readings of the owner that the profile has."""
        found = {self._decide(shape, component) for component in self._components(implementer, profile)}
        return found.pop() if len(found) == 1 else Decided.UNDECIDED

    def decide_call(self, tool: str, call: Invocation | None, implementer: str, profile: Profile) -> Decided:
        """Whether one call with all its values is let through: `always`, `never`, or `undecided`.

        Args:
            tool: the name in its target.
            call: the resource of its target; None where no grant text can name it, so that only `*` covers it.
            implementer: the component that implements the tool.
            profile: the readings of the owner.
        """
        found = {
            self._decided(
                (self.account, self.application, self.environment, component, tool),
                _of_call(call),
                () if call is None else call.command or (),
            )
            for component in self._components(implementer, profile)
        }
        return found.pop() if len(found) == 1 else Decided.UNDECIDED

    def _components(self, implementer: str, profile: Profile) -> tuple[str, ...]:
        return {
            OwnerComponent.CALLER: (self.caller,),
            OwnerComponent.IMPLEMENTER: (implementer,),
            OwnerComponent.BOTH: (self.caller, implementer),
        }[profile.tool_owner_component]

    def _decide(self, shape: CallShape, component: str) -> Decided:
        owner = (self.account, self.application, self.environment, component, shape.tool)
        return self._decided(owner, _of_shape(shape), shape.command)

    def _decided(
        self, owner: tuple[str, ...], share_of: Callable[[Resource], _Share], command: tuple[str, ...] | None
    ) -> Decided:
        """Under one reading of the owner; `command` is what the calls name, None for any."""
        lent, kept, capped, withheld = (self._share(bound, owner, share_of, command) for bound in Bound)
        if not self.lists[Bound.UPPER_POSITIVE]:
            capped = _Share.ALL
        if _Share.NONE in (lent, capped) or _Share.ALL in (kept, withheld):
            return Decided.NEVER
        if _Share.OPEN in (lent, kept, capped, withheld):
            return Decided.UNDECIDED
        if lent is capped is _Share.ALL and kept is withheld is _Share.NONE:
            return Decided.ALWAYS
        return Decided.CONDITIONAL

    def _share(
        self,
        bound: Bound,
        owner: tuple[str, ...],
        share_of: Callable[[Resource], _Share],
        command: tuple[str, ...] | None,
    ) -> _Share:
        """How much of the calls the grants of a list are about."""
        named = self.named[bound]
        grants = self.lists[bound] if command is None else (*named.get(None, ()), *named.get(command, ()))
        shares = {_grant_share(grant, owner, share_of) for grant in grants}
        for share in (_Share.ALL, _Share.OPEN, _Share.SOME):
            if share in shares:
                return share
        return _Share.NONE

    def exact(self, command: tuple[str, ...], tools: Iterable[str]) -> Iterator[Grant]:
        """The lower positive grants of one of these tools that name this command with or without arguments."""
        names = frozenset(tools)
        for grant in self.named[Bound.LOWER_POSITIVE].get(command, ()):
            if names.issuperset(grant.target.owner.known[4:]):
                yield grant


def _by_command(grants: Sequence[Grant]) -> dict[tuple[str, ...] | None, tuple[Grant, ...]]:
    found: dict[tuple[str, ...] | None, list[Grant]] = {}
    for grant in grants:
        resource = grant.target.resource
        found.setdefault((resource.command or ()) if isinstance(resource, Invocation) else None, []).append(grant)
    return {command: tuple(some) for command, some in found.items()}


def _grant_share(grant: Grant, owner: tuple[str, ...], share_of: Callable[[Resource], _Share]) -> _Share:
    known = grant.target.owner.known
    is_open = False
    for mine, theirs in zip(known, owner, strict=False):
        if mine == theirs:
            continue
        if not (is_unknown(mine) or is_unknown(theirs)):
            return _Share.NONE
        is_open = True
    share = share_of(grant.target.resource)
    return _Share.OPEN if is_open and share is not _Share.NONE else share


def _of_call(call: Invocation | None) -> Callable[[Resource], _Share]:
    """Whether a resource covers one call."""

    def share(resource: Resource) -> _Share:
        if isinstance(resource, AnyResource):
            return _Share.ALL
        return _Share.ALL if call is not None and resource.covers(call) else _Share.NONE

    return share


def _of_shape(shape: CallShape) -> Callable[[Resource], _Share]:
    """How much of the calls of one shape a resource covers."""

    def share(resource: Resource) -> _Share:
        if isinstance(resource, AnyResource):
            return _Share.ALL
        if not isinstance(resource, Invocation):
            return _Share.NONE
        if shape.command is not None and (resource.command or ()) != shape.command:
            return _Share.NONE
        if any(argument.symbol for argument in resource.arguments):
            return _Share.NONE
        if not shape.has_arguments:
            return _Share.NONE if resource.arguments else _Share.ALL
        longs = shape.longs
        if longs is not None and not all(_can_be_written(argument.text, longs) for argument in resource.arguments):
            return _Share.NONE
        return _Share.SOME

    return share


def _can_be_written(argument: str, longs: frozenset[str]) -> bool:
    """Whether the target of some call can have an argument: names are long ones, and those of the command."""
    if not argument.startswith("-"):
        return True
    name = argument[2:].partition("=")[0] if argument.startswith("--") else ""
    return name in longs


def manifest_grants(deployment: Deployment, agent: AgentType, account: str) -> ToolGrants:
    """The grants of an agent type's initial card."""
    card = AuditedCard.of(agent, deployment, account)
    lists = {
        bound: tuple(e.grant for e in card.of_bound(bound) if e.is_for_holder and _is_about_tools(e.grant))
        for bound in Bound
    }
    context = card.context
    return ToolGrants(
        lists,
        context.account,
        context.application or UNKNOWN_APPLICATION,
        context.environment or UNKNOWN_ENVIRONMENT,
        context.component,
    )


def written_grants(
    texts: Sequence[str], agent: str, component: str, application: str, environment: str, rules: Rules
) -> ToolGrants:
    """The grants of a card of which only the lower positives are written.

    Raises:
        GrantSyntaxError: for a text that is no grant.
    """
    context = AgentContext(
        UNKNOWN_ACCOUNT,
        application or UNKNOWN_APPLICATION,
        environment or UNKNOWN_ENVIRONMENT,
        component or UNKNOWN_COMPONENT,
        agent,
        THIS_AGENT,
    )
    holder = agent_holder(context)
    parsed: Iterable[Grant] = (grant for text in texts for grant in parse_grants(text, Form.MANIFEST, rules))
    filled = (grant.addressed(context).filled(context) for grant in parsed)
    positive = tuple(g for g in filled if _is_about_tools(g) and applies(g.recipient, holder))
    lists = {bound: positive if bound is Bound.LOWER_POSITIVE else () for bound in Bound}
    return ToolGrants(lists, context.account, context.application, context.environment, context.component)


def _is_about_tools(grant: Grant) -> bool:
    return grant.target.cls.name == TOOL_CLASS and grant.target.verb in ("invoke", "*")
