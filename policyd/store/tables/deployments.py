"""Tenants and their snapshots: accounts, applications, environments, revisions, components, agent types."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from policyd.store.tables.base import Base, Placed, RowId, Unsigned64


class AccountRow(Base):
    """An account, by its e-mail in lower case."""

    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    email: Mapped[str]
    __table_args__ = (UniqueConstraint("email"), CheckConstraint("email <> ''", name="email_given"))


class ApplicationRow(Base):
    """An application of an account."""

    __tablename__ = "applications"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    name: Mapped[str]
    __table_args__ = (UniqueConstraint("account_id", "name"), CheckConstraint("name <> ''", name="name_given"))


class EnvironmentRow(Base):
    """An environment of an application."""

    __tablename__ = "environments"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"))
    name: Mapped[str]
    __table_args__ = (UniqueConstraint("application_id", "name"), CheckConstraint("name <> ''", name="name_given"))


class SnapshotRow(Base):
    """The facts of one environment at one time, named by their digest; rows below it never change."""

    __tablename__ = "snapshots"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    environment_id: Mapped[int] = mapped_column(ForeignKey("environments.id"))
    digest: Mapped[str] = mapped_column(String(64))
    places_digest: Mapped[str] = mapped_column(String(64))
    edition: Mapped[str] = mapped_column(String(16))
    switches: Mapped[str]
    manifest_version: Mapped[str]
    grant_count: Mapped[int]
    created_at: Mapped[str] = mapped_column(String(40))
    created_by: Mapped[str]
    __table_args__ = (
        UniqueConstraint("digest"),
        UniqueConstraint("id", "environment_id"),
        CheckConstraint("length(digest) = 64", name="digest_whole"),
        CheckConstraint("edition IN ('snapshot', 'next')", name="edition_known"),
        Index(None, "environment_id"),
    )


class RevisionRow(Base):
    """One step in the history of an environment: from then on, this snapshot is its latest."""

    __tablename__ = "revisions"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    environment_id: Mapped[int] = mapped_column(ForeignKey("environments.id"))
    number: Mapped[int]
    snapshot_id: Mapped[int] = mapped_column(RowId)
    imported_at: Mapped[str] = mapped_column(String(40))
    imported_by: Mapped[str]
    sources: Mapped[str]
    __table_args__ = (
        UniqueConstraint("environment_id", "number"),
        ForeignKeyConstraint(["snapshot_id", "environment_id"], ["snapshots.id", "snapshots.environment_id"]),
        CheckConstraint("number >= 1", name="number_counts"),
        Index(None, "snapshot_id"),
    )


class ComponentRow(Base):
    """A component of an environment, across all snapshots."""

    __tablename__ = "components"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    environment_id: Mapped[int] = mapped_column(ForeignKey("environments.id"))
    name: Mapped[str]
    __table_args__ = (UniqueConstraint("environment_id", "name"), CheckConstraint("name <> ''", name="name_given"))


class ComponentRevisionRow(Placed, Base):
    """A component as one snapshot knows it."""

    __tablename__ = "component_revisions"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    component_id: Mapped[int] = mapped_column(ForeignKey("components.id"))
    platform_id: Mapped[str] = mapped_column(String(36))
    revision: Mapped[int | None] = mapped_column(Unsigned64)
    __table_args__ = (UniqueConstraint("snapshot_id", "component_id"), UniqueConstraint("id", "snapshot_id"))


class AgentTypeRow(Placed, Base):
    """An agent type of one snapshot; without a component where the manifest does not say which."""

    __tablename__ = "agent_types"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    component_revision_id: Mapped[int | None] = mapped_column(RowId)
    name: Mapped[str]
    is_declared: Mapped[bool]
    component_is_assumed: Mapped[bool]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "component_revision_id", "name"),
        UniqueConstraint("id", "snapshot_id"),
        ForeignKeyConstraint(
            ["component_revision_id", "snapshot_id"],
            ["component_revisions.id", "component_revisions.snapshot_id"],
        ),
        CheckConstraint("name <> ''", name="name_given"),
    )
