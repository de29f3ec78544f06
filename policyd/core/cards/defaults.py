"""Cards that the platform writes itself: the default initial card, the account root, the environment default.

Source: cards 6.9, 7.4.
"""

from __future__ import annotations

from policyd.core.cards.card import Bounds
from policyd.core.edition import SNAPSHOT
from policyd.core.grants import ANY_VERB, ANYONE, Grant, Level, Owner, Recipient, Slot, Target, class_named
from policyd.core.grants.classes import PermissionClass
from policyd.core.grants.resources import FilePath, Resource, SegmentPath, StoreKey, TableName
from policyd.core.grants.resources.exact import ANY, NOTHING

_ALL_FILES = FilePath(("**",))
_ALL_INITIAL = SegmentPath(("**",), "/")
_ALL_KEYS = StoreKey("*", "**")
_ALL_TABLES = TableName("*", "*", "*")


def _class(name: str) -> PermissionClass:
    found = class_named(name, SNAPSHOT)
    assert found is not None  # the tables below name classes of the snapshot only
    return found


def _grant(name: str, slot: Slot | None, known: tuple[str, ...], recipient: Recipient, resource: Resource) -> Grant:
    cls = _class(name)
    return Grant(Target(cls, Owner(cls.owner, known, slot), ANY_VERB, resource), recipient)


_DEFAULT: tuple[tuple[str, Slot | None, Resource], ...] = (
    ("filesystem", Slot.AGENT, _ALL_FILES),
    ("network", None, ANY),
    ("env", Slot.AGENT, ANY),
    ("oplog", Slot.AGENT, ANY),
    ("config", Slot.AGENT, ANY),
    ("secret", Slot.ENV, ANY),
    ("agent", Slot.ENV, ANY),
    ("environment", Slot.ENV, ANY),
    ("component", Slot.COMPONENT, ANY),
    ("tool", Slot.ENV, ANY),
    ("kv", Slot.ENV, _ALL_KEYS),
    ("blob", Slot.ENV, _ALL_KEYS),
    ("rdbms", Slot.ENV, _ALL_TABLES),
    ("card", Slot.ACCOUNT, ANY),
)


def default_grants(recipient: Recipient) -> tuple[Grant, ...]:
    """The fourteen polymorphic lower positives of an agent type without an `initialCard` (M6), in order."""
    return tuple(_grant(name, slot, (), recipient, resource) for name, slot, resource in _DEFAULT)


_ROOT: tuple[tuple[str, Resource], ...] = (
    ("network", ANY),
    ("account.oauth2-identity", ANY),
    ("account", NOTHING),
    ("account.plugin", ANY),
    ("account.permission-share", ANY),
    ("account.token", ANY),
    ("account.usage", NOTHING),
    ("card", ANY),
    ("application", NOTHING),
    ("environment", ANY),
    ("component", ANY),
    ("environment.agent-secret", ANY),
    ("environment.blob-bucket", ANY),
    ("environment.domain-registration", ANY),
    ("environment.http-api-deployment", ANY),
    ("environment.kv-bucket", ANY),
    ("environment.mcp-deployment", ANY),
    ("environment.plugin-grant", ANY),
    ("environment.resource-definition", ANY),
    ("environment.retry-policy", ANY),
    ("environment.security-scheme", ANY),
    ("blob", _ALL_KEYS),
    ("kv", _ALL_KEYS),
    ("rdbms", _ALL_TABLES),
    ("secret", ANY),
    ("environment.initial-files", _ALL_INITIAL),
    ("agent", ANY),
    ("config", ANY),
    ("env", ANY),
    ("filesystem", _ALL_FILES),
    ("oplog", ANY),
    ("tool", ANY),
)


def account_root_bounds(account: str) -> Bounds:
    """The root card of an account: 32 lower positives over everything it owns, for anyone, in order."""
    return Bounds(
        tuple(_grant(name, None, (account,) if _class(name).owner.depth else (), ANYONE, res) for name, res in _ROOT)
    )


def environment_default_bounds(account: str, application: str, environment: str) -> Bounds:
    """The default card of an environment; plain data, used in no decision (Q24)."""
    path = (account, application, environment)
    owner_account = Recipient(Level.ACCOUNT, (account,))
    return Bounds(
        (
            _grant("environment", None, path, owner_account, ANY),
            _grant("component", None, path, owner_account, ANY),
        )
    )
