"""What a single grant can have an effect on: small predicates that answer no only where that is proved.

A name that is not known (the account, the component of an agent type) is a placeholder and may be
any name. So `may_…` is a safe overestimate, and its negation is a proof.

Source: cards 3, 4, B.
"""

from __future__ import annotations

from policyd.core.grants import ANY_VERB, Level, Owner, OwnerKind, Recipient, Target
from policyd.core.grants.resources import (
    AnyResource,
    Exact,
    FilePath,
    HttpRoute,
    Invocation,
    NetworkResource,
    OplogRange,
    Ports,
    Resource,
    SegmentPath,
    StoreKey,
    TableName,
)
from policyd.core.grants.resources.segments import GLOBSTAR, STAR

_MARK = "\0"

UNKNOWN_ACCOUNT = f"{_MARK}account"
UNKNOWN_COMPONENT = f"{_MARK}component"
THIS_AGENT = f"{_MARK}agent"
"""The id of the agent for which an owner slot `?agent` is filled: some instance of its type, not known which."""


def is_unknown(name: str) -> bool:
    """Whether `name` is a placeholder."""
    return name.startswith(_MARK)


def with_open_names(text: str) -> str:
    """`text` with the placeholders of unknown names shown as what they stand for."""
    for name in (UNKNOWN_ACCOUNT, UNKNOWN_COMPONENT, THIS_AGENT):
        text = text.replace(name, f"<{name.removeprefix(_MARK)}>")
    return text


def may_equal(left: str, right: str) -> bool:
    """Whether two names can be the same: equal, or one of them is not known."""
    return left == right or is_unknown(left) or is_unknown(right)


