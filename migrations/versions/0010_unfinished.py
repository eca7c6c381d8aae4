"""A log that has grown is read from its beginning: only the mark of its reader is kept of the state."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sources", sa.Column("unfinished", sa.Text(), nullable=True))
    op.execute("UPDATE sources SET unfinished = json_extract(restart_state, '$.unfinished')")
    op.execute("ALTER TABLE sources DROP COLUMN restart_state")
