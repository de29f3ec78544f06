"""The shapes of the specification: what each says by itself, before the text around it is looked at.

`E-01` to `E-46` are the platform's own texts. `B-01` is a denial that is told in its common words alone. `A-…` are
denials without an error, one per row of the table of host 5.4 that has no shape of its own; `O-01` is the
entry of an oplog; `L-…` are refusals that only look like denials.

Source: host 1.8, 5.4, 5.5, 5.6, 6.3.
"""

from __future__ import annotations

from dataclasses import dataclass

from policyd.syntax.denials.reading import OperationGuess, Surface
from policyd.syntax.denials.shape_operations import (
    BARE,
    CARDS,
    FILES,
    HOST_OPERATIONS,
    KEY_VALUE,
    SOCKETS,
    guesses_of,
)

_S = Surface


@dataclass(frozen=True, slots=True)
class Shape:
    """One row.

    Attributes:
        id: stable.
        rank: the outermost shape of a denial is the one of least rank.
        kind: one of `reading.KINDS`.
        surfaces: where it is seen.
        operations: what may have been refused, the surest first.
        not_policy: why no card decides it; empty for denials.
        remark: what a person should know.
    """

    id: str
    rank: int
    kind: str
    surfaces: tuple[Surface, ...]
    operations: tuple[OperationGuess, ...]
    not_policy: str = ""
    remark: str = ""


