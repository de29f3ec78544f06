"""What a manifest describes for one environment: agent types, their initial cards, and the places of all of it.

Source: manifest-format 5, 11; cards 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from policyd.core.cards import Bound, Bounds, Card, CardId, GrantRef, ManagedBy, default_grants
from policyd.core.grants import AgentContext, Grant, Level, Recipient, Slot
from policyd.findings import Finding, Span

if TYPE_CHECKING:  # a question about cards need not load the retry core
    from policyd.core.retry.placed import PlacedPolicy


class GrantOrigin(Enum):
    """How a grant got into an initial card."""

    WRITTEN = "written in the card"
    FILE = "added for an entry of `files`"
    DEFAULT = "of the default card"


@dataclass(frozen=True, slots=True)
class PlacedGrant:
    """One grant of an initial card with the place it comes from.

    Attributes:
        grant: in manifest form: slots in owner and recipient may be open.
        origin: how it got there.
        text: as written; for the eight grants of the old debug alias the alias itself.
        span: where it stands, None for a grant of the default card.
    """

    grant: Grant
    origin: GrantOrigin
    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BadGrant:
    """A text in an initial card that is no grant; the platform refuses the whole card for it."""

    bound: Bound
    text: str
    finding: Finding


@dataclass(frozen=True, slots=True, eq=False)
class InitialCard:
    """The effective initial card of an agent type, before recipients are filled.

    Attributes:
        layer: the manifest place that sets it (`agents.Cart`), empty for the default card.
        span: where it stands, None for the default card.
        lower_positive, lower_negative, upper_positive, upper_negative: the grants in order.
        bad: the texts that are no grants.
        replaced: the weaker layers whose cards it replaces as a whole, with their places.
        is_default: no layer sets a card.
    """

    layer: str
    span: Span | None
    lower_positive: tuple[PlacedGrant, ...] = ()
    lower_negative: tuple[PlacedGrant, ...] = ()
    upper_positive: tuple[PlacedGrant, ...] = ()
    upper_negative: tuple[PlacedGrant, ...] = ()
    bad: tuple[BadGrant, ...] = ()
    replaced: tuple[tuple[str, Span], ...] = ()
    is_default: bool = False

    def of(self, bound: Bound) -> tuple[PlacedGrant, ...]:
        """One of the four lists."""
        match bound:
            case Bound.LOWER_POSITIVE:
                return self.lower_positive
            case Bound.LOWER_NEGATIVE:
                return self.lower_negative
            case Bound.UPPER_POSITIVE:
                return self.upper_positive
            case Bound.UPPER_NEGATIVE:
                return self.upper_negative

    def each(self) -> Iterator[tuple[Bound, int, PlacedGrant]]:
        """Every grant with its list and index."""
        for bound in Bound:
            for index, placed in enumerate(self.of(bound)):
                yield bound, index, placed

    @property
    def as_written(self) -> Bounds:
        """The four lists with all slots open."""
        return Bounds(*(tuple(p.grant for p in self.of(bound)) for bound in Bound))

    def bounds(self, context: AgentContext) -> Bounds:
        """The four lists with recipients filled for a component and agent type (M4); owner slots stay."""
        return Bounds(*(tuple(p.grant.addressed(context) for p in self.of(bound)) for bound in Bound))

    def card(self, context: AgentContext) -> Card:
        """The template that a deploy would store for the agent type."""
        return Card(
            initial_card_id(context.agent_type),
            self.bounds(context),
            is_polymorphic=True,
            managed_by=ManagedBy("AgentInitial", (("agentType", context.agent_type),)),
        )

    def place(self, ref: GrantRef) -> PlacedGrant | None:
        """The grant of this card that `ref` is about, None if it is about another card."""
        grants = self.of(ref.bound)
        return grants[ref.index] if ref.index < len(grants) else None


THIS_AGENT = Recipient(Level.AGENT, (), Slot.AGENT)
"""`?agent` as a recipient: the agent type whose card it is."""


def default_initial_card(files: tuple[PlacedGrant, ...] = (), bad: tuple[BadGrant, ...] = ()) -> InitialCard:
    """The card of an agent type for which no layer sets one (M6), with the grants for its files."""
    grants = (PlacedGrant(g, GrantOrigin.DEFAULT, g.text) for g in default_grants(THIS_AGENT))
    return InitialCard("", None, (*grants, *files), bad=bad, is_default=True)


def initial_card_id(agent_type: str) -> CardId:
    """The name by which policyd refers to an initial card that no platform has minted yet."""
    return CardId(f"initial:{agent_type}")


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A name (a variable, a config or secret path, a component) and where it stands.

    Attributes:
        name: the name; paths are joined by dots.
        span: where it stands, None where no place is known.
        is_known: whether the manifest gives its value, so that it is no open template.
    """

    name: str
    span: Span | None
    is_known: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class ProvidedFile:
    """An entry of `files` after the cascade."""

    path: str
    is_read_write: bool
    span: Span


