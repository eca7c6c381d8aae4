"""What people corrected of games, and in the row of each game what was recorded before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "corrections",
        sa.Column("game_key", sa.Text(), nullable=False),
        sa.Column("field", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("decided_ms", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("game_key", "field", name="pk_corrections"),
        sqlite_with_rowid=False,
    )
    op.add_column("games", sa.Column("corrected", sa.Text(), nullable=True))
