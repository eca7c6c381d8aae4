"""What engines told of their thinking."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "thinking",
        sa.Column("observation_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=True),
        sa.Column("white", sa.Boolean(), nullable=True),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("score_cp", sa.Integer(), nullable=True),
        sa.Column("mate", sa.Integer(), nullable=True),
        sa.Column("time_ms", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.BigInteger(), nullable=True),
        sa.Column("selective_depth", sa.Integer(), nullable=True),
        sa.Column("nodes_per_s", sa.BigInteger(), nullable=True),
        sa.Column("tablebase_hits", sa.BigInteger(), nullable=True),
        sa.Column("pv", sa.Text(), nullable=False),
        sa.Column("at_ms", sa.BigInteger(), nullable=True),
        sa.Column("offset", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["observation_id"], ["observations.id"], name=op.f("fk_thinking_observation_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("observation_id", "seq", name=op.f("pk_thinking")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("thinking")
