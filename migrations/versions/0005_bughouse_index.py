"""Bughouse games are found without reading all others: their partners may stand in any source."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_games_bughouse", "games", ["started_at_ms"], sqlite_where=sa.text("variant = 'bughouse'"))


def downgrade() -> None:
    op.drop_index("ix_games_bughouse", "games")
