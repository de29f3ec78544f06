"""What the registry checks of an initial card when a component is deployed.

Source: cards 8.4, 10.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.cards.attenuation import TooBroad, attenuate
from policyd.core.cards.card import Bounds, Card, CardId, ManagedBy
from policyd.core.cards.envelope import deploy_envelopes
from policyd.core.cards.timestamp import Timestamp

BAD_REQUEST = 400


@dataclass(frozen=True, slots=True)
class DeployRefused:
    """The registry refuses an initial card.

    Attributes:
        text: what the platform says; where it ends in the debug form of the algebra's error, ours has the kind of
            refusal and the grant in canonical text.
        status: the HTTP status, 0 where the source states none.
        cause: the failed attenuation, over envelopes; None for the other refusals.
    """

    text: str
    status: int
    cause: TooBroad | None = None


@dataclass(frozen=True, slots=True)
class DeployAccepted:
    """The registry takes an initial card.

    Attributes:
        parents: the witnesses, which become the parents of the stored card (D4).
        bounds: the lists that are stored: the polymorphic ones, not the envelopes.
    """

    parents: tuple[CardId, ...]
    bounds: Bounds

    def card(
        self, card_id: CardId, created_at: Timestamp, component_id: str, revision: int, agent_type: str | None
    ) -> Card:
        """The stored card: a template that never expires, managed by the agent type or the component (D4)."""
        owner: tuple[tuple[str, object], ...] = (("componentId", component_id), ("componentRevision", revision))
        managed = (
            ManagedBy("ComponentInitial", owner)
            if agent_type is None
            else ManagedBy("AgentInitial", (*owner, ("agentType", agent_type)))
        )
        return Card(
            card_id,
            self.bounds,
            is_polymorphic=True,
            parents=self.parents,
            created_at=created_at,
            managed_by=managed,
        )


def validate_initial_card(
    bounds: Bounds, deployer: Sequence[Card], agent_type: str | None
) -> DeployAccepted | DeployRefused:
    """Check an initial card against the deployer's cards (D1 to D4); the default card is checked as strictly.

    Args:
        bounds: polymorphic, recipients filled; what a missing key leaves empty is empty, not the default.
        deployer: concrete cards: the account root, then permission shares.
        agent_type: whose card it is; None for the component's own one, which edition `next` knows.
    """
    if not deployer:
        return DeployRefused("The action create agent initial permission card requires an auth context with cards", 0)
    outcome = attenuate(deployer, deploy_envelopes(bounds))
    if not isinstance(outcome, TooBroad):
        return DeployAccepted(outcome.witnesses, bounds)
    whose = (
        "component initial permission card"
        if agent_type is None
        else f"initial permission card for agent type '{agent_type}'"
    )
    named = f"({outcome.grant.text})" if outcome.grant else ""
    return DeployRefused(
        f"Invalid {whose}: card derivation is not allowed by the creator's cards: {outcome.kind}{named}",
        BAD_REQUEST,
        outcome,
    )


def bounds_after_update(stored: Bounds | None, given: Bounds | None, agent_type: str) -> Bounds | DeployRefused:
    """The initial bounds of an agent type after a component update (D5).

    Args:
        stored: those of the present revision, None for an agent type that the update introduces.
        given: those in the update, None where it has none.
        agent_type: the agent type.
    """
    if given is not None:
        return given
    if stored is not None:
        return stored
    return DeployRefused(
        f"Update introducing new agent type '{agent_type}' is missing initial permissions in its provision config",
        BAD_REQUEST,
    )
