"""Run by Alembic for every command; the connection comes from `policyd.store.migrate`."""

from __future__ import annotations

from alembic import context

from policyd.store.tables import Base

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_type=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
