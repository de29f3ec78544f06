"""The other parts of a snapshot: retry policies, tools, middlewares, chains, names of values, findings."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from policyd.store.tables.base import Base, Placed, RowId, Unsigned64

_ORIGIN = "origin IN ('manifest', 'platform')"


class RetryPolicyRow(Base):
    """A named retry policy of an environment, across all snapshots."""

    __tablename__ = "retry_policies"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    environment_id: Mapped[int] = mapped_column(ForeignKey("environments.id"))
    name: Mapped[str]
    __table_args__ = (UniqueConstraint("environment_id", "name"),)


class RetryPolicyRevisionRow(Placed, Base):
    """A named retry policy as one snapshot knows it; predicate and policy are canonical JSON."""

    __tablename__ = "retry_policy_revisions"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    retry_policy_id: Mapped[int] = mapped_column(ForeignKey("retry_policies.id"))
    origin: Mapped[str] = mapped_column(String(8))
    platform_id: Mapped[str] = mapped_column(String(36))
    revision: Mapped[int | None] = mapped_column(Unsigned64)
    priority: Mapped[int] = mapped_column(BigInteger)
    predicate: Mapped[str]
    policy: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "retry_policy_id", "origin"),
        CheckConstraint(_ORIGIN, name="origin_known"),
        CheckConstraint("priority >= 0", name="priority_counts"),
    )


class ToolRow(Placed, Base):
    """A tool of a snapshot; the definition is canonical JSON, empty where only the name is known."""

    __tablename__ = "tools"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    name: Mapped[str]
    origin: Mapped[str] = mapped_column(String(8))
    component: Mapped[str]
    version: Mapped[str]
    account: Mapped[str]
    definition: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "name", "origin"),
        CheckConstraint(_ORIGIN, name="origin_known"),
    )


class MiddlewareRow(Placed, Base):
    """A middleware of a snapshot, likewise."""

    __tablename__ = "middlewares"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    name: Mapped[str]
    origin: Mapped[str] = mapped_column(String(8))
    component: Mapped[str]
    version: Mapped[str]
    account: Mapped[str]
    definition: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "name", "origin"),
        CheckConstraint(_ORIGIN, name="origin_known"),
    )


class ChainRow(Placed, Base):
    """A middleware list where it is written."""

    __tablename__ = "chains"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    level: Mapped[str] = mapped_column(String(12))
    subject: Mapped[str]
    tool: Mapped[str]
    mode: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "level", "subject", "tool"),
        CheckConstraint("level IN ('environment', 'component', 'agent', 'tool')", name="level_known"),
    )


class ChainLayerRow(Placed, Base):
    """One middleware of a chain, position 0 outermost."""

    __tablename__ = "chain_layers"
    chain_id: Mapped[int] = mapped_column(ForeignKey("chains.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    middleware: Mapped[str]
    version: Mapped[str]
    account: Mapped[str]
    filesystem_access: Mapped[str]
    has_parameters: Mapped[bool]


class NamedValueRow(Placed, Base):
    """The name of a value; there is no column for the value."""

    __tablename__ = "named_values"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(12))
    level: Mapped[str] = mapped_column(String(12))
    subject: Mapped[str]
    path: Mapped[str]
    is_known: Mapped[bool]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "kind", "level", "subject", "path"),
        CheckConstraint("kind IN ('env', 'config', 'secret', 'resource', 'parameter')", name="kind_known"),
        CheckConstraint("level IN ('environment', 'component', 'agent', 'tool')", name="level_known"),
    )


class FindingRow(Placed, Base):
    """A finding of an import; snippets are not kept."""

    __tablename__ = "findings"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    position: Mapped[int]
    origin: Mapped[str] = mapped_column(String(8))
    code: Mapped[str] = mapped_column(String(12))
    severity: Mapped[str] = mapped_column(String(8))
    confidence: Mapped[str] = mapped_column(String(8))
    message: Mapped[str]
    help: Mapped[str]
    witness: Mapped[str]
    related: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "position"),
        CheckConstraint(_ORIGIN, name="origin_known"),
        CheckConstraint("severity IN ('error', 'warning', 'info')", name="severity_known"),
        CheckConstraint("confidence IN ('certain', 'likely', 'possible')", name="confidence_known"),
        Index(None, "code"),
    )
