"""Holders: whose wallet it is.

Source: cards 3.2, 7.2; interface, wallet file.
"""

from __future__ import annotations

from policyd.core.edition import Rules
from policyd.core.grants import AgentContext, Level, Recipient
from policyd.syntax import parse_recipient
from policyd.syntax.recipients import RecipientRefused

GENERIC_ARGUMENTS = "(…)"
"""Stands for the arguments of any other instance of a type."""


def read_holder(text: str, rules: Rules) -> Recipient | None:
    """The holder that `text` names: an account, or an agent as `account/app/env/component/Type`; else None."""
    try:
        holder = parse_recipient(text, slots=False, rules=rules)
    except RecipientRefused:
        return None
    return holder if holder.level in (Level.ACCOUNT, Level.AGENT) and len(holder.known) == holder.level else None


def context_of(holder: Recipient, agent_id: str = "", unlike: str = "") -> AgentContext | None:
    """The agent for which slots are filled; None for an account and for the owner of external tools.

    Without an instance the id stands for any other one: it differs from `unlike`, the id that a question names.
    """
    if holder.level is not Level.AGENT or holder.is_external_tool_owner:
        return None
    account, application, environment, component, agent_type = holder.known
    if not agent_id:
        agent_id = agent_type + GENERIC_ARGUMENTS
        if agent_id == unlike:
            agent_id = agent_type + GENERIC_ARGUMENTS * 2
    return AgentContext(account, application, environment, component, agent_type, agent_id)