@dataclass(frozen=True, slots=True)
class InstalledMiddleware:
    """One entry of a middleware list: the name as installed, and where it stands."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class BoundTool:
    """A tool that an agent type is bound to; a binding is not a permission.

    Attributes:
        middleware: the list of this tool, outermost first, the environment-wide one not included.
        dropped: entries of the environment's list that a list of the owner replaces, with the place of the owner's.
    """

    name: str
    is_default: bool
    is_declared: bool
    filesystem_access: str = ""
    middleware: tuple[InstalledMiddleware, ...] = ()
    dropped: tuple[tuple[InstalledMiddleware, Span], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class AgentType:
    """One agent type in one environment.

    Attributes:
        name: byte for byte.
        span: where the manifest names it first.
        is_declared: whether it stands under `agents`.
        component: the component that implements it, empty where that is not known.
        component_is_assumed: concluded from there being one component only.
        initial_card: the effective one.
        env: the variables that the manifest gives it, sorted by name.
        config: the config paths that the manifest gives it.
        files: the files that the manifest gives it.
        tools: the tools it is bound to.
    """

    name: str
    span: Span
    is_declared: bool
    component: str
    component_is_assumed: bool
    initial_card: InitialCard
    env: tuple[NamedPlace, ...] = ()
    config: tuple[NamedPlace, ...] = ()
    files: tuple[ProvidedFile, ...] = ()
    tools: tuple[BoundTool, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class MisplacedCard:
    """A card written where it does nothing for agents.

    Attributes:
        layer: the manifest place (`components.shop:cart`).
        span: where its key stands.
        grants: how many grants it holds.
    """

    layer: str
    span: Span
    grants: int


@dataclass(frozen=True, slots=True, eq=False)
class Deployment:
    """An application in one environment, as its manifests describe it.

    Attributes:
        application: its name, empty where the manifest gives none.
        environment: its name.
        environment_span: where it is written.
        presets: the custom presets in force.
        account: the owner's e-mail in lower case, empty where it is not known.
        account_variable: the variable that would tell the account, empty where the manifest gives none.
        agents: sorted by name; only those that were asked for.
        agent_names: of all agent types, sorted.
        components: names and places, sorted.
        misplaced: cards that do nothing for agents.
        secrets: the paths of the secret defaults of this environment; values are never kept.
        accounts_mentioned: all accounts that the manifest names anywhere, sorted.
        retry_policies: the retry policies that a deployment would create, in the order of the manifest.
        retry_findings: what is wrong with retry policies that cannot be read.
        middleware: the declared ones.
        tool_middleware: the environment-wide list.
        compatibility_mode: of tools, empty where the manifest says none.
    """

    application: str
    environment: str
    environment_span: Span | None
    presets: tuple[str, ...]
    account: str
    account_variable: str
    agents: tuple[AgentType, ...] = ()
    agent_names: tuple[str, ...] = ()
    components: tuple[NamedPlace, ...] = ()
    misplaced: tuple[MisplacedCard, ...] = ()
    secrets: tuple[NamedPlace, ...] = ()
    accounts_mentioned: tuple[str, ...] = field(default=())
    retry_policies: tuple[PlacedPolicy, ...] = ()
    retry_findings: tuple[Finding, ...] = ()
    middleware: tuple[NamedPlace, ...] = ()
    tool_middleware: tuple[InstalledMiddleware, ...] = ()
    compatibility_mode: str = ""

    def agent(self, name: str) -> AgentType | None:
        """The agent type of that name."""
        return next((agent for agent in self.agents if agent.name == name), None)
