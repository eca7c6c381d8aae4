"""Openings of games: ECO code, name, and the half-moves after which the last named position was reached."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("games", sa.Column("eco", sa.Text(), nullable=True))
    op.add_column("games", sa.Column("opening", sa.Text(), nullable=True))
    op.add_column("games", sa.Column("opening_ply", sa.Integer(), nullable=True))
