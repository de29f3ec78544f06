"""Which kind of denial an operation or a target gives, as the order of causes needs it.

Source: host 6.3.
"""

from __future__ import annotations

from policyd.core.grants import AgentContext, Target
from policyd.core.operations import Operation
from policyd.explain.cause_catalogue import kind_of_target

_KINDS = {
    "dns": "socket",
    "net": "socket",
    "websocket": "websocket",
    "secret": "secret-reveal",
    "tool": "tool-rpc",
    "saga": "saga",
    "debug": "debug-connect",
    "card": "card",
}
_BY_OPERATION = {
    "agent.get-self-metadata": "self-metadata",
    "agent.get-metadata": "agent-metadata",
    "agent.resolve-strict": "agent-metadata",
    "agent.list": "agent-list",
    "agent.update": "agent-operation",
    "agent.fork": "agent-operation",
    "agent.revert": "agent-operation",
    "agent.create-webhook": "webhook",
    "agent.start": "env",
    "agent.identity": "env",
    "secret.hold": "config",
}


def kind_of_operation(operation: Operation) -> str:
    """The kind of denial that a refusal of an operation is."""
    if operation.id in _BY_OPERATION:
        return _BY_OPERATION[operation.id]
    if operation.side.value == "service":
        return "debug-connect" if operation.id.startswith("debug.") else "rest-403"
    head = operation.id.partition(".")[0]
    if head in ("fs", "http", "env", "config", "kv", "blob", "rdbms", "oplog"):
        return head
    return _KINDS.get(head, "agent-rpc" if head == "agent" else "permission")


def kind_of_asked(target: Target, context: AgentContext | None) -> str:
    """The kind of denial that the refusal of a bare target is.

    Args:
        target: what was asked for; its owner may be `?agent` while only the type of the asker is known.
        context: the agent that asks; None for a service.
    """
    known, slot = target.owner.known, target.owner.slot
    is_self = slot is not None and slot.value == "?agent"
    if context is not None and len(known) == 5 and known[:4] == context.segments and target.owner.is_exact:
        own = known[4] == context.agent_id
        is_self = own or (context.agent_id is None and known[4].partition("(")[0] == context.agent_type)
    return kind_of_target(
        target.cls.name,
        target.verb,
        is_self=is_self,
        is_pattern=not target.owner.is_exact and slot is None,
        is_service=context is None,
    )
