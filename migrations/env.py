"""Runs the migrations on the connection that ``storage.schema`` gives; transactions are that module's business."""

from __future__ import annotations

from alembic import context

from storage.models import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
