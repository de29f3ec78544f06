"""The permission classes: one row each, in the platform's order.

Source: cards 2.1, 2.2, 2.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from policyd.core.edition import Rules
from policyd.core.grants.owner import OwnerKind


class ResourceKind(Enum):
    """How the resources of a class are read and compared; code is written once per kind."""

    FILES = "files"
    NETWORK = "network"
    VARIABLE = "variable"
    OPLOG = "oplog"
    KEY = "key"
    AGENT = "agent"
    TOOL = "tool"
    STORE_KEY = "store-key"
    TABLE = "table"
    CARD = "card"
    EMPTY = "empty"
    PLAN = "plan"
    UUID = "uuid"
    IDENT = "ident"
    DOTTED_IDENT = "dotted-ident"
    APPLICATION = "application"
    REVISION = "revision"
    DOMAIN = "domain"
    ROUTE = "route"
    IDENTITY = "identity"
    INITIAL_FILES = "initial-files"
    NAME = "name"
    TOOL_NAME = "tool-name"


@dataclass(frozen=True, slots=True)
class PermissionClass:
    """One class of things that can be permitted; classes compare by name.

    Attributes:
        name: exact, case-sensitive; may contain dots.
        owner: how deep its owners are.
        verbs: in the platform's order; `*` is accepted besides.
        resource: how its resources are read and compared.
        is_newer: known under edition `next` only.
    """

    name: str
    owner: OwnerKind = field(compare=False)
    verbs: tuple[str, ...] = field(compare=False)
    resource: ResourceKind = field(compare=False)
    is_newer: bool = field(default=False, compare=False)


def _rows() -> tuple[PermissionClass, ...]:
    owner, kind = OwnerKind, ResourceKind
    life = "view create update delete restore"
    table: tuple[tuple[str, OwnerKind, str, ResourceKind], ...] = (
        ("filesystem", owner.AGENT, "read write list stat delete", kind.FILES),
        ("network", owner.EMPTY, "connect", kind.NETWORK),
        ("env", owner.AGENT, "read", kind.VARIABLE),
        ("oplog", owner.AGENT, "read", kind.OPLOG),
        ("config", owner.AGENT, "read", kind.KEY),
        ("secret", owner.ENVIRONMENT, "hold mint reveal", kind.KEY),
        (
            "agent",
            owner.AGENT,
            "invoke view delete interrupt resume update-revision fork revert cancel-invocation"
            " activate-plugin deactivate-plugin",
            kind.AGENT,
        ),
        ("tool", owner.TOOL, "invoke", kind.TOOL),
        ("kv", owner.ENVIRONMENT, "read write delete list", kind.STORE_KEY),
        ("blob", owner.ENVIRONMENT, "read write delete list", kind.STORE_KEY),
        ("rdbms", owner.ENVIRONMENT, "query mutate", kind.TABLE),
        ("card", owner.ACCOUNT, "derive revoke inspect install", kind.CARD),
        (
            "system",
            owner.EMPTY,
            "create-account impersonate-user view-default-plan view-account-summaries-report"
            " view-account-counts-report",
            kind.EMPTY,
        ),
        ("plan", owner.EMPTY, "view create update", kind.PLAN),
        ("account", owner.ACCOUNT, "view update delete set-plan view-plan", kind.EMPTY),
        ("account.usage", owner.ACCOUNT, "view update", kind.EMPTY),
        ("account.token", owner.ACCOUNT, "view create delete", kind.UUID),
        ("account.plugin", owner.ACCOUNT, "view register delete restore", kind.IDENT),
        ("application", owner.APPLICATION, "view create update delete", kind.APPLICATION),
        (
            "environment",
            owner.ENVIRONMENT,
            "view create update delete deploy rollback view-deployment view-deployment-plan view-agent-types"
            " view-tools write-deployment-record",
            kind.REVISION,
        ),
        ("environment.plugin-grant", owner.ENVIRONMENT, "view create delete", kind.IDENT),
        ("environment.domain-registration", owner.ENVIRONMENT, "view create delete", kind.DOMAIN),
        ("environment.security-scheme", owner.ENVIRONMENT, life, kind.IDENT),
        ("environment.http-api-deployment", owner.ENVIRONMENT, life, kind.ROUTE),
        ("environment.mcp-deployment", owner.ENVIRONMENT, life, kind.DOTTED_IDENT),
        ("environment.agent-secret", owner.ENVIRONMENT, life, kind.KEY),
        ("environment.resource-definition", owner.ENVIRONMENT, life, kind.IDENT),
        ("environment.retry-policy", owner.ENVIRONMENT, life, kind.IDENT),
        ("component", owner.COMPONENT, "view create update delete", kind.REVISION),
        ("account.oauth2-identity", owner.ACCOUNT, "view link unlink", kind.IDENTITY),
        ("environment.initial-files", owner.COMPONENT, "view update delete list", kind.INITIAL_FILES),
        ("environment.kv-bucket", owner.ENVIRONMENT, "view create delete clear", kind.IDENT),
        ("environment.blob-bucket", owner.ENVIRONMENT, "view create delete clear", kind.IDENT),
        ("account.permission-share", owner.ACCOUNT, "view create update delete", kind.NAME),
    )
    newer: tuple[tuple[str, OwnerKind, str], ...] = (
        ("account.tool-release", owner.ACCOUNT, "view publish de-publish restore"),
        ("account.tool-middleware-release", owner.ACCOUNT, "view publish de-publish restore"),
        ("environment.tool-grant", owner.ENVIRONMENT, "view create delete restore"),
        ("environment.tool-middleware-grant", owner.ENVIRONMENT, "view create delete restore"),
    )
    return (
        *(PermissionClass(name, depth, tuple(verbs.split()), resource) for name, depth, verbs, resource in table),
        *(PermissionClass(n, depth, tuple(v.split()), kind.TOOL_NAME, is_newer=True) for n, depth, v in newer),
    )


ALL_CLASSES: tuple[PermissionClass, ...] = _rows()
"""The 34 classes in registration order, then the four that edition `next` adds."""

SNAPSHOT_CLASSES = tuple(c for c in ALL_CLASSES if not c.is_newer)
_ALL = {c.name: c for c in ALL_CLASSES}
_SNAPSHOT = {c.name: c for c in SNAPSHOT_CLASSES}


def classes_of(rules: Rules) -> tuple[PermissionClass, ...]:
    """The classes that exist under `rules`: 34, or 38 where `card_classes` says so.

    >>> from policyd.core.edition import NEXT, SNAPSHOT
    >>> len(classes_of(SNAPSHOT)), len(classes_of(NEXT))
    (34, 38)
    """
    return ALL_CLASSES if rules.is_next("card_classes") else SNAPSHOT_CLASSES


def class_named(name: str, rules: Rules) -> PermissionClass | None:
    """The class of exactly this name under `rules`, or None (P3)."""
    return (_ALL if rules.is_next("card_classes") else _SNAPSHOT).get(name)


def has_any(kind: ResourceKind) -> bool:
    """Whether `*` is read as `AnyResource` in this kind (the last column of cards 2.1)."""
    return kind not in _WITHOUT_ANY


_WITHOUT_ANY = frozenset(
    {
        ResourceKind.FILES,
        ResourceKind.INITIAL_FILES,
        ResourceKind.STORE_KEY,
        ResourceKind.TABLE,
        ResourceKind.EMPTY,
        ResourceKind.APPLICATION,
    }
)
