"""Results of fleet audits.

Revision: 0002, after 0001.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "fleet_results",
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("at", sa.String(length=40), nullable=False),
        sa.CheckConstraint("item <> ''", name=op.f("ck_fleet_results_item_given")),
        sa.CheckConstraint("length(digest) = 64", name=op.f("ck_fleet_results_digest_whole")),
        sa.PrimaryKeyConstraint("item", "rules", name=op.f("pk_fleet_results")),
    )


def downgrade() -> None:
    op.drop_table("fleet_results")
