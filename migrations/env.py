"""Runs the migrations on the connection of ``storage.schema.upgrade``, which owns the transactions."""

from __future__ import annotations

from alembic import context

from storage.schema.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
