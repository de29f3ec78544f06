"""By what a caller knows: who validates a question that a project really asks.

Source: middleware 5.2 (table 5-C), 7.7.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.core.tools.reflection import Approach


@dataclass(frozen=True, slots=True)
class KnowledgeRow:
    """One row.

    Attributes:
        key: `C1` and so on.
        approach: of the client; None for any.
        knows: what the caller has.
        question: what is asked.
        by: who validates, and how it ends.
        refuses: whether the client itself refuses before RPC.
        others: further approaches for which the row holds.
    """

    key: str
    approach: Approach | None
    knows: str
    question: str
    by: str
    refuses: bool = False
    others: tuple[Approach, ...] = ()

    def is_about(self, approach: Approach) -> bool:
        """Whether the row holds for clients of an approach."""
        return self.approach in (None, approach) or approach in self.others


_N, _M, _F, _D, _Y = Approach

KNOWLEDGE: tuple[KnowledgeRow, ...] = (
    KnowledgeRow("C1", _N, "shared source", "field type of an input", "compiler and codec; host again", True),
    KnowledgeRow("C2", _N, "shared source, producer redeployed with another schema", "does my call still fit", "host"),
    KnowledgeRow("C3", _M, "durable id and method signature", "agent type name of the id", "nobody locally; host"),
    KnowledgeRow(
        "C4",
        _M,
        "durable id, method signature, raw configuration entries",
        "are the entries declared and well-typed",
        "nobody locally: no effect on an existing agent; on first creation the host decides",
    ),
    KnowledgeRow("C5", _M, "only constructor values", "can I create an agent", "impossible: none is described", True),
    KnowledgeRow(
        "C6",
        _F,
        "full definition and constructor values",
        "identity (type, values, durable or phantom)",
        "the client, before RPC; the host when it resolves",
        True,
    ),
    KnowledgeRow("C7", _F, "override of an undeclared path", "is the path known", "the client rejects", True),
    KnowledgeRow("C8", _F, "definition older than the deployment", "does the deployment still match", "host"),
    KnowledgeRow("C9", _D, "snapshot", "input restrictions and command constraints", "the client, before RPC", True),
    KnowledgeRow("C10", _D, "snapshot, deployment changed since", "staleness", "host; rediscover explicitly"),
    KnowledgeRow("C11", _D, "snapshot, type in ephemeral mode", "get by identity", "the client: not offered", True),
    KnowledgeRow("C12", _D, "name space of a tool", "invoke", "the client rejects", True),
    KnowledgeRow(
        "C13",
        _Y,
        "value packed with a snapshot's schema",
        "does validation travel with the value",
        "no: the caller's policy from then on, host still checks",
    ),
    KnowledgeRow("C14", _Y, "durable id and packed value", "is the value valid", "caller; host"),
    KnowledgeRow(
        "C15",
        _Y,
        "explicit tool command and packed value",
        "command exists, graph equivalent",
        "host: `InvalidCommandPath`, `InvalidInput`",
    ),
    KnowledgeRow(
        "C16",
        _M,
        "own definition of some commands of a tool",
        "deployed with the same input graph",
        "locally the own definition only; host: `InvalidCommandPath`, `InvalidInput`",
        others=(_F,),
    ),
    KnowledgeRow("C17", None, "no card", "may I call", "host: `Denied`"),
    KnowledgeRow(
        "C18",
        None,
        "live stream as argument",
        "is the kind of call allowed",
        "awaited calls only; trigger and schedule refuse it",
        True,
    ),
    KnowledgeRow("C19", _F, "override of a secret path", "create", "the client rejects", True),
    KnowledgeRow("C20", _F, "required configuration omitted", "create", "no local error: default or host decides"),
    KnowledgeRow("C21", _F, "override value out of range", "create", "the client rejects before RPC", True),
    KnowledgeRow("C22", _D, "option omitted that has a default", "call", "the client fills it"),
    KnowledgeRow("C23", _D, "tool visible, no permission", "call", "host: `Denied`"),
    KnowledgeRow("C24", _D, "agent type not visible", "look up", "nothing; no agent is created"),
    KnowledgeRow("C25", _D, "result shape differs from the snapshot", "awaited call", "the client rejects the output"),
    KnowledgeRow("C26", _Y, "fields in another order", "call", "host: `InvalidInput`, the graph is not equivalent"),
    KnowledgeRow("C27", _Y, "constructor values, no durable id", "call", "impossible; one-shot address only", True),
    KnowledgeRow("C28", None, "overrides while rebinding", "configuration", "ignored for an existing agent"),
    KnowledgeRow("C29", None, "stored metadata of a durable call", "rebind", "allowed, after explicit rediscovery"),
    KnowledgeRow("C30", None, "final id of an ephemeral call", "rebind", "refused", True),
    KnowledgeRow("C31", None, "known phantom of an ephemeral type", "call twice", "the first call only"),
    KnowledgeRow("C32", _D, "custom error not in the snapshot", "awaited call", "an unknown structured error"),
)
"""Rows by what the caller knows."""
