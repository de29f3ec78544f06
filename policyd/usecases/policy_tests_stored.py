"""A stored deployment that policy tests are put to.

Source: interface, a place in the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from policyd.core.edition import Rules
from policyd.core.grants.names import ascii_lower
from policyd.core.tools.profile import Profile
from policyd.report import Lines, no_lines
from policyd.store.holders import read_holder
from policyd.store.snapshots import SnapshotInfo
from policyd.usecases.answer import Answer
from policyd.usecases.chain_check import ChainReport, check_chains
from policyd.usecases.chain_sources import definitions_in, stored_sources
from policyd.usecases.explain_holding import Holding
from policyd.usecases.explain_stored import stored_holding
from policyd.usecases.holders import Parties
from policyd.usecases.policy_tests_subjects import HeldGrant, When, initial_grants
from policyd.usecases.reach_world import World, world_of
from policyd.usecases.retry_saga import SagaAnswer, SagaQuestion
from policyd.usecases.retry_sources import RetryEnvironment
from policyd.usecases.retry_stored import ask_stored_saga, stored_environment
from policyd.usecases.stored_decisions import Decisions, StoredQuestion
from policyd.usecases.stored_deployment import StoredFacts
from policyd.usecases.stored_parties import party_name, stored_parties


def _is_in_full(agent: str) -> bool:
    head = agent.partition("(")[0]
    return "@" in head or "/" in head


@dataclass(frozen=True, slots=True)
class FromStore:
    """A stored deployment.

    Attributes:
        facts: as stored.
        info: which snapshot.
        decisions: answers about it.
        rules: the edition.
        place: as typed.
        component: of the agent types, where the deployment leaves it open.
        definitions: documents that define tools and middleware.
    """

    facts: StoredFacts
    info: SnapshotInfo
    decisions: Decisions
    rules: Rules
    place: str
    component: str = ""
    definitions: tuple[Path, ...] = ()

    @property
    def name(self) -> str:
        """The place."""
        return self.place

    @property
    def agents(self) -> tuple[str, ...]:
        """Its agent types."""
        return tuple(agent.name for agent in self.facts.deployment.agent_types)

    @property
    def identity(self) -> Hashable:
        """The facts."""
        return (self.info.digest, self.rules)

    @property
    def has_layers(self) -> bool:
        """Not known without asking."""
        return True

    @property
    def lines(self) -> Lines:
        """No lines: the text is not stored."""
        return no_lines

    def question(self, agent: str, target: str, when: When) -> StoredQuestion:
        """A question about an agent, or about a holder in full."""
        if _is_in_full(agent):
            return StoredQuestion(target, "", agent, when.at, when.scope, self.component)
        return StoredQuestion(target, agent, "", when.at, when.scope, self.component)

    def called(self, agent: str) -> str:
        """A holder in full by the shorter name that it has in this deployment; other names as they are."""
        if not _is_in_full(agent):
            return agent
        head, slash, rest = agent.partition("/")
        holder = read_holder(f"{ascii_lower(head)}{slash}{rest}", self.rules)
        return agent if holder is None else party_name(self.facts, holder, "")

    def answer(self, agent: str, target: str, when: When, *, in_full: bool = False) -> Answer:
        """As `check @place` says."""
        return self.decisions.answer(self.facts, self.info, self.question(agent, target, when), self.rules)

    def holding(self, agent: str, when: When) -> Holding:
        """A holder with its imported wallet, else its initial card."""
        return stored_holding(self.decisions, self.facts, self.info, self.question(agent, "", when), self.rules)

    def parties(self, agent: str, when: When) -> Parties:
        """An agent type, or everybody."""
        return stored_parties(self.facts, self.rules, self.place, agent, self.component, when.at)

    def world(self, names: Sequence[str], when: When) -> World:
        """Everybody who can act; entrances are not stored."""
        return world_of(self.parties("", when), (), self.rules, names)

    def retries(self) -> RetryEnvironment:
        """The policies as stored."""
        return stored_environment(self.facts.deployment)

    def saga(self, question: SagaQuestion) -> SagaAnswer:
        """As `saga @place` says."""
        return ask_stored_saga(question, self.facts, self.info, self.rules, self.decisions, self.component)

    def chains(self, tool: str = "") -> ChainReport:
        """As `chain check @place` says."""
        profile = Profile.of(self.rules)
        beside = definitions_in(self.definitions, self.rules, profile)
        deployment = self.facts.under(self.rules).deployment
        sources = stored_sources(self.facts.deployment, deployment, beside, self.rules, profile)
        return check_chains(sources, None, tool)

    def grants(self) -> Iterator[HeldGrant]:
        """Those of imported wallets, and of initial cards where an agent type as such has no wallet."""
        facts = self.facts
        for agent in facts.under(self.rules).deployment.agents:
            holder = facts.holder_of(agent.name)
            if holder is None or facts.wallet_for(holder) is None:
                yield from initial_grants((agent,))
        for stored in facts.deployment.wallets:
            wallet = facts.wallet_for(stored.holder, stored.agent_id)
            who = stored.holder.text if wallet is None or wallet.context is None else wallet.context.agent_type
            for held in wallet.cards if wallet is not None else ():
                card = held.card.id
                for bound, index, grant in held.card.bounds.each():
                    place = facts.place(card, bound, index)
                    yield HeldGrant(who, str(card), bound, index, grant.text, grant.target.cls.name, place)
