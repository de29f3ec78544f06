"""The causes of denials with their titles, the evidence that settles each, and their order for every kind of denial.

Source: host 6.1, 6.2, 6.3.
"""

from __future__ import annotations

EVIDENCE: dict[str, str] = {
    "V-1": "the exact target, as the text of the error or the parameters give it",
    "V-2": "the holder: its full id, the recorded account, the owner of tool code",
    "V-3": "the initial card of the component revision that runs",
    "V-4": "the wallet now (`card list --agent`)",
    "V-5": "the wallet at the time, from the card entries of the oplog",
    "V-6": "the scope card of the invocation with its roots",
    "V-7": "parents, expiry and revocation of each card",
    "V-8": "whether the call was live or replayed",
    "V-9": "the surface that reported it",
    "V-10": "the raw parameters: URL, path, statement, key, name",
    "V-11": "bindings of tools, read-only files, limits on secrets",
    "V-12": "the token, its shares, and when they changed last",
    "V-13": "a counter-experiment: the same call with one grant more, or by the owner's token",
    "V-14": "the versions of executor, command line and SDK",
}

CAUSES: dict[str, tuple[str, tuple[str, ...]]] = {
    "C-1": ("no grant of any lower bound covers it", ("V-3", "V-4")),
    "C-2": ("right class and owner, wrong verb", ("V-1",)),
    "C-3": ("right verb, the resource is too narrow or of another kind", ("V-1",)),
    "C-4": ("the owner is another one", ("V-1", "V-2")),
    "C-5": ("it is granted to another recipient", ("V-2",)),
    "C-6": ("a lower negative of the same card denies it", ("V-3", "V-4")),
    "C-7": ("a ceiling does not list it", ("V-3", "V-4")),
    "C-8": ("an upper negative denies it", ("V-3", "V-4")),
    "C-9": ("the ceiling of the scope card withholds it", ("V-6",)),
    "C-10": ("a card that gave it is revoked or expired", ("V-4", "V-5", "V-7")),
    "C-11": ("an explicit `initialCard` replaced the default card", ("V-3",)),
    "C-12": ("the deployment refused the initial card, or another card is deployed", ("V-3",)),
    "C-13": ("a slot stands for something else than was meant", ("V-2",)),
    "C-14": ("the name is spelled otherwise after normalisation", ("V-1", "V-10")),
    "C-15": ("no target could be built from the parameters", ("V-10",)),
    "C-16": ("no card decided: another gate refuses in the same shape", ("V-11",)),
    "C-17": ("the code runs as a tool, with another authority", ("V-2",)),
    "C-18": ("an old denial was replayed", ("V-8",)),
    "C-19": ("a second check elsewhere failed", ("V-9", "V-1")),
    "C-20": ("a service used authority or a resolution that it had cached", ("V-12",)),
    "C-21": ("another target of the same operation failed", ("V-1",)),
    "C-22": ("a `view` that is refused shows as not found", ("V-13",)),
}

