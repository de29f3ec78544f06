"""The tables of the database, with their constraints.

Facts of a snapshot never change once written, except for places, which follow the newest import of
the same facts. Rows are found by the keys of `policyd.store.search_keys` and read by `policyd.store.codec`.
"""

from policyd.store.tables.base import Base
from policyd.store.tables.cards import (
    CardCeilingRow,
    CardClosureRow,
    CardParentRow,
    CardRow,
    GrantRow,
    InitialCardRow,
    PermissionShareRow,
    RevocationRow,
    WalletCardRow,
    WalletRow,
)
from policyd.store.tables.deployments import (
    AccountRow,
    AgentTypeRow,
    ApplicationRow,
    ComponentRevisionRow,
    ComponentRow,
    EnvironmentRow,
    RevisionRow,
    SnapshotRow,
)
from policyd.store.tables.parts import (
    ChainLayerRow,
    ChainRow,
    FindingRow,
    MiddlewareRow,
    NamedValueRow,
    RetryPolicyRevisionRow,
    RetryPolicyRow,
    ToolRow,
)
from policyd.store.tables.records import AuditRow, DecisionRow, FleetResultRow, TokenRow

__all__ = [
    "AccountRow",
    "AgentTypeRow",
    "ApplicationRow",
    "AuditRow",
    "Base",
    "CardCeilingRow",
    "CardClosureRow",
    "CardParentRow",
    "CardRow",
    "ChainLayerRow",
    "ChainRow",
    "ComponentRevisionRow",
    "ComponentRow",
    "DecisionRow",
    "EnvironmentRow",
    "FindingRow",
    "FleetResultRow",
    "GrantRow",
    "InitialCardRow",
    "MiddlewareRow",
    "NamedValueRow",
    "PermissionShareRow",
    "RetryPolicyRevisionRow",
    "RetryPolicyRow",
    "RevisionRow",
    "RevocationRow",
    "SnapshotRow",
    "TokenRow",
    "ToolRow",
    "WalletCardRow",
    "WalletRow",
]
