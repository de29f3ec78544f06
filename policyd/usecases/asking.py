"""Who asks a witness, and what else has to be said so that `policyd check` asks the same.

Source: questions 2; interface, Flags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from policyd.core.grants import AgentContext
from policyd.usecases.holders import UNNAMED_ACCOUNT, UNNAMED_COMPONENT, Holder, Party
from policyd.usecases.wallet_holders import WalletHolder

MAX_TOGETHER = 3
"""So many instances with the same answer are named; the others are counted."""


@dataclass(frozen=True, slots=True)
class Asking:
    """The asker of one call.

    Attributes:
        agent: the id of the agent; empty for an account.
        holder: the holder in full, where its agent type does not name it in its deployment; else empty.
        account: what stands for an account that the input leaves open; else empty.
        component: likewise.
        is_before_expiry: whether cards count that expire, because no moment was given.
    """

    agent: str = ""
    holder: str = ""
    account: str = ""
    component: str = ""
    is_before_expiry: bool = False


def asking(party: Party, instance: AgentContext | None, filled: Party | None = None) -> Asking:
    """How a party asks as one of its instances.

    Args:
        party: as it was given.
        instance: None for the one that it is.
        filled: the same with names for what it leaves open; None where it leaves nothing open.
    """
    context = instance if instance is not None else party.context
    agent = (context.agent_id if context is not None else None) or ""
    if isinstance(party, Holder):
        names = filled.context if isinstance(filled, Holder) else party.context
        return Asking(
            agent,
            account=names.account if party.context.account == UNNAMED_ACCOUNT else "",
            component=names.component if party.context.component == UNNAMED_COMPONENT else "",
        )
    own = () if context is None else (context.agent_type, context.agent_id)
    holder = "" if party.name in own else party.recipient.text
    return Asking(agent, holder, is_before_expiry=isinstance(party, WalletHolder) and _expires(party))


def _expires(party: WalletHolder) -> bool:
    return party.at is None and any(held.card.expires_at is not None for held in party.wallet.cards)


def together(name: str, agents: Sequence[str]) -> str:
    """How instances are called that have the same answer.

    >>> together("Cart", ['Cart("b")', 'Cart("c")'])
    'Cart as Cart("b") and Cart("c")'
    """
    named = list(agents[:MAX_TOGETHER])
    rest = len(agents) - len(named)
    named += [f"{rest} more"] if rest else []
    return f"{name} as " + (", ".join(named[:-1]) + " and " if len(named) > 1 else "") + named[-1]
