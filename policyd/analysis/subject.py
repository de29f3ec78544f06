"""What rules look at: one deployment, its initial cards with every grant filled for its holder.

Source: manifest-format 11; cards 5.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar, cast

from policyd.analysis.effect import THIS_AGENT, UNKNOWN_ACCOUNT, UNKNOWN_COMPONENT, applies, may_apply
from policyd.core.application import AgentType, Deployment, GrantOrigin, PlacedGrant
from policyd.core.cards import Bound, Card
from policyd.core.edition import NEXT, Rules
from policyd.core.grants import AgentContext, Grant, Recipient, agent_holder
from policyd.core.retry.placed import NO_FACTS, RetryFacts
from policyd.findings import Span


@dataclass(frozen=True, slots=True)
class Entry:
    """One grant of an initial card, as its holder sees it.

    Attributes:
        bound: which list.
        index: position in the list.
        placed: the grant with its text and place.
        grant: recipient and owner filled for the holder; what is not known is a placeholder.
        is_for_holder: whether it certainly applies to the agents of the card's type.
        may_be_for_holder: whether it can apply to them.
    """

    bound: Bound
    index: int
    placed: PlacedGrant
    grant: Grant
    is_for_holder: bool
    may_be_for_holder: bool

    @property
    def is_written(self) -> bool:
        """Whether it stands in the manifest as a grant."""
        return self.placed.origin is GrantOrigin.WRITTEN


@dataclass(frozen=True)
class AuditedCard:
    """The effective initial card of an agent type.

    Attributes:
        agent: the agent type.
        context: the names with which it is filled; `?agent` is some instance.
        holder: its agents as a recipient path.
    """

    agent: AgentType
    context: AgentContext
    holder: Recipient

    @classmethod
    def of(cls, agent: AgentType, deployment: Deployment, account: str) -> AuditedCard:
        """The card of `agent`; `account` stands in where the manifest names none, empty for not known."""
        context = AgentContext(
            deployment.account or account or UNKNOWN_ACCOUNT,
            deployment.application,
            deployment.environment,
            agent.component or UNKNOWN_COMPONENT,
            agent.name,
            THIS_AGENT,
        )
        return cls(agent, context, agent_holder(context))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Every grant, list after list."""
        return tuple(self._entry(bound, index, placed) for bound, index, placed in self.agent.initial_card.each())

    def _entry(self, bound: Bound, index: int, placed: PlacedGrant) -> Entry:
        grant = placed.grant.addressed(self.context).filled(self.context)
        recipient = grant.recipient
        return Entry(bound, index, placed, grant, applies(recipient, self.holder), may_apply(recipient, self.holder))

    @cached_property
    def _lists(self) -> Mapping[Bound, tuple[Entry, ...]]:
        return {bound: tuple(e for e in self.entries if e.bound is bound) for bound in Bound}

    def of_bound(self, bound: Bound) -> tuple[Entry, ...]:
        """One of the four lists."""
        return self._lists[bound]

    @property
    def is_explicit(self) -> bool:
        """Whether a layer of the manifest sets the card."""
        return not self.agent.initial_card.is_default

    @property
    def is_readable(self) -> bool:
        """Whether every grant of it could be read, so that the card as a whole can be judged."""
        return not self.agent.initial_card.bad

    @property
    def span(self) -> Span:
        """Where the card stands; where no layer sets one, where the manifest names the agent type."""
        return self.agent.initial_card.span or self.agent.span

    @property
    def has_ceiling(self) -> bool:
        """Whether a positive upper grant certainly limits the holder."""
        return any(entry.is_for_holder for entry in self.of_bound(Bound.UPPER_POSITIVE))


T = TypeVar("T")


@dataclass(frozen=True)
class Subject:
    """One deployment under audit.

    Attributes:
        deployment: what the manifest comes to in one environment.
        account: stands in where the environment names no account; empty for not known.
        rules: the edition.
        deployer: the cards of whoever deploys, None for an assumed account root card.
        limiting: the places of the cards in the manifest that have an upper grant, in force or not.
        empty_ceilings: the places of those that write an upper bound with nothing in it.
        retry: what is known of retry policies beside the manifest.
    """

    deployment: Deployment
    account: str = ""
    rules: Rules = NEXT
    deployer: tuple[Card, ...] | None = None
    limiting: frozenset[Span] = frozenset()
    empty_ceilings: frozenset[Span] = frozenset()
    retry: RetryFacts = NO_FACTS
    _made: dict[str, object] = field(default_factory=dict, compare=False, repr=False)

    def once(self, key: str, make: Callable[[], T]) -> T:
        """What `make` gives, made at the first call with `key`: several rules look at the same thing."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    @property
    def owner_account(self) -> str:
        """The account that owns the environment, empty where it is not known."""
        return self.deployment.account or self.account

    @cached_property
    def cards(self) -> tuple[AuditedCard, ...]:
        """One card per agent type, sorted by name."""
        return tuple(AuditedCard.of(agent, self.deployment, self.account) for agent in self.deployment.agents)

    @property
    def explicit_cards(self) -> Iterator[AuditedCard]:
        """The cards that a layer of the manifest sets."""
        return (card for card in self.cards if card.is_explicit)
