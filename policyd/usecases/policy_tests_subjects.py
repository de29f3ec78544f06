"""What policy tests are put to: a manifest, or the holder of a wallet; stored deployments stand apart.

Every answer comes from the use case that the verb of the command line calls.

Source: interface, Files and queries, a place in the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from policyd.core.admission import Wallet
from policyd.core.application import AgentType, InitialCard, initial_card_id
from policyd.core.cards import Bound, CardId, ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.core.tools.profile import Profile
from policyd.findings import InputError, Span
from policyd.report import Lines, no_lines
from policyd.usecases.answer import Answer
from policyd.usecases.chain_check import ChainReport, check_chains
from policyd.usecases.chain_sources import load_sources
from policyd.usecases.check_call import ManifestQuestion, WalletQuestion, check_manifest, check_wallet
from policyd.usecases.deployments import Described, Selection, described, load
from policyd.usecases.explain_holding import Holding, in_manifest, of_wallet
from policyd.usecases.holders import Parties, holders_in
from policyd.usecases.reach_world import World, entrances_of, world_of
from policyd.usecases.retry_saga import SagaAnswer, SagaQuestion, ask_saga
from policyd.usecases.retry_sources import RetryEnvironment, environment_of
from policyd.usecases.saga_self_view import cards_of_manifest
from policyd.usecases.wallet_holders import Places, wallet_holders

UNFIT = "TEST003"
"""The code of an expectation that does not fit what is given."""


@dataclass(frozen=True, slots=True)
class When:
    """The clock and the scope card under which a question is asked.

    Attributes:
        at: the moment, None to leave expiry aside.
        scope: of every call, None for none.
    """

    at: Timestamp | None = None
    scope: ScopeCard | None = None


@dataclass(frozen=True, slots=True)
class HeldGrant:
    """One grant of a deployment.

    Attributes:
        agent: the type that holds it.
        card: as answers name its card.
        bound: the list.
        index: in the list.
        text: as written.
        cls: the name of its class.
        span: its place, None where none is known.
    """

    agent: str
    card: str
    bound: Bound
    index: int
    text: str
    cls: str
    span: Span | None


class Holds(Protocol):
    """Somebody, or everybody of a deployment, whose cards decide calls."""

    @property
    def rules(self) -> Rules:
        """The edition."""

    @property
    def lines(self) -> Lines:
        """The lines that may be shown."""

    def answer(self, agent: str, target: str, when: When, *, in_full: bool = False) -> Answer:
        """May this happen, as `check` says; in full it also says what the other edition would."""

    def holding(self, agent: str, when: When) -> Holding:
        """The holder, for questions about operations."""

    def parties(self, agent: str, when: When) -> Parties:
        """The holder, for questions about all calls."""


class Subject(Holds, Protocol):
    """A whole deployment."""

    @property
    def name(self) -> str:
        """The environment, or the place in the store."""

    @property
    def agents(self) -> tuple[str, ...]:
        """Its agent types."""

    @property
    def definitions(self) -> tuple[Path, ...]:
        """Documents that define tools and middleware."""

    @property
    def identity(self) -> Hashable:
        """What is the same for all environments of one manifest, and for one snapshot."""

    @property
    def has_layers(self) -> bool:
        """Whether there may be middleware."""

    def called(self, agent: str) -> str:
        """How a holder is called in answers about the deployment."""

    def grants(self) -> Iterator[HeldGrant]:
        """The grants of its cards."""

    def world(self, names: Sequence[str], when: When) -> World:
        """Everybody who can act."""

    def retries(self) -> RetryEnvironment:
        """The retry policies in force."""

    def saga(self, question: SagaQuestion) -> SagaAnswer:
        """The answer about a saga."""

    def chains(self, tool: str = "") -> ChainReport:
        """The chains of a tool, or all of them."""


@dataclass(frozen=True, slots=True)
class FromManifest:
    """An environment of a manifest.

    Attributes:
        found: the deployment.
        selection: what the manifest may leave open.
        rules: the edition.
        path: of the manifest.
        include_root: folder from which `includes` may also read.
        definitions: documents that define tools and middleware.
        is_changed: whether a card is not as the manifest has it.
        opened: the texts that an editor holds, by resolved path.
        kept: answers about the whole deployment that several expectations ask for.
    """

    found: Described
    selection: Selection
    rules: Rules
    path: Path
    include_root: Path | None = None
    definitions: tuple[Path, ...] = ()
    is_changed: bool = False
    opened: Mapping[Path, str] = field(default_factory=dict, compare=False, repr=False)
    kept: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The environment."""
        return self.found.deployment.environment

    @property
    def agents(self) -> tuple[str, ...]:
        """Its agent types."""
        return tuple(self.found.deployment.agent_names)

    @property
    def lines(self) -> Lines:
        """The lines of its documents, values masked."""
        return self.found.line

    @property
    def identity(self) -> Hashable:
        """The manifest, and what is said besides it."""
        chosen = self.selection
        return (str(self.path.resolve()), self.rules, chosen.account, chosen.component, chosen.presets)

    @property
    def has_layers(self) -> bool:
        """Whether the manifest declares middleware."""
        return bool(self.found.loaded.application.middleware)

    def called(self, agent: str) -> str:
        """As it is."""
        return agent

    def grants(self) -> Iterator[HeldGrant]:
        """Those of the initial cards."""
        return initial_grants(self.found.deployment.agents)

    def with_card(self, agent: str, card: InitialCard) -> FromManifest:
        """The same deployment with another initial card of one agent type."""
        deployment = self.found.deployment
        agents = tuple(replace(a, initial_card=card) if a.name == agent else a for a in deployment.agents)
        found = replace(self.found, deployment=replace(deployment, agents=agents))
        return replace(self, found=found, is_changed=True, kept={})

    def again(self, rules: Rules) -> Described:
        """The deployment read under other rules."""
        return described(load(self.path, rules, self.include_root, self.opened), self.selection, rules)

    def answer(self, agent: str, target: str, when: When, *, in_full: bool = False) -> Answer:
        """As `check` says."""
        question = ManifestQuestion(agent, target, when.at, when.scope)
        again = self.again if in_full and not self.is_changed else None
        return check_manifest(self.found, self.selection, question, self.rules, again=again)

    def holding(self, agent: str, when: When) -> Holding:
        """An agent with its initial card."""
        return in_manifest(self.found, self.selection, agent, self.rules, when.at, when.scope)

    def parties(self, agent: str, when: When) -> Parties:
        """An agent type, or everybody."""
        return holders_in(self.found, self.selection, agent, str(self.path))

    def world(self, names: Sequence[str], when: When) -> World:
        """Everybody who can act."""
        key = ("world", *names)
        if key not in self.kept:
            parties = holders_in(self.found, self.selection, "", str(self.path))
            self.kept[key] = world_of(parties, entrances_of(self.found), self.rules, names)
        world = self.kept[key]
        assert isinstance(world, World)  # as stored
        return world

    def retries(self) -> RetryEnvironment:
        """The policies of the environment."""
        return environment_of(self.found.loaded, self.name)

    def saga(self, question: SagaQuestion) -> SagaAnswer:
        """As `saga` says."""
        cards = cards_of_manifest(self.found, self.selection, self.rules)
        return ask_saga(question, self.retries(), self.found, self.selection, self.rules, cards)

    def chains(self, tool: str = "") -> ChainReport:
        """As `chain check` says."""
        sources = load_sources(self.path, self.definitions, self.rules, Profile.of(self.rules), self.include_root)
        return check_chains(sources, [self.name], tool, self.selection.account)


