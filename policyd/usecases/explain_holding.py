"""Whose denial is explained: an agent of a manifest, the holder of a wallet file, or a holder of a stored deployment.

Source: interface, `explain`; host 6.1 (V-2 to V-7); cards 5.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from policyd.core.admission import HeldCard, Reach, TypeAnswer, Wallet, Why
from policyd.core.admission.names import instances
from policyd.core.application import AgentType, Deployment, GrantOrigin, InitialCard
from policyd.core.cards import Bound, Bounds, Card, CardId, ScopeCard, Timestamp
from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Target
from policyd.core.grants.names import ascii_lower
from policyd.findings import InputError, Span
from policyd.usecases.answer import Answer
from policyd.usecases.check_call import (
    ManifestQuestion,
    WalletQuestion,
    check_manifest,
    check_wallet,
    decide,
    initial_wallet,
)
from policyd.usecases.deployments import Described, Selection, agent_name, no_such_agent
from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT
from policyd.usecases.wallet_holders import Places

Answering = Callable[[str], Answer]
"""The answer to a target, as `check` gives it."""


@dataclass(frozen=True, slots=True)
class FromManifest:
    """What a manifest says of the agent type.

    Attributes:
        described: the deployment.
        agent: the type.
        selection: what the question adds to the manifest.
        again: reads the manifest under other rules; None where that cannot be done.
    """

    described: Described
    agent: AgentType
    selection: Selection
    again: Callable[[Rules], Described] | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """A holder with everything that is known of its cards.

    Attributes:
        who: how it is called: the type or id as asked, or the account.
        wallet: its cards; the agent's id is None where only the type was asked about.
        answering: answers a target with its reasons and places.
        rules: the edition.
        at: the moment; None leaves expiry aside.
        scope: the scope card of the invocation.
        manifest: the manifest by which it can be repaired, None where there is none.
        card: the initial card with its places where no manifest but a store tells it.
        knows_wallet: whether the wallet is known, rather than the initial card alone.
        places: where grants of the wallet stand.
        source: how what was read is called.
        own: where a type was asked about, its agents with wallets of their own, of which `wallet` does not speak.
        is_all: whether `own` holds all of them.
    """

    who: str
    wallet: Wallet
    answering: Answering
    rules: Rules
    at: Timestamp | None = None
    scope: ScopeCard | None = None
    manifest: FromManifest | None = None
    card: InitialCard | None = None
    knows_wallet: bool = False
    places: Places = field(default_factory=dict, hash=False)
    source: str = ""
    own: tuple[Holding, ...] = ()
    is_all: bool = True

    @property
    def initial(self) -> HeldCard | None:
        """The initial card in the wallet."""
        return next((held for held in self.wallet.cards if held.is_initial), None)

    @property
    def own_card(self) -> InitialCard | None:
        """The initial card with its places, where a manifest gives it."""
        return self.manifest.agent.initial_card if self.manifest else self.card

    @property
    def is_service(self) -> bool:
        """Whether a token or user asks, rather than an agent."""
        return self.wallet.context is None

    def for_instance(self, target: Target, answer: Answer) -> AgentContext | None:
        """The agent about which details are told: the one asked about, or one that stands for the others."""
        context = self.wallet.context
        if context is None or context.agent_id is not None:
            return context
        if answer.reach is Reach.SOME:
            named = next((r.detail for r in answer.verdict.reasons if r.why is Why.SOME_INSTANCES), "")
            if named:
                return replace(context, agent_id=named)
        ordinary, _ = instances(context.agent_type, [held.card for held in self.wallet.cards], target)
        return replace(context, agent_id=ordinary[0])

    def live(self, context: AgentContext | None) -> tuple[Card, ...]:
        """The live cards with slots filled for one agent."""
        wallet = self.wallet if context is None else self.wallet.for_agent(context)
        return tuple(held.card for held in wallet.live(self.at))

    def fixed(self) -> frozenset[tuple[Bound, int]]:
        """The grants of the initial card that are no lines of the manifest."""
        card = self.own_card
        if card is None:
            return frozenset()
        return frozenset((b, i) for b, i, placed in card.each() if placed.origin is not GrantOrigin.WRITTEN)


def in_manifest(
    described: Described,
    selection: Selection,
    agent: str,
    rules: Rules,
    at: Timestamp | None = None,
    scope: ScopeCard | None = None,
    again: Callable[[Rules], Described] | None = None,
) -> Holding:
    """An agent of a manifest: a fresh one, whose wallet is its initial card.

    Raises:
        InputError: if the manifest names no such agent type.
    """
    type_name, agent_id = agent_name(agent)
    found = described.deployment.agent(type_name)
    if found is None:
        raise no_such_agent(type_name, described.deployment)
    context = _context(described.deployment, found, selection, agent_id)
    # the manifest is read again under the other edition, mostly with the same card: it is decided upon once
    decided: list[tuple[Bounds, AgentContext, Target, TypeAnswer]] = []

    def deciding(held: AgentType, holder: AgentContext, target: Target, asked: ManifestQuestion) -> TypeAnswer:
        bounds = held.initial_card.as_written
        for known, whose, what, answer in decided:
            if (whose, what) == (holder, target) and known == bounds:
                return answer
        answer = decide(held, holder, target, asked)
        decided.append((bounds, holder, target, answer))
        return answer

    def answering(target: str) -> Answer:
        decided.clear()
        question = ManifestQuestion(agent, target, at, scope)
        return check_manifest(described, selection, question, rules, deciding, again)

    return Holding(
        agent,
        initial_wallet(found, context),
        answering,
        rules,
        at,
        scope,
        FromManifest(described, found, selection, again),
        source=described.deployment.environment,
    )


def _context(deployment: Deployment, agent: AgentType, selection: Selection, agent_id: str | None) -> AgentContext:
    return AgentContext(
        ascii_lower(selection.account) or deployment.account or UNNAMED_ACCOUNT,
        deployment.application,
        deployment.environment,
        selection.component or agent.component or UNNAMED_COMPONENT,
        agent.name,
        agent_id,
    )


def of_wallet(
    wallet: Wallet,
    rules: Rules,
    agent: str = "",
    at: Timestamp | None = None,
    scope: ScopeCard | None = None,
    places: Mapping[tuple[CardId, str, int], Span] | None = None,
    manifest: FromManifest | None = None,
    source: str = "",
) -> Holding:
    """The holder of a wallet; with the manifest from which its initial card comes, if that is given.

    Raises:
        InputError: if the agent is not one of the wallet's type.
    """
    context = wallet.context
    if agent and context is None:
        raise InputError.of("CARD060", "the holder of this wallet is no agent", None, "leave out `--agent`")
    if agent and context is not None:
        type_name, agent_id = agent_name(agent)
        if type_name != context.agent_type:
            raise InputError.of("CARD060", f"the wallet is that of type `{context.agent_type}`, not `{type_name}`")
        if agent_id is not None:
            wallet = wallet.for_agent(replace(context, agent_id=agent_id))
    context = wallet.context

    def answering(target: str) -> Answer:
        return check_wallet(wallet, WalletQuestion(target, at, scope), rules, places)

    who = (context.agent_id or context.agent_type) if context is not None else wallet.holder.text
    return Holding(
        who, wallet, answering, rules, at, scope, manifest, knows_wallet=True, places=places or {}, source=source
    )


__all__ = ["Answering", "FromManifest", "Holding", "in_manifest", "of_wallet"]