def _may_share(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    return all(may_equal(a, b) for a, b in zip(left, right, strict=False))


def may_apply(recipient: Recipient, holder: Recipient) -> bool:
    """Whether a grant for `recipient` can be one for `holder`, an agent described by its type (R4, R6)."""
    if recipient.level is Level.ANY:
        return True
    if holder.level < recipient.level:
        return False
    if len(recipient.known) == Level.AGENT and recipient.is_external_tool_owner != holder.is_external_tool_owner:
        return False
    return _may_share(recipient.known, holder.known)


def applies(recipient: Recipient, holder: Recipient) -> bool:
    """Whether a grant for `recipient` is certainly one for `holder`."""
    return recipient.covers(holder)


def may_own(owner: Owner, exact: tuple[str, ...], agent_type: str = "") -> bool:
    """Whether `owner` can cover the thing at the path `exact`.

    Args:
        owner: filled; `?agent` as `THIS_AGENT`.
        exact: a path of full depth; `THIS_AGENT` as its leaf is some instance of `agent_type`.
        agent_type: the type of that instance.
    """
    return owners_may_overlap(owner, Owner(owner.kind, exact), agent_type)


def owners_may_overlap(left: Owner, right: Owner, agent_type: str = "") -> bool:
    """Whether one thing can belong to both; owners of one class, filled for an agent of `agent_type`."""
    if not _may_share(left.known[:4], right.known[:4]):
        return False
    if len(left.known) < 5 or len(right.known) < 5:
        return True
    if left.kind is OwnerKind.TOOL:
        return left.known[4] == right.known[4]
    return _leaves_may_overlap(left, right, agent_type) and _leaves_may_overlap(right, left, agent_type)


def _leaves_may_overlap(left: Owner, right: Owner, agent_type: str) -> bool:
    a, b = left.known[4], right.known[4]
    if left.is_type_wildcard:
        if right.is_type_wildcard:
            return a == b or "(" in a + b
        return b.startswith(f"{a}(") if b != THIS_AGENT else a == agent_type or "(" in a + agent_type
    if right.is_type_wildcard:
        return True  # asked the other way round as well
    if a == THIS_AGENT and b != THIS_AGENT:
        return b.startswith(f"{agent_type}(")
    return a == b or b == THIS_AGENT


def targets_may_overlap(left: Target, right: Target, agent_type: str = "") -> bool:
    """Whether one call can be covered by both; answers no only where that is proved."""
    return (
        left.cls == right.cls
        and (left.verb == right.verb or ANY_VERB in (left.verb, right.verb))
        and resources_may_overlap(left.resource, right.resource)
        and owners_may_overlap(left.owner, right.owner, agent_type)
    )


def resources_may_overlap(left: Resource, right: Resource) -> bool:
    """Whether one resource that a call can ask for is covered by both; of one class.

    >>> resources_may_overlap(StoreKey("s", "*"), StoreKey("s", "a"))
    True
    >>> resources_may_overlap(StoreKey("s", "*"), StoreKey("t", "a"))
    False
    """
    if isinstance(left, AnyResource) or isinstance(right, AnyResource):
        return True
    match left, right:
        case FilePath(a), FilePath(b):
            return paths_may_overlap(a, b)
        case SegmentPath(a), SegmentPath(b):
            if a[:1] == (GLOBSTAR,) or b[:1] == (GLOBSTAR,):
                return True
            return len(a) == len(b) and all(_one(x, y) for x, y in zip(a, b, strict=True))
        case NetworkResource(), NetworkResource():
            return _hosts(left.host, right.host) and _ports(left.ports, right.ports)
        case OplogRange(), OplogRange():
            return max(left.first, right.first) <= min(left.last, right.last)
        case StoreKey(), StoreKey():
            return _part(left.store, right.store) and (_part(left.key, right.key) or GLOBSTAR in (left.key, right.key))
        case TableName(), TableName():
            return (
                _part(left.database, right.database)
                and _part(left.schema, right.schema)
                and _part(left.table, right.table)
            )
        case HttpRoute(), HttpRoute():
            return _part(left.domain, right.domain) and left.path == right.path
        case (Exact(), Exact()) | (Invocation(), Invocation()):
            return left == right
        case _:
            return True


def _part(left: str, right: str) -> bool:
    return left == right or STAR in (left, right)


def _one(left: str, right: str) -> bool:
    return left == right or left in (STAR, GLOBSTAR) or right in (STAR, GLOBSTAR)


def _hosts(left: str, right: str) -> bool:
    if STAR in (left, right):
        return True
    a, b = left.split("."), right.split(".")
    return len(a) == len(b) and all(_part(x, y) for x, y in zip(a, b, strict=True))


def _ports(left: Ports, right: Ports) -> bool:
    return max(left.low, right.low) <= min(left.high, right.high)


def paths_may_overlap(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Whether one path is matched by both patterns; both may hold `*` and `**`.

    >>> paths_may_overlap(("data", "**"), ("*", "x"))
    True
    >>> paths_may_overlap(("data", "*"), ("data",))
    False
    """
    if GLOBSTAR not in left and GLOBSTAR not in right:
        return len(left) == len(right) and all(_part(x, y) for x, y in zip(left, right, strict=True))
    if len(left) * len(right) > MAX_PATH_STEPS:
        return True
    row = [True] + [False] * len(right)
    for j, symbol in enumerate(right, 1):
        row[j] = row[j - 1] and symbol == GLOBSTAR
    for symbol in left:
        after = [row[0] and symbol == GLOBSTAR] + [False] * len(right)
        for j, other in enumerate(right, 1):
            if GLOBSTAR in (symbol, other):
                after[j] = row[j] or after[j - 1] or row[j - 1]
            else:
                after[j] = row[j - 1] and _part(symbol, other)
        row = after
    return row[-1]


MAX_PATH_STEPS = 10_000
"""Longer pairs of paths are taken to overlap: the comparison grows with the product of their lengths."""


def why_not_askable(resource: Resource) -> str:
    """Why no call, whoever makes it, can ask for anything that `resource` covers; empty where one may.

    Source: cards B, RS-fs, RS-oplog.
    """
    match resource:
        case FilePath(segments) if "." in segments or ".." in segments:
            return "calls ask for canonical paths, which never contain `.` or `..`"
        case OplogRange() if resource.first > resource.last:
            return "the range ends before it starts"
        case _:
            return ""


INERT_VERBS = frozenset(
    {
        ("secret", "mint"),
        ("plan", "create"),
        ("environment", "rollback"),
        ("environment", "write-deployment-record"),
        ("system", "view-default-plan"),
    }
)
"""Class and verb; besides these every `restore` (host 2.15, appendix B)."""

INERT_CLASSES = frozenset(
    {"account.oauth2-identity", "environment.kv-bucket", "environment.blob-bucket", "environment.initial-files"}
)
"""Classes of which no verb is asked for (host 2.15)."""


def is_never_asked(name: str, verb: str) -> bool:
    """Whether no operation is known that asks for this verb of class `name`."""
    return name in INERT_CLASSES or verb == "restore" or (name, verb) in INERT_VERBS


OWN_AGENT = frozenset({"filesystem", "env", "config"})
"""Classes about which an agent asks with its own id as the owner (cards B)."""

OWN_ENVIRONMENT = frozenset({"secret", "kv", "blob", "rdbms"})
"""Classes about which an agent asks with its own environment as the owner (cards B)."""

OWN_ACCOUNT = frozenset({"card"})
"""Classes about which an agent asks with its own account as the owner (cards B)."""


def asked_owner(name: str, own: tuple[str, ...]) -> tuple[str, ...] | None:
    """The only owner with which an agent asks about class `name`, None where there are several or it is not fixed.

    Args:
        name: the class.
        own: account, application, environment and component of the agent.
    """
    if name in OWN_AGENT:
        return (*own, THIS_AGENT)
    if name in OWN_ENVIRONMENT:
        return own[:3]
    if name in OWN_ACCOUNT:
        return own[:1]
    return None
