"""The facts of one deployment, free of tables and of files: what a snapshot holds.

A fact carries core values (bounds, cards) and the places they were read from. Values of env, config,
secrets and parameters are not among them; only their names are.

Source: questions 4; cards 5.4, 6.9, 8, C; interface, wallet file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from policyd.core.application import GrantOrigin
from policyd.core.cards import Bound, Bounds, Card, CardId, ScopeCard, Timestamp
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import Grant, Recipient
from policyd.findings import Finding, Span

Places = tuple[tuple[Span | None, ...], ...]
"""Where the grants of a card stand: nothing at all, or one tuple per bound, aligned with its list."""


class Origin(Enum):
    """Which kind of document a fact came from; a new manifest replaces what manifests said, and nothing else."""

    MANIFEST = "manifest"
    PLATFORM = "platform"


class Installer(Enum):
    """Who put a card into a wallet, as far as it is known."""

    SELF = "self"
    OTHER = "other"
    UNKNOWN = "unknown"


class Level(Enum):
    """Where a binding, a chain or a named value is set."""

    ENVIRONMENT = "environment"
    COMPONENT = "component"
    AGENT = "agent"
    TOOL = "tool"


class ValueKind(Enum):
    """What a named value is for."""

    ENV = "env"
    CONFIG = "config"
    SECRET = "secret"
    RESOURCE = "resource"
    PARAMETER = "parameter"


_AT = {bound: at for at, bound in enumerate(Bound)}


def place_of(places: Places, bound: Bound, index: int) -> Span | None:
    """Where the grant at `index` of `bound` stands, None where that is not known."""
    if not places:
        return None
    listed = places[_AT[bound]]
    return listed[index] if index < len(listed) else None


@dataclass(frozen=True, slots=True)
class Component:
    """A component in one revision.

    Attributes:
        name: the full name, with its colon.
        platform_id: the UUID that the platform gave it, empty where unknown.
        revision: None where unknown.
    """

    name: str
    platform_id: str = ""
    revision: int | None = None
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class InitialCard:
    """The card that every agent of a type starts with.

    Attributes:
        bounds: owners may carry slots; recipients are concrete where the account is known.
        places: where the grants stand.
        is_default: nobody wrote it, the platform's default applies.
        place: where `initialCard` stands.
        layer: the manifest place that sets it (`agents.Cart`), empty where none does.
        origins: how the lower positive grants got in, aligned with their list; empty where all are written.
    """

    bounds: Bounds
    places: Places = ()
    is_default: bool = False
    place: Span | None = None
    layer: str = ""
    origins: tuple[GrantOrigin, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentType:
    """An agent type.

    Attributes:
        name: the bare type name.
        component: the component that implements it, empty where the manifest does not say.
        card: None where it is not known (then nothing is said about the type's authority).
        is_declared: it stands under `agents`, rather than being named elsewhere only.
        component_is_assumed: concluded from there being one component only.
    """

    name: str
    component: str = ""
    card: InitialCard | None = None
    place: Span | None = None
    is_declared: bool = True
    component_is_assumed: bool = False


@dataclass(frozen=True, slots=True)
class CardFact:
    """A card with an id of its own: concrete, polymorphic or a scope card."""

    card: Card | ScopeCard
    places: Places = ()
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class Installed:
    """A card in a wallet: by whom and when it came there."""

    card: CardId
    by: Installer = Installer.UNKNOWN
    at: Timestamp | None = None


@dataclass(frozen=True, slots=True)
class WalletFact:
    """The complete wallet of one holder; its cards are facts of their own.

    Attributes:
        holder: an account, or an agent by its type.
        agent_id: the instance, empty for every instance of the type and for accounts.
        recorded_account: the account that `card` operations ask about, empty where it is the holder's.
        cards: 0..n, ascending by id, each once.
    """

    holder: Recipient
    agent_id: str = ""
    recorded_account: str = ""
    cards: tuple[Installed, ...] = ()
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class PermissionShare:
    """What one account lends to another.

    Attributes:
        id: a UUID.
        revision: of the share.
        owner_account_id, target_account_id: UUIDs.
        current_card_id: the card that carries it, empty where none is named.
        bounds: concrete grants.
    """

    id: str
    revision: int
    owner_account_id: str
    target_account_id: str
    name: str
    bounds: Bounds
    current_card_id: str = ""
    places: Places = ()
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class RetryPolicyFact:
    """A named retry policy in one revision.

    Attributes:
        predicate, policy: canonical JSON text.
        platform_id: a UUID, empty where the platform has not created it.
        revision: None where the platform has not created it.
    """

    name: str
    priority: int
    predicate: str
    policy: str
    origin: Origin
    platform_id: str = ""
    revision: int | None = None
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class ToolFact:
    """A tool or a middleware as declared or deployed.

    Attributes:
        component: the implementing one, empty where unknown.
        version, account: empty where not given.
        definition: canonical JSON text, empty where only the name is known.
    """

    name: str
    origin: Origin
    component: str = ""
    version: str = ""
    account: str = ""
    definition: str = ""
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class ChainLayer:
    """One middleware of a chain; parameters are only counted, never kept."""

    middleware: str
    version: str = ""
    account: str = ""
    filesystem_access: str = ""
    has_parameters: bool = False
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class ChainFact:
    """One middleware list of an environment.

    Attributes:
        level, subject: whose it is; the subject is a component or an agent type, empty for the environment.
        tool: the tool it is for, empty for all. A tool with a list, even an empty one, is bound.
        mode: how it meets the lists of weaker places; of the environment's list for all tools it is the mode of
            compatibility, as written.
        layers: from the outside in.
    """

    level: Level
    subject: str
    tool: str
    mode: str
    layers: tuple[ChainLayer, ...]
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class NamedValue:
    """The name of a value that a manifest gives; the value itself is not kept, nor any hash of it.

    Attributes:
        path: the name, or the keys from the outside in.
        is_known: whether the manifest gives a literal value rather than a template.
    """

    kind: ValueKind
    level: Level
    subject: str
    path: tuple[str, ...]
    is_known: bool = True
    place: Span | None = None


@dataclass(frozen=True, slots=True)
class FindingFact:
    """A finding of an import, with the kind of document that led to it."""

    finding: Finding
    origin: Origin


@dataclass(frozen=True, slots=True)
class Deployment:
    """Everything known of one environment of one application at one time.

    Attributes:
        account: e-mail in lower case; application, environment: names.
        rules: edition and switches under which the documents were read.
        manifest_version: empty where no manifest is part of it.
        revoked: ids of revoked cards; what was derived from them is revoked, too.
        findings: of the imports; no part of the digest.
    """

    account: str
    application: str
    environment: str
    rules: Rules = NEXT
    manifest_version: str = ""
    components: tuple[Component, ...] = ()
    agent_types: tuple[AgentType, ...] = ()
    cards: tuple[CardFact, ...] = ()
    revoked: tuple[CardId, ...] = ()
    wallets: tuple[WalletFact, ...] = ()
    shares: tuple[PermissionShare, ...] = ()
    retry_policies: tuple[RetryPolicyFact, ...] = ()
    tools: tuple[ToolFact, ...] = ()
    middlewares: tuple[ToolFact, ...] = ()
    chains: tuple[ChainFact, ...] = ()
    values: tuple[NamedValue, ...] = ()
    findings: tuple[FindingFact, ...] = ()

    @property
    def label(self) -> str:
        """`account/application/environment`, as users type it after an `@`."""
        return f"{self.account}/{self.application}/{self.environment}"

    @property
    def grant_count(self) -> int:
        """How many grants all cards, initial cards and shares hold together."""
        lists = [f.card.bounds for f in self.cards]
        lists += [a.card.bounds for a in self.agent_types if a.card is not None]
        lists += [s.bounds for s in self.shares]
        return sum(len(bounds.of(bound)) for bounds in lists for bound in Bound)


@dataclass(frozen=True, slots=True)
class PlacedGrant:
    """One stored grant with the card it stands in and its place.

    Attributes:
        card: the id, or `initial:Type` for an initial card without an id.
        bound, index: its list and position.
    """

    card: str
    bound: Bound
    index: int
    grant: Grant
    place: Span | None = None