ORDER: dict[str, tuple[str, ...]] = {
    "fs": ("C-11", "C-2", "C-3", "C-16", "C-15", "C-17", "C-7", "C-8", "C-6", "C-14"),
    "socket": ("C-3", "C-1", "C-11", "C-15", "C-7", "C-8", "C-18"),
    "http": ("C-3", "C-11", "C-15", "redirect", "C-14", "C-7", "C-8", "C-18"),
    "websocket": ("C-3", "C-1", "C-7", "C-8", "C-15"),
    "env": ("unset", "C-1", "C-3", "C-15", "C-11", "C-6", "C-7", "C-8", "C-17"),
    "config": ("C-3", "C-1", "C-14", "C-15", "C-16", "C-7", "C-8"),
    "secret-reveal": ("C-2", "C-14", "C-4", "C-7", "C-8", "C-10", "unavailable"),
    "kv": ("C-3", "C-2", "C-1", "C-4", "C-6", "C-7", "C-8"),
    "blob": ("C-3", "C-2", "C-1", "C-4", "C-7", "C-8"),
    "rdbms": ("C-2", "C-3", "C-21", "C-14", "C-7", "C-8"),
    "rdbms-no-target": ("C-15",),
    "self-metadata": ("C-11", "C-3", "C-7", "C-8", "C-5", "C-4", "C-9", "C-10", "C-18"),
    "agent-metadata": ("missing-agent", "C-1", "C-4", "C-7", "C-8"),
    "agent-list": ("C-4", "C-1", "C-7", "C-8"),
    "host-operation": ("C-11", "C-1", "C-2", "C-3", "C-4", "C-7", "C-8", "C-5", "C-19", "C-9", "C-10", "C-18"),
    "agent-operation": ("C-2", "C-3", "C-19", "C-4", "C-7", "C-8"),
    "oplog": ("C-3", "other-environment", "C-1", "C-4", "C-7", "C-8"),
    "agent-rpc": ("C-1", "C-3", "C-4", "C-19", "C-9", "C-7", "C-8", "C-10"),
    "agent-rpc-secret": ("C-1", "C-9", "C-7"),
    "tool-rpc": ("C-16", "C-3", "C-4", "C-1", "dispatcher"),
    "webhook": ("C-1", "C-3", "C-7", "C-8"),
    "card": ("C-2", "possession", "attenuation", "C-3", "C-4", "C-10", "moved-card"),
    "scope-card": ("scope-argument", "C-10", "attenuation", "C-9"),
    "rest-403": ("C-2", "C-1", "C-4", "C-5", "C-7", "C-8", "C-20", "delegation"),
    "rest-absent": ("wrong-id", "C-22", "C-20"),
    "rest-401": ("bad-token", "C-19"),
    "rest-500-secret": ("C-1",),
    "deploy-refused": ("C-12", "new-type", "C-1"),
    "debug-connect": ("C-21", "C-4"),
    "saga": ("C-11", "C-3", "C-7", "C-8", "C-5", "C-4", "C-9", "C-10", "C-18", "policy", "backend"),
    "permission": ("C-3", "C-2", "C-1", "C-4", "C-5", "C-6", "C-7", "C-8", "C-9", "C-10"),
    "not-policy": ("C-16", "C-15"),
}
"""The causes of each kind of denial (kinds as `policyd.syntax.denials` names them), the likeliest first."""

OTHERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "redirect": ("a redirect led to another host, which is a request of its own", ("V-10",)),
    "unset": ("the variable is really unset", ("V-13",)),
    "unavailable": ("the secret is really unavailable", ("V-11",)),
    "missing-agent": ("the agent does not exist", ("V-13",)),
    "other-environment": ("the agent is of another environment, which is always refused", ("V-1",)),
    "dispatcher": ("edition `snapshot` has no dispatcher for tools", ("V-14",)),
    "possession": ("the holder does not possess the card, nor a live ancestor of it", ("V-4", "V-7")),
    "attenuation": ("the new card is not within its parents", ("V-7",)),
    "moved-card": ("the card that is moved away does not count for its own move", ("V-4",)),
    "scope-argument": ("the argument is no scope card of this invocation", ("V-6",)),
    "delegation": ("what is delegated is not within the caller's own cards", ("V-12",)),
    "wrong-id": ("the id or the environment is wrong, or it is gone", ("V-13",)),
    "bad-token": ("the token is invalid or expired", ("V-12",)),
    "new-type": ("a new agent type came without a card", ("V-14",)),
    "policy": ("the retry policy is unbounded or changed", ("V-14",)),
    "backend": ("the back end failed", ("V-9",)),
}
"""What else a kind of denial can come from, besides the causes of the catalogue."""


def ordered(kind: str) -> tuple[str, ...]:
    """All causes for a kind of denial: those of its row, then the rest of the catalogue by number."""
    first = ORDER.get(kind, ORDER["permission"])
    return (*first, *(cause for cause in CAUSES if cause not in first))


def kind_of_target(cls: str, verb: str, *, is_self: bool, is_pattern: bool, is_service: bool) -> str:
    """The kind of denial that a refusal of a bare target is.

    Args:
        cls: its class.
        verb: its verb.
        is_self: whether its owner is the asking agent.
        is_pattern: whether it asks for all agents of a component or a type.
        is_service: whether the holder is an account.
    """
    if is_service:
        return "rest-403"
    match cls:
        case "filesystem":
            return "fs"
        case "network":
            return "http"
        case "env" | "config" | "kv" | "blob" | "rdbms" | "oplog" | "card":
            return cls
        case "secret":
            return "secret-reveal" if verb == "reveal" else "config"
        case "tool":
            return "tool-rpc"
        case "agent":
            if verb == "invoke":
                return "agent-rpc"
            if verb == "view":
                return "self-metadata" if is_self else "agent-list" if is_pattern else "agent-metadata"
            return "agent-operation"
        case _:
            return "rest-403"