def _rows() -> tuple[Shape, ...]:
    def row(
        id: str, rank: int, kind: str, surfaces: tuple[Surface, ...], operations: str, remark: str = "", no: str = ""
    ) -> Shape:
        return Shape(id, rank, kind, surfaces, guesses_of(operations, f"the text is of shape {id}"), no, remark)

    rust, wasi, rpc, http, cli, log = _S.RUST, _S.WASI, _S.RPC, _S.HTTP, _S.CLI, _S.LOG
    ts, gone = _S.TYPESCRIPT, _S.ABSENCE
    calls = "agent.invoke ?agent.invoke.async ?agent.invoke.trigger ?agent.invoke.schedule"
    remote = f"{calls} ?agent.invoke.callee"
    return (
        row("E-01", 90, "permission", (log,), "", "the text carries the target itself"),
        row(
            "E-02",
            30,
            "not-policy",
            (log,),
            "",
            no="the evaluator itself failed: an unsupported target, not a missing grant",
        ),
        row("E-03", 30, "rest-403", (rpc,), "!registry.system-only", "no card can fix it: only the platform may call"),
        row(
            "E-04",
            30,
            "rest-403",
            (http,),
            "account.permission-share.create ?account.permission-share.update ?component.create ?component.update",
            "the caller is an internal principal without a delegation surface",
        ),
        row(
            "E-05",
            60,
            "rdbms-no-target",
            (wasi,),
            "rdbms.query rdbms.execute ?rdbms.query-stream",
            "rewrite the statement; no grant helps",
            "the statement is outside the forms whose tables can be told",
        ),
        row(
            "E-06",
            60,
            "rdbms-no-target",
            (wasi,),
            "!rdbms.begin-transaction",
            "the database name in the connection URL is empty or has a dot",
            "no target can be made of the database name in the connection URL",
        ),
        row("E-07", 70, "rdbms", (wasi,), "rdbms.query rdbms.execute ?rdbms.query-stream ?rdbms.begin-transaction"),
        row(
            "E-08",
            70,
            "kv",
            (wasi,),
            KEY_VALUE,
        ),
        row(
            "E-09",
            65,
            "host-operation",
            (rust,),
            f"{HOST_OPERATIONS} ?oplog.enrich",
            "no target inside: the call site tells the operation",
        ),
        row(
            "E-10",
            40,
            "agent-operation",
            (rust, rpc),
            "agent.update agent.fork agent.revert",
            "the gate in the guest passed, the check in the worker service failed: compare owner and id",
        ),
        row(
            "E-11",
            65,
            "oplog",
            (rust,),
            "oplog.read oplog.search",
            "also returned for every agent of another environment, whatever the grants",
        ),
        row(
            "E-12",
            65,
            "config",
            (rust,),
            "config.get-value config.get-secret",
            "two targets are possible: reading the entry, and holding the secret behind it",
        ),
        row("E-13", 65, "config", (wasi,), "!config.get"),
        row(
            "E-14",
            65,
            "secret-reveal",
            (wasi,),
            "secret.reveal ?secret.hold",
            "the key is the canonical lowerCamelCase path; a handle nested in the value that may not be held reads the"
            " same",
        ),
        row("E-15", 65, "websocket", (wasi,), "!websocket.connect", "the URL is known at the call site only"),
        row("E-16", 65, "webhook", (rust,), "!agent.create-webhook"),
        row(
            "E-17",
            35,
            "config",
            (wasi,),
            "?config.get-secret ?secret.reveal",
            no="the binding of the tool limits its secrets",
        ),
        row("E-18", 50, "tool-rpc", (rpc,), "!tool.invoke", no="the manifest does not bind the tool to the agent type"),
        row(
            "E-19",
            50,
            "not-policy",
            (rpc,),
            "!tool.invoke",
            "the permission check passed",
            "the build has no dispatcher for tools",
        ),
        row("E-20", 50, "scope-card", (rpc,), calls, no="an argument of the call is wrong"),
        row(
            "E-21",
            45,
            "scope-card",
            (rpc,),
            "agent.invoke.callee ?agent.invoke ?agent.invoke.async ?agent.invoke.trigger ?agent.invoke.schedule",
            "check the root card, not the grants",
        ),
        row("E-22", 50, "card", (wasi,), CARDS, "the owner is the account of the component, as recorded"),
        row(
            "E-23",
            50,
            "card",
            (wasi,),
            "!card.revoke",
            "a rule on possession, whatever the grants: the card or a live ancestor of it must be in the wallet",
        ),
        row("E-24", 50, "card", (wasi,), "!card.install", no="only agents can be given a card this way"),
        row("E-25", 55, "card", (wasi,), CARDS),
        row(
            "E-26",
            35,
            "agent-rpc",
            (rust, rpc),
            remote,
            "a panic of the generated client: the calling invocation traps",
        ),
        row("E-27", 35, "agent-rpc", (ts, rpc), remote),
        row("E-28", 55, "agent-rpc", (rpc,), f"{remote} ?tool.invoke"),
        row(
            "E-29",
            45,
            "rest-500-secret",
            (http,),
            "secret.hold",
            "the target is `secret : hold` of a key at the agent that was called",
        ),
        row("E-30", 20, "rest-403", (http,), ""),
        row("E-31", 20, "rest-401", (http,), "", no="the token is invalid or expired: the text has no target"),
        row("E-32", 10, "rest-403", (cli, http), ""),
        row(
            "E-33",
            80,
            "rest-absent",
            (http, gone),
            "",
            "a refused `view` of the object or of its parent reads the same",
        ),
        row(
            "E-34",
            40,
            "deploy-refused",
            (http,),
            "component.create ?component.update ?environment.deploy",
            "the initial card is no attenuation of what the deployer may delegate",
        ),
        row(
            "E-35",
            40,
            "deploy-refused",
            (http,),
            "!component.update",
            "the client sent no initial card for a new agent type",
        ),
        row(
            "E-36",
            60,
            "env",
            (gone,),
            "!env.get !agent.start !agent.identity",
            "inside an agent this is almost always a filtered variable",
        ),
        row(
            "E-37",
            75,
            "fs",
            (wasi,),
            FILES,
            "files provisioned read-only and paths that leave their directory read the same",
        ),
        row(
            "E-38",
            75,
            "socket",
            (wasi,),
            SOCKETS,
            "IPv6 addresses and hosts that cannot be parsed read the same",
        ),
        row(
            "E-39",
            75,
            "http",
            (wasi,),
            "!http.send",
            "URLs with user information, without an authority or with an IPv6 address read the same",
        ),
        row("E-40", 30, "not-policy", (wasi,), "", no="the method is declared read-only"),
        row("E-41", 30, "saga", (rust,), "saga.retry", "the policy itself may be the cause: see the message inside"),
        row("E-42", 15, "debug-connect", (rpc,), "!debug.connect", "the session is closed; eight targets are needed"),
        row(
            "E-43",
            40,
            "rest-absent",
            (http, gone),
            "environment.http-api-deployment.create environment.mcp-deployment.create",
            "a refused `view` of the domain registration reads the same",
        ),
        row(
            "E-44",
            40,
            "rest-403",
            (http,),
            "account.permission-share.create ?account.permission-share.update",
            "grants are passed on within what the caller may delegate only",
        ),
        row("E-45", 40, "permission", (ts,), ""),
        row("E-46", 38, "tool-rpc", (ts, rpc), "!tool.invoke"),
        row(
            "B-01",
            86,
            "permission",
            (log,),
            BARE,
            "other texts of denials hold these words, too: the whole error, or the name of the call, tells them apart",
        ),
        row("A-01", 85, "env", (gone,), "env.get", "the variable may also be unset, or its name no identifier"),
        row(
            "A-02",
            85,
            "config",
            (gone,),
            "config.get-all ?config.get",
            "the entry may also not be configured; one unusable path hides all",
        ),
        row(
            "A-03",
            85,
            "agent-metadata",
            (gone,),
            "agent.get-metadata agent.resolve-strict",
            "the agent may also not exist",
        ),
        row(
            "A-04",
            85,
            "fs",
            (gone,),
            "fs.read-stream fs.read-directory",
            "P3 streams are empty and tell the error in the future beside them; the file may also be empty",
        ),
        row("A-05", 85, "fs", (gone,), "fs.stat-at", "the file may also be missing"),
        row("A-06", 85, "rest-absent", (gone,), "", "entries that may not be viewed are left out of lists"),
        row(
            "A-07",
            42,
            "rest-absent",
            (http, gone),
            "",
            "a refused `view` of the object or of its parent reads the same",
        ),
        row(
            "A-08",
            42,
            "rest-absent",
            (http, gone),
            "svc.agent.resolve-type svc.agent.invoke svc.agent.create",
            "a refused `view` of the agent type reads the same; the answer may come from a cache",
        ),
        row(
            "O-01",
            44,
            "agent-rpc-secret",
            (_S.OPLOG,),
            "secret.hold",
            "a secret in the input was not to be held; the invocation was taken back, the agent stays usable",
        ),
        row("L-01", 50, "not-policy", (rpc,), "agent.invoke", no="agents do not call themselves, whatever the cards"),
        row(
            "L-02",
            50,
            "tool-rpc",
            (rpc,),
            "!tool.invoke",
            no="an argument or a command word cannot be part of a target",
        ),
        row(
            "L-04",
            35,
            "rest-403",
            (http,),
            "!card.revoke-managed",
            no="cards of this kind are not revoked this way, whatever the grants",
        ),
        row(
            "L-03",
            64,
            "not-policy",
            (rust,),
            "?agent.get-self-metadata ?agent.update ?agent.fork ?agent.revert",
            no="the back end failed; the cause is inside",
        ),
    )


SHAPES: dict[str, Shape] = {shape.id: shape for shape in _rows()}
"""All shapes by id."""
