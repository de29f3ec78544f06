"""The first tables.

Revision: 0001, after none.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.CheckConstraint("email <> ''", name=op.f("ck_accounts_email_given")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("email", name=op.f("uq_accounts_email")),
    )
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("public_id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=8), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("application", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=40), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.String(length=40), nullable=True),
        sa.Column("revoked_at", sa.String(length=40), nullable=True),
        sa.CheckConstraint("application = '' OR account <> ''", name=op.f("ck_api_tokens_application_of_account")),
        sa.CheckConstraint("scope <> 'admin' OR account = ''", name=op.f("ck_api_tokens_admin_of_all")),
        sa.CheckConstraint("scope IN ('read', 'write', 'admin')", name=op.f("ck_api_tokens_scope_known")),
        sa.CheckConstraint("length(secret_hash) = 64", name=op.f("ck_api_tokens_hash_whole")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("public_id", name=op.f("uq_api_tokens_public_id")),
    )
    op.create_index(
        "uq_api_tokens_name_live",
        "api_tokens",
        ["name"],
        unique=True,
        sqlite_where=sa.text("revoked_at IS NULL"),
        postgresql_where=sa.text("revoked_at IS NULL"),
    )

    op.create_table(
        "audit_log",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("at", sa.String(length=40), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("application", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_log")),
    )
    op.create_index(op.f("ix_audit_log_account_application"), "audit_log", ["account", "application"], unique=False)

    op.create_table(
        "applications",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("account_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.CheckConstraint("name <> ''", name=op.f("ck_applications_name_given")),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_applications_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_applications")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_applications_account_id_name")),
    )
    op.create_table(
        "environments",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("application_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.CheckConstraint("name <> ''", name=op.f("ck_environments_name_given")),
        sa.ForeignKeyConstraint(["application_id"], ["applications.id"], name=op.f("fk_environments_application_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_environments")),
        sa.UniqueConstraint("application_id", "name", name=op.f("uq_environments_application_id_name")),
    )
    op.create_table(
        "components",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("environment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.CheckConstraint("name <> ''", name=op.f("ck_components_name_given")),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name=op.f("fk_components_environment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_components")),
        sa.UniqueConstraint("environment_id", "name", name=op.f("uq_components_environment_id_name")),
    )
    op.create_table(
        "retry_policies",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("environment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name=op.f("fk_retry_policies_environment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retry_policies")),
        sa.UniqueConstraint("environment_id", "name", name=op.f("uq_retry_policies_environment_id_name")),
    )
    op.create_table(
        "snapshots",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("environment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("places_digest", sa.String(length=64), nullable=False),
        sa.Column("edition", sa.String(length=16), nullable=False),
        sa.Column("switches", sa.Text(), nullable=False),
        sa.Column("manifest_version", sa.Text(), nullable=False),
        sa.Column("grant_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(length=40), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.CheckConstraint("edition IN ('snapshot', 'next')", name=op.f("ck_snapshots_edition_known")),
        sa.CheckConstraint("length(digest) = 64", name=op.f("ck_snapshots_digest_whole")),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name=op.f("fk_snapshots_environment_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("digest", name=op.f("uq_snapshots_digest")),
        sa.UniqueConstraint("id", "environment_id", name=op.f("uq_snapshots_id_environment_id")),
    )
    op.create_index(op.f("ix_snapshots_environment_id"), "snapshots", ["environment_id"], unique=False)

    op.create_table(
        "cards",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("card_uuid", sa.String(length=36), nullable=True),
        sa.Column("created_seconds", sa.BigInteger(), nullable=False),
        sa.Column("created_nanos", sa.Integer(), nullable=False),
        sa.Column("expires_seconds", sa.BigInteger(), nullable=True),
        sa.Column("expires_nanos", sa.Integer(), nullable=True),
        sa.Column("is_system", sa.Boolean(), nullable=False),
        sa.Column("managed_kind", sa.String(length=32), nullable=True),
        sa.Column("managed_members", sa.Text(), nullable=True),
        sa.Column("is_revoked", sa.Boolean(), nullable=False),
        sa.Column("has_places", sa.Boolean(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("(kind IN ('initial', 'share')) = (card_uuid IS NULL)", name=op.f("ck_cards_id_given")),
        sa.CheckConstraint(
            "kind IN ('concrete', 'polymorphic', 'scope', 'initial', 'share')", name=op.f("ck_cards_kind_known")
        ),
        sa.CheckConstraint("managed_kind IS NULL OR kind = 'concrete'", name=op.f("ck_cards_keeper_of_concrete")),
        sa.CheckConstraint("(expires_seconds IS NULL) = (expires_nanos IS NULL)", name=op.f("ck_cards_expiry_whole")),
        sa.CheckConstraint("(managed_kind IS NULL) = (managed_members IS NULL)", name=op.f("ck_cards_keeper_whole")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_cards_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_cards")),
        sa.UniqueConstraint("id", "snapshot_id", name=op.f("uq_cards_id_snapshot_id")),
        sa.UniqueConstraint("snapshot_id", "card_uuid", name=op.f("uq_cards_snapshot_id_card_uuid")),
    )
    op.create_table(
        "chains",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("level", sa.String(length=12), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "level IN ('environment', 'component', 'agent', 'tool')", name=op.f("ck_chains_level_known")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_chains_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chains")),
        sa.UniqueConstraint(
            "snapshot_id", "level", "subject", "tool", name=op.f("uq_chains_snapshot_id_level_subject_tool")
        ),
    )
    op.create_table(
        "component_revisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("component_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("platform_id", sa.String(length=36), nullable=False),
        sa.Column("revision", sa.String(length=20), nullable=True),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["component_id"], ["components.id"], name=op.f("fk_component_revisions_component_id")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_component_revisions_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_component_revisions")),
        sa.UniqueConstraint("id", "snapshot_id", name=op.f("uq_component_revisions_id_snapshot_id")),
        sa.UniqueConstraint(
            "snapshot_id", "component_id", name=op.f("uq_component_revisions_snapshot_id_component_id")
        ),
    )
    op.create_table(
        "decisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("asked_at", sa.String(length=40), nullable=False),
        sa.Column("asked_by", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=40), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("admitted", sa.String(length=8), nullable=False),
        sa.Column("bounded", sa.String(length=8), nullable=False),
        sa.Column("replay_stable", sa.String(length=8), nullable=False),
        sa.Column("reasons", sa.Text(), nullable=False),
        sa.CheckConstraint("admitted IN ('yes', 'no', 'unknown')", name=op.f("ck_decisions_admitted_known")),
        sa.CheckConstraint("bounded IN ('yes', 'no', 'unknown')", name=op.f("ck_decisions_bounded_known")),
        sa.CheckConstraint("replay_stable IN ('yes', 'no', 'unknown')", name=op.f("ck_decisions_replay_stable_known")),
        sa.ForeignKeyConstraint(["snapshot_id"], ["snapshots.id"], name=op.f("fk_decisions_snapshot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
    )
    op.create_index(op.f("ix_decisions_snapshot_id"), "decisions", ["snapshot_id"], unique=False)

    op.create_table(
        "findings",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("code", sa.String(length=12), nullable=False),
        sa.Column("severity", sa.String(length=8), nullable=False),
        sa.Column("confidence", sa.String(length=8), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("help", sa.Text(), nullable=False),
        sa.Column("witness", sa.Text(), nullable=False),
        sa.Column("related", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "confidence IN ('certain', 'likely', 'possible')", name=op.f("ck_findings_confidence_known")
        ),
        sa.CheckConstraint("origin IN ('manifest', 'platform')", name=op.f("ck_findings_origin_known")),
        sa.CheckConstraint("severity IN ('error', 'warning', 'info')", name=op.f("ck_findings_severity_known")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_findings_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_findings")),
        sa.UniqueConstraint("snapshot_id", "position", name=op.f("uq_findings_snapshot_id_position")),
    )
    op.create_index(op.f("ix_findings_code"), "findings", ["code"], unique=False)

    op.create_table(
        "middlewares",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("component", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("origin IN ('manifest', 'platform')", name=op.f("ck_middlewares_origin_known")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_middlewares_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_middlewares")),
        sa.UniqueConstraint("snapshot_id", "name", "origin", name=op.f("uq_middlewares_snapshot_id_name_origin")),
    )
    op.create_table(
        "named_values",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=12), nullable=False),
        sa.Column("level", sa.String(length=12), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("is_known", sa.Boolean(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('env', 'config', 'secret', 'resource', 'parameter')", name=op.f("ck_named_values_kind_known")
        ),
        sa.CheckConstraint(
            "level IN ('environment', 'component', 'agent', 'tool')", name=op.f("ck_named_values_level_known")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_named_values_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_named_values")),
        sa.UniqueConstraint(
            "snapshot_id",
            "kind",
            "level",
            "subject",
            "path",
            name=op.f("uq_named_values_snapshot_id_kind_level_subject_path"),
        ),
    )
    op.create_table(
        "retry_policy_revisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("retry_policy_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("platform_id", sa.String(length=36), nullable=False),
        sa.Column("revision", sa.String(length=20), nullable=True),
        sa.Column("priority", sa.BigInteger(), nullable=False),
        sa.Column("predicate", sa.Text(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("origin IN ('manifest', 'platform')", name=op.f("ck_retry_policy_revisions_origin_known")),
        sa.CheckConstraint("priority >= 0", name=op.f("ck_retry_policy_revisions_priority_counts")),
        sa.ForeignKeyConstraint(
            ["retry_policy_id"], ["retry_policies.id"], name=op.f("fk_retry_policy_revisions_retry_policy_id")
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_retry_policy_revisions_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_retry_policy_revisions")),
        sa.UniqueConstraint(
            "snapshot_id",
            "retry_policy_id",
            "origin",
            name=op.f("uq_retry_policy_revisions_snapshot_id_retry_policy_id_origin"),
        ),
    )
    op.create_table(
        "revisions",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("environment_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("imported_at", sa.String(length=40), nullable=False),
        sa.Column("imported_by", sa.Text(), nullable=False),
        sa.Column("sources", sa.Text(), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_revisions_number_counts")),
        sa.ForeignKeyConstraint(["environment_id"], ["environments.id"], name=op.f("fk_revisions_environment_id")),
        sa.ForeignKeyConstraint(
            ["snapshot_id", "environment_id"],
            ["snapshots.id", "snapshots.environment_id"],
            name=op.f("fk_revisions_snapshot_id_environment_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_revisions")),
        sa.UniqueConstraint("environment_id", "number", name=op.f("uq_revisions_environment_id_number")),
    )
    op.create_index(op.f("ix_revisions_snapshot_id"), "revisions", ["snapshot_id"], unique=False)

    op.create_table(
        "revocations",
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("card_uuid", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_revocations_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("snapshot_id", "card_uuid", name=op.f("pk_revocations")),
    )
    op.create_table(
        "tools",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("component", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("origin IN ('manifest', 'platform')", name=op.f("ck_tools_origin_known")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_tools_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tools")),
        sa.UniqueConstraint("snapshot_id", "name", "origin", name=op.f("uq_tools_snapshot_id_name_origin")),
    )
    op.create_table(
        "wallets",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("holder_level", sa.Integer(), nullable=False),
        sa.Column("component", sa.Text(), nullable=True),
        sa.Column("agent_type", sa.Text(), nullable=True),
        sa.Column("agent_id", sa.Text(), nullable=False),
        sa.Column("holder_key", sa.String(length=64), nullable=False),
        sa.Column("recorded_account", sa.Text(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("(holder_level = 5) = (agent_type IS NOT NULL)", name=op.f("ck_wallets_agent_typed")),
        sa.CheckConstraint("holder_level IN (1, 5)", name=op.f("ck_wallets_holder_known")),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_wallets_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_wallets")),
        sa.UniqueConstraint("id", "snapshot_id", name=op.f("uq_wallets_id_snapshot_id")),
        sa.UniqueConstraint("snapshot_id", "holder_key", name=op.f("uq_wallets_snapshot_id_holder_key")),
    )
    op.create_table(
        "agent_types",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("component_revision_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_declared", sa.Boolean(), nullable=False),
        sa.Column("component_is_assumed", sa.Boolean(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("name <> ''", name=op.f("ck_agent_types_name_given")),
        sa.ForeignKeyConstraint(
            ["component_revision_id", "snapshot_id"],
            ["component_revisions.id", "component_revisions.snapshot_id"],
            name=op.f("fk_agent_types_component_revision_id_snapshot_id"),
        ),
        sa.ForeignKeyConstraint(
            ["snapshot_id"], ["snapshots.id"], name=op.f("fk_agent_types_snapshot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_types")),
        sa.UniqueConstraint("id", "snapshot_id", name=op.f("uq_agent_types_id_snapshot_id")),
        sa.UniqueConstraint(
            "snapshot_id",
            "component_revision_id",
            "name",
            name=op.f("uq_agent_types_snapshot_id_component_revision_id_name"),
        ),
    )
    op.create_table(
        "card_ceilings",
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["card_id"], ["cards.id"], name=op.f("fk_card_ceilings_card_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("card_id", "position", name=op.f("pk_card_ceilings")),
    )
    op.create_table(
        "card_closure",
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("ancestor_uuid", sa.String(length=36), nullable=False),
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["card_id", "snapshot_id"],
            ["cards.id", "cards.snapshot_id"],
            name=op.f("fk_card_closure_card_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("snapshot_id", "ancestor_uuid", "card_id", name=op.f("pk_card_closure")),
    )
    op.create_index(op.f("ix_card_closure_card_id"), "card_closure", ["card_id"], unique=False)

    op.create_table(
        "card_parents",
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("parent_uuid", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["card_id"], ["cards.id"], name=op.f("fk_card_parents_card_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("card_id", "position", name=op.f("pk_card_parents")),
    )
    op.create_index(op.f("ix_card_parents_parent_uuid"), "card_parents", ["parent_uuid"], unique=False)

    op.create_table(
        "chain_layers",
        sa.Column("chain_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("middleware", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("filesystem_access", sa.Text(), nullable=False),
        sa.Column("has_parameters", sa.Boolean(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["chain_id"], ["chains.id"], name=op.f("fk_chain_layers_chain_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chain_id", "position", name=op.f("pk_chain_layers")),
    )
    op.create_table(
        "grants",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("part", sa.String(length=5), nullable=False),
        sa.Column("is_positive", sa.Boolean(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("permission_class", sa.String(length=64), nullable=False),
        sa.Column("verb", sa.String(length=64), nullable=False),
        sa.Column("owner_slot", sa.String(length=16), nullable=True),
        sa.Column("owner_1", sa.Text(), nullable=True),
        sa.Column("owner_2", sa.Text(), nullable=True),
        sa.Column("owner_3", sa.Text(), nullable=True),
        sa.Column("owner_4", sa.Text(), nullable=True),
        sa.Column("owner_5", sa.Text(), nullable=True),
        sa.Column("is_type_wildcard", sa.Boolean(), nullable=False),
        sa.Column("recipient_level", sa.Integer(), nullable=False),
        sa.Column("recipient_slot", sa.String(length=16), nullable=True),
        sa.Column("recipient_1", sa.Text(), nullable=True),
        sa.Column("recipient_2", sa.Text(), nullable=True),
        sa.Column("recipient_3", sa.Text(), nullable=True),
        sa.Column("recipient_4", sa.Text(), nullable=True),
        sa.Column("recipient_5", sa.Text(), nullable=True),
        sa.Column("resource_kind", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.String(length=8), nullable=False),
        sa.Column("resource_prefix", sa.Text(), nullable=False),
        sa.Column("owner_key", sa.BigInteger(), nullable=False),
        sa.Column("resource_key", sa.BigInteger(), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.CheckConstraint("origin IN ('written', 'file', 'default')", name=op.f("ck_grants_origin_known")),
        sa.CheckConstraint("part IN ('lower', 'upper')", name=op.f("ck_grants_part_known")),
        sa.CheckConstraint("position >= 0", name=op.f("ck_grants_position_counts")),
        sa.CheckConstraint("recipient_level IN (0, 1, 3, 5)", name=op.f("ck_grants_recipient_known")),
        sa.ForeignKeyConstraint(
            ["card_id", "snapshot_id"],
            ["cards.id", "cards.snapshot_id"],
            name=op.f("fk_grants_card_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
        sa.UniqueConstraint(
            "card_id", "part", "is_positive", "position", name=op.f("uq_grants_card_id_part_is_positive_position")
        ),
    )
    op.create_index(
        op.f("ix_grants_snapshot_id_permission_class_owner_key_resource_key"),
        "grants",
        ["snapshot_id", "permission_class", "owner_key", "resource_key"],
        unique=False,
    )

    op.create_table(
        "permission_shares",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("share_uuid", sa.String(length=36), nullable=False),
        sa.Column("revision", sa.String(length=20), nullable=False),
        sa.Column("owner_account_uuid", sa.String(length=36), nullable=False),
        sa.Column("target_account_uuid", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("current_card_uuid", sa.String(length=36), nullable=False),
        sa.Column("place_source", sa.Text(), nullable=True),
        sa.Column("place_line", sa.Integer(), nullable=False),
        sa.Column("place_column", sa.Integer(), nullable=False),
        sa.Column("place_start", sa.BigInteger(), nullable=False),
        sa.Column("place_end", sa.BigInteger(), nullable=False),
        sa.Column("place_path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["card_id", "snapshot_id"],
            ["cards.id", "cards.snapshot_id"],
            name=op.f("fk_permission_shares_card_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_permission_shares")),
        sa.UniqueConstraint("card_id", name=op.f("uq_permission_shares_card_id")),
        sa.UniqueConstraint("snapshot_id", "share_uuid", name=op.f("uq_permission_shares_snapshot_id_share_uuid")),
    )
    op.create_table(
        "wallet_cards",
        sa.Column("wallet_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("installed_by", sa.String(length=8), nullable=False),
        sa.Column("installed_seconds", sa.BigInteger(), nullable=True),
        sa.Column("installed_nanos", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "installed_by IN ('self', 'other', 'unknown')", name=op.f("ck_wallet_cards_installer_known")
        ),
        sa.CheckConstraint(
            "(installed_seconds IS NULL) = (installed_nanos IS NULL)", name=op.f("ck_wallet_cards_moment_whole")
        ),
        sa.ForeignKeyConstraint(
            ["card_id", "snapshot_id"],
            ["cards.id", "cards.snapshot_id"],
            name=op.f("fk_wallet_cards_card_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["wallet_id", "snapshot_id"],
            ["wallets.id", "wallets.snapshot_id"],
            name=op.f("fk_wallet_cards_wallet_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("wallet_id", "card_id", name=op.f("pk_wallet_cards")),
    )
    op.create_index(op.f("ix_wallet_cards_card_id"), "wallet_cards", ["card_id"], unique=False)

    op.create_table(
        "initial_cards",
        sa.Column("agent_type_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("snapshot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("card_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("layer", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["agent_type_id", "snapshot_id"],
            ["agent_types.id", "agent_types.snapshot_id"],
            name=op.f("fk_initial_cards_agent_type_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["card_id", "snapshot_id"],
            ["cards.id", "cards.snapshot_id"],
            name=op.f("fk_initial_cards_card_id_snapshot_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("agent_type_id", name=op.f("pk_initial_cards")),
        sa.UniqueConstraint("card_id", name=op.f("uq_initial_cards_card_id")),
    )
    op.create_index(op.f("ix_initial_cards_snapshot_id"), "initial_cards", ["snapshot_id"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_initial_cards_snapshot_id"), table_name="initial_cards")

    op.drop_table("initial_cards")
    op.drop_index(op.f("ix_wallet_cards_card_id"), table_name="wallet_cards")

    op.drop_table("wallet_cards")
    op.drop_table("permission_shares")
    op.drop_index(op.f("ix_grants_snapshot_id_permission_class_owner_key_resource_key"), table_name="grants")

    op.drop_table("grants")
    op.drop_table("chain_layers")
    op.drop_index(op.f("ix_card_parents_parent_uuid"), table_name="card_parents")

    op.drop_table("card_parents")
    op.drop_index(op.f("ix_card_closure_card_id"), table_name="card_closure")

    op.drop_table("card_closure")
    op.drop_table("card_ceilings")
    op.drop_table("agent_types")
    op.drop_table("wallets")
    op.drop_table("tools")
    op.drop_table("revocations")
    op.drop_index(op.f("ix_revisions_snapshot_id"), table_name="revisions")

    op.drop_table("revisions")
    op.drop_table("retry_policy_revisions")
    op.drop_table("named_values")
    op.drop_table("middlewares")
    op.drop_index(op.f("ix_findings_code"), table_name="findings")

    op.drop_table("findings")
    op.drop_index(op.f("ix_decisions_snapshot_id"), table_name="decisions")

    op.drop_table("decisions")
    op.drop_table("component_revisions")
    op.drop_table("chains")
    op.drop_table("cards")
    op.drop_index(op.f("ix_snapshots_environment_id"), table_name="snapshots")

    op.drop_table("snapshots")
    op.drop_table("retry_policies")
    op.drop_table("components")
    op.drop_table("environments")
    op.drop_table("applications")
    op.drop_index(op.f("ix_audit_log_account_application"), table_name="audit_log")

    op.drop_table("audit_log")
    op.drop_index("uq_api_tokens_name_live", table_name="api_tokens")

    op.drop_table("api_tokens")
    op.drop_table("accounts")
