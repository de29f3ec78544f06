"""What a pasted text tells: the denials in it, in the order in which they stand there.

Source: host 5, 6.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from policyd.core.grants import Target
from policyd.findings import Finding


class Surface(Enum):
    """Where a denial was seen."""

    RUST = "rust"
    TYPESCRIPT = "typescript"
    SCALA = "scala"
    MOONBIT = "moonbit"
    WASI = "wasi"
    HTTP = "http"
    CLI = "cli"
    RPC = "rpc"
    OPLOG = "oplog"
    LOG = "log"
    ABSENCE = "absence"


class Sure(Enum):
    """How sure a guess is, the surest first."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


KINDS: dict[str, str] = {
    "fs": "a file operation is not permitted",
    "socket": "a look-up of a name, a connection or a datagram is denied",
    "http": "an HTTP request is denied",
    "websocket": "a WebSocket connection is denied",
    "env": "an environment variable is missing",
    "config": "a configuration entry is denied or missing",
    "secret-reveal": "a secret is not revealed",
    "kv": "a key-value operation is denied",
    "blob": "a blob operation is denied",
    "rdbms": "a statement is denied, with its target",
    "rdbms-no-target": "a statement is refused before any card is asked",
    "self-metadata": "reading the own metadata is denied",
    "agent-metadata": "the metadata of another agent is `none`",
    "agent-list": "listing agents is denied",
    "host-operation": "an operation of the host is denied",
    "agent-operation": "update, fork, revert or cancel is denied",
    "oplog": "reading an oplog is denied",
    "agent-rpc": "a call of an agent is denied",
    "agent-rpc-secret": "a call ends in `permission denied` and nothing else",
    "tool-rpc": "a call of a tool is denied",
    "webhook": "creating a webhook is denied",
    "card": "a card operation is denied",
    "scope-card": "a scope card is refused or gone",
    "rest-403": "a service answers 403",
    "rest-absent": "a service answers 404, 409 or an empty list",
    "rest-401": "a service answers 401",
    "rest-500-secret": "a service answers 500 with `Permission denied: permission denied`",
    "deploy-refused": "a deployment is refused",
    "debug-connect": "the debugger may not connect",
    "saga": "a saga ends in `RetryPolicyError`",
    "permission": "a denial whose interface the text does not tell",
    "not-policy": "it looks like a denial and no card decides it",
}
"""Kinds of denials, the rows of host 6.3 with three of ours; the order means nothing."""


@dataclass(frozen=True, slots=True)
class OperationGuess:
    """An operation that may have been refused.

    Attributes:
        operation: its id in the catalogue.
        how_sure: `certain`, `likely` or `possible`.
        why: one clause, without a full stop.
        is_named: whether the text itself names it, by a function or a wrapper, rather than the shape alone.
    """

    operation: str
    how_sure: str
    why: str
    is_named: bool = False


NO_FACTS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Denial:
    """One denial, or one refusal that looks like a denial.

    Attributes:
        shape: the outermost shape (`E-01` to `E-46`; `A-…` for absences; `O-…` for oplog entries).
        surfaces: where it was seen, the outermost first.
        kind: one of `KINDS`.
        target: the target that the text carries, None where it carries none or not all of it.
        target_text: the target in the short form, or as much of it as the text has; empty without one.
        operations: the operations it may have been, the surest first.
        start: offset of its first character in the paste.
        end: offset behind its last character.
        line: 1-based line of the first character.
        column: 1-based column of the first character.
        facts: recognised parts by name; never the value of a secret.
        is_denial: False for refusals that no card decides.
        not_policy: why no card decides it; empty for denials.
        remark: what else a person should know.
        shapes: all shapes that the text has, outermost first; `shape` is the first.
        count: how many times the same denial occurs in the paste.
    """

    shape: str
    surfaces: tuple[Surface, ...]
    kind: str
    target: Target | None = None
    target_text: str = ""
    operations: tuple[OperationGuess, ...] = ()
    start: int = 0
    end: int = 0
    line: int = 1
    column: int = 1
    facts: Mapping[str, str] = field(default_factory=lambda: NO_FACTS)
    is_denial: bool = True
    not_policy: str = ""
    remark: str = ""
    shapes: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True)
class CardEvent:
    """A card entry of an oplog, which tells the wallet at its place.

    Attributes:
        what: `installed`, `revoked`, `expired`, `transferred` or `scope`.
        card: the card's id, empty where the entry names none.
        index: the oplog index, empty where it is not shown.
        line: 1-based line in the paste.
    """

    what: str
    card: str
    index: str
    line: int


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a paste.

    Attributes:
        denials: in order of appearance; repeated ones stand once, with their count.
        unrecognised: empty, or what to paste instead.
        lines: how many lines the paste has.
        more: how many further denials were found and not listed.
        events: card entries of an oplog, in order.
        findings: that the paste was cut, if it was.
    """

    denials: tuple[Denial, ...] = ()
    unrecognised: str = ""
    lines: int = 0
    more: int = 0
    events: tuple[CardEvent, ...] = ()
    findings: tuple[Finding, ...] = ()
