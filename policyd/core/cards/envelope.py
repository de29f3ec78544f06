"""Deploy envelopes: the concrete grants as which an initial card is checked against the deployer's cards.

Source: cards 8.4 D2, 10.1.
"""

from __future__ import annotations

from policyd.core.cards.card import Bound, Bounds
from policyd.core.grants import AgentContext, Grant, Owner, Recipient, Slot, Target

UNKNOWN = "*"
"""The literal name that stands for a level which the recipient leaves open; not a wildcard."""

_WIDENED = frozenset({"filesystem", "env", "oplog", "config", "agent"})


def envelope_context(recipient: Recipient) -> AgentContext:
    """The context made from a grant's own recipient: levels it leaves open become literal stars (D2)."""
    names = [*recipient.known[:5], *(UNKNOWN for _ in range(5 - len(recipient.known)))]
    account, application, environment, component, agent_type = names
    agent_id = f"{agent_type}(*)" if len(recipient.known) == 5 else UNKNOWN
    return AgentContext(account, application, environment, component, agent_type, agent_id)


def envelope(grant: Grant) -> Grant:
    """The widest concrete grant that the recipient pattern of a polymorphic one lets it become.

    The result may not be a readable grant: its stars are names and `T(*)` is a literal leaf.
    """
    return grant.filled(envelope_context(grant.recipient))


def deploy_envelopes(bounds: Bounds) -> Bounds:
    """The four lists as the registry checks them.

    Grants for the external tool owner of a component (a recipient shape of edition `next`) with owner
    exactly `?agent` are widened to the component where positive and take no part where negative (10.1).
    """
    return Bounds(*(_envelopes(bounds, bound) for bound in Bound))


def _envelopes(bounds: Bounds, bound: Bound) -> tuple[Grant, ...]:
    found = []
    for grant in bounds.of(bound):
        owner = grant.target.owner
        if grant.recipient.is_external_tool_owner and grant.target.cls.name in _WIDENED and owner.slot is Slot.AGENT:
            if bound.is_positive:
                wide = Owner(owner.kind, grant.recipient.known[:4])
                target = grant.target
                found.append(Grant(Target(target.cls, wide, target.verb, target.resource), grant.recipient))
            continue
        found.append(envelope(grant))
    return tuple(found)
