"""What is recorded beside the snapshots: decisions, tokens, and who wrote what."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from policyd.store.tables.base import Base, RowId

_FACET = "('yes', 'no', 'unknown')"


class DecisionRow(Base):
    """A decision that somebody asked to be logged."""

    __tablename__ = "decisions"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id"))
    asked_at: Mapped[str] = mapped_column(String(40))
    asked_by: Mapped[str]
    holder: Mapped[str]
    agent_id: Mapped[str]
    question: Mapped[str]
    at: Mapped[str] = mapped_column(String(40))
    rules: Mapped[str]
    admitted: Mapped[str] = mapped_column(String(8))
    bounded: Mapped[str] = mapped_column(String(8))
    replay_stable: Mapped[str] = mapped_column(String(8))
    reasons: Mapped[str]
    __table_args__ = (
        CheckConstraint(f"admitted IN {_FACET}", name="admitted_known"),
        CheckConstraint(f"bounded IN {_FACET}", name="bounded_known"),
        CheckConstraint(f"replay_stable IN {_FACET}", name="replay_stable_known"),
        Index(None, "snapshot_id"),
    )


class TokenRow(Base):
    """An API token: the hash of its secret half, never the secret; account and application empty for all."""

    __tablename__ = "api_tokens"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    public_id: Mapped[str] = mapped_column(String(16))
    name: Mapped[str]
    secret_hash: Mapped[str] = mapped_column(String(64))
    scope: Mapped[str] = mapped_column(String(8))
    account: Mapped[str]
    application: Mapped[str]
    created_at: Mapped[str] = mapped_column(String(40))
    created_by: Mapped[str]
    expires_at: Mapped[str | None] = mapped_column(String(40))
    revoked_at: Mapped[str | None] = mapped_column(String(40))
    __table_args__ = (
        UniqueConstraint("public_id"),
        CheckConstraint("scope IN ('read', 'write', 'admin')", name="scope_known"),
        CheckConstraint("length(secret_hash) = 64", name="hash_whole"),
        CheckConstraint("application = '' OR account <> ''", name="application_of_account"),
        CheckConstraint("scope <> 'admin' OR account = ''", name="admin_of_all"),
        Index(
            "uq_api_tokens_name_live",
            "name",
            unique=True,
            sqlite_where=text("revoked_at IS NULL"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
    )


class AuditRow(Base):
    """One write: who did what to which subject."""

    __tablename__ = "audit_log"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    at: Mapped[str] = mapped_column(String(40))
    actor: Mapped[str]
    action: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str]
    account: Mapped[str]
    application: Mapped[str]
    detail: Mapped[str]
    __table_args__ = (Index(None, "account", "application"),)


class FleetResultRow(Base):
    """What the latest audit of one application of a fleet came to under an edition; the next one replaces it."""

    __tablename__ = "fleet_results"
    item: Mapped[str] = mapped_column(primary_key=True)
    rules: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))
    result: Mapped[str]
    at: Mapped[str] = mapped_column(String(40))
    __table_args__ = (
        CheckConstraint("length(digest) = 64", name="digest_whole"),
        CheckConstraint("item <> ''", name="item_given"),
    )
