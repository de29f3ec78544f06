"""Cards and what hangs on them: grants, parents, closure, wallets, initial cards, shares."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from policyd.store.tables.base import Base, Placed, RowId, Unsigned64

CARD_KINDS = ("concrete", "polymorphic", "scope", "initial", "share")
"""The last two are lists of grants without a card id: those of a manifest, and those of a permission share."""


def _one_of(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(v) for v in values)})"


class CardRow(Placed, Base):
    """Four lists of grants; `card_uuid` is empty where the platform has given none."""

    __tablename__ = "cards"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    card_uuid: Mapped[str | None] = mapped_column(String(36))
    created_seconds: Mapped[int] = mapped_column(BigInteger)
    created_nanos: Mapped[int]
    expires_seconds: Mapped[int | None] = mapped_column(BigInteger)
    expires_nanos: Mapped[int | None]
    is_system: Mapped[bool]
    managed_kind: Mapped[str | None] = mapped_column(String(32))
    managed_members: Mapped[str | None]
    is_revoked: Mapped[bool]
    has_places: Mapped[bool]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "card_uuid"),
        UniqueConstraint("id", "snapshot_id"),
        CheckConstraint(_one_of("kind", CARD_KINDS), name="kind_known"),
        CheckConstraint("(kind IN ('initial', 'share')) = (card_uuid IS NULL)", name="id_given"),
        CheckConstraint("(expires_seconds IS NULL) = (expires_nanos IS NULL)", name="expiry_whole"),
        CheckConstraint("(managed_kind IS NULL) = (managed_members IS NULL)", name="keeper_whole"),
        CheckConstraint("managed_kind IS NULL OR kind = 'concrete'", name="keeper_of_concrete"),
    )


class GrantRow(Placed, Base):
    """One grant at its position: the canonical text decides, the other columns find it.

    `owner_1` to `owner_5` and `recipient_1` to `recipient_5` hold the known segments; behind them
    stand stars. `owner_key` and `resource_key` are 64-bit hashes of what `search_keys` gives.
    """

    __tablename__ = "grants"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(RowId)
    card_id: Mapped[int] = mapped_column(RowId)
    part: Mapped[str] = mapped_column(String(5))
    is_positive: Mapped[bool]
    position: Mapped[int]
    text: Mapped[str]
    permission_class: Mapped[str] = mapped_column(String(64))
    verb: Mapped[str] = mapped_column(String(64))
    owner_slot: Mapped[str | None] = mapped_column(String(16))
    owner_1: Mapped[str | None]
    owner_2: Mapped[str | None]
    owner_3: Mapped[str | None]
    owner_4: Mapped[str | None]
    owner_5: Mapped[str | None]
    is_type_wildcard: Mapped[bool]
    recipient_level: Mapped[int]
    recipient_slot: Mapped[str | None] = mapped_column(String(16))
    recipient_1: Mapped[str | None]
    recipient_2: Mapped[str | None]
    recipient_3: Mapped[str | None]
    recipient_4: Mapped[str | None]
    recipient_5: Mapped[str | None]
    resource_kind: Mapped[str] = mapped_column(String(16))
    origin: Mapped[str] = mapped_column(String(8))
    resource_prefix: Mapped[str]
    owner_key: Mapped[int] = mapped_column(BigInteger)
    resource_key: Mapped[int] = mapped_column(BigInteger)
    __table_args__ = (
        UniqueConstraint("card_id", "part", "is_positive", "position"),
        ForeignKeyConstraint(["card_id", "snapshot_id"], ["cards.id", "cards.snapshot_id"], ondelete="CASCADE"),
        CheckConstraint("part IN ('lower', 'upper')", name="part_known"),
        CheckConstraint("position >= 0", name="position_counts"),
        CheckConstraint("origin IN ('written', 'file', 'default')", name="origin_known"),
        CheckConstraint("recipient_level IN (0, 1, 3, 5)", name="recipient_known"),
        Index(None, "snapshot_id", "permission_class", "owner_key", "resource_key"),
    )


class CardCeilingRow(Base):
    """For whom a card has a ceiling at all: one row per recipient that its upper positive list names."""

    __tablename__ = "card_ceilings"
    card_id: Mapped[int] = mapped_column(ForeignKey("cards.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    recipient: Mapped[str]


class CardParentRow(Base):
    """A parent of a card, or a root of a scope card, in order; the parent itself need not be stored."""

    __tablename__ = "card_parents"
    card_id: Mapped[int] = mapped_column(ForeignKey("cards.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    parent_uuid: Mapped[str] = mapped_column(String(36))
    __table_args__ = (Index(None, "parent_uuid"),)


class CardClosureRow(Base):
    """Every ancestor of every card, at any distance; the card itself is not among them."""

    __tablename__ = "card_closure"
    snapshot_id: Mapped[int] = mapped_column(RowId, primary_key=True)
    ancestor_uuid: Mapped[str] = mapped_column(String(36), primary_key=True)
    card_id: Mapped[int] = mapped_column(RowId, primary_key=True)
    __table_args__ = (
        ForeignKeyConstraint(["card_id", "snapshot_id"], ["cards.id", "cards.snapshot_id"], ondelete="CASCADE"),
        Index(None, "card_id"),
    )


class RevocationRow(Base):
    """The id of a card that is revoked; the card need not be stored."""

    __tablename__ = "revocations"
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"), primary_key=True)
    card_uuid: Mapped[str] = mapped_column(String(36), primary_key=True)


class InitialCardRow(Base):
    """Which card the agents of a type start with in this snapshot."""

    __tablename__ = "initial_cards"
    agent_type_id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(RowId)
    card_id: Mapped[int] = mapped_column(RowId)
    is_default: Mapped[bool]
    layer: Mapped[str]
    __table_args__ = (
        UniqueConstraint("card_id"),
        ForeignKeyConstraint(
            ["agent_type_id", "snapshot_id"], ["agent_types.id", "agent_types.snapshot_id"], ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["card_id", "snapshot_id"], ["cards.id", "cards.snapshot_id"], ondelete="CASCADE"),
        Index(None, "snapshot_id"),
    )


class WalletRow(Placed, Base):
    """The wallet of one holder; `agent_id` is empty for all instances of a type and for accounts.

    `holder_key` is a hash of holder and agent id, because ids are longer than an index entry may be.
    """

    __tablename__ = "wallets"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(ForeignKey("snapshots.id", ondelete="CASCADE"))
    holder: Mapped[str]
    holder_level: Mapped[int]
    component: Mapped[str | None]
    agent_type: Mapped[str | None]
    agent_id: Mapped[str]
    holder_key: Mapped[str] = mapped_column(String(64))
    recorded_account: Mapped[str]
    __table_args__ = (
        UniqueConstraint("snapshot_id", "holder_key"),
        UniqueConstraint("id", "snapshot_id"),
        CheckConstraint("holder_level IN (1, 5)", name="holder_known"),
        CheckConstraint("(holder_level = 5) = (agent_type IS NOT NULL)", name="agent_typed"),
    )


class WalletCardRow(Base):
    """A card in a wallet: when it was installed there and by whom."""

    __tablename__ = "wallet_cards"
    wallet_id: Mapped[int] = mapped_column(RowId, primary_key=True)
    card_id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(RowId)
    installed_by: Mapped[str] = mapped_column(String(8))
    installed_seconds: Mapped[int | None] = mapped_column(BigInteger)
    installed_nanos: Mapped[int | None]
    __table_args__ = (
        ForeignKeyConstraint(["wallet_id", "snapshot_id"], ["wallets.id", "wallets.snapshot_id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["card_id", "snapshot_id"], ["cards.id", "cards.snapshot_id"], ondelete="CASCADE"),
        CheckConstraint("installed_by IN ('self', 'other', 'unknown')", name="installer_known"),
        CheckConstraint("(installed_seconds IS NULL) = (installed_nanos IS NULL)", name="moment_whole"),
        Index(None, "card_id"),
    )


class PermissionShareRow(Placed, Base):
    """A permission share; its grants hang on a card row of kind `share`."""

    __tablename__ = "permission_shares"
    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    snapshot_id: Mapped[int] = mapped_column(RowId)
    card_id: Mapped[int] = mapped_column(RowId)
    share_uuid: Mapped[str] = mapped_column(String(36))
    revision: Mapped[int] = mapped_column(Unsigned64)
    owner_account_uuid: Mapped[str] = mapped_column(String(36))
    target_account_uuid: Mapped[str] = mapped_column(String(36))
    name: Mapped[str]
    current_card_uuid: Mapped[str] = mapped_column(String(36))
    __table_args__ = (
        UniqueConstraint("snapshot_id", "share_uuid"),
        UniqueConstraint("card_id"),
        ForeignKeyConstraint(["card_id", "snapshot_id"], ["cards.id", "cards.snapshot_id"], ondelete="CASCADE"),
    )