@dataclass(frozen=True, slots=True)
class FromWallet:
    """The holder of a wallet fixture.

    Attributes:
        wallet: its cards.
        rules: the edition.
        source: how the wallet is called.
        lines: that may be shown.
        places: where its grants stand.
    """

    wallet: Wallet
    rules: Rules
    source: str
    lines: Lines = no_lines
    places: Mapping[tuple[CardId, str, int], Span] = field(default_factory=dict, hash=False)

    def answer(self, agent: str, target: str, when: When, *, in_full: bool = False) -> Answer:
        """As `check --wallet` says."""
        self._demand(agent)
        question = WalletQuestion(target, when.at, when.scope, agent if "(" in agent else "")
        return check_wallet(self.wallet, question, self.rules, self.places)

    def holding(self, agent: str, when: When) -> Holding:
        """The holder."""
        return of_wallet(self.wallet, self.rules, agent, when.at, when.scope, self.places)

    def parties(self, agent: str, when: When) -> Parties:
        """The holder alone."""
        held = self.holding(agent, when).wallet
        places: Places = self.places
        return wallet_holders([(held, places)], self.source, when.at)

    def _demand(self, agent: str) -> None:
        """Refuse an agent that is not one of the wallet's type."""
        if agent:
            of_wallet(self.wallet, self.rules, agent)


def initial_grants(agents: Iterable[AgentType]) -> Iterator[HeldGrant]:
    """The grants of the initial cards of some agent types."""
    for agent in agents:
        card = str(initial_card_id(agent.name))
        for bound, index, placed in agent.initial_card.each():
            cls = placed.grant.target.cls.name
            yield HeldGrant(agent.name, card, bound, index, placed.text, cls, placed.span)


def whole(subject: Subject | None, wallet: FromWallet | None, what: str) -> Subject:
    """The deployment, where a question needs all of it.

    Raises:
        InputError: TEST003, if a wallet is given, or nothing.
    """
    if subject is not None and wallet is None:
        return subject
    help = "ask it in a test without the wallet, about `manifest` or `snapshot`"
    raise InputError.of(UNFIT, f"a wallet alone says nothing of {what}", None, help)
