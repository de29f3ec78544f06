"""The grant language as values: classes, owners, recipients, resources, grants and targets."""

from policyd.core.grants.classes import ALL_CLASSES, PermissionClass, ResourceKind, class_named, classes_of
from policyd.core.grants.grant import ANY_VERB, Grant, Target
from policyd.core.grants.owner import Owner, OwnerKind
from policyd.core.grants.recipient import ANYONE, Level, Recipient, account_holder, agent_holder
from policyd.core.grants.slots import AgentContext, Slot

__all__ = [
    "ALL_CLASSES",
    "ANYONE",
    "ANY_VERB",
    "AgentContext",
    "Grant",
    "Level",
    "Owner",
    "OwnerKind",
    "PermissionClass",
    "Recipient",
    "ResourceKind",
    "Slot",
    "Target",
    "account_holder",
    "agent_holder",
    "class_named",
    "classes_of",
]
