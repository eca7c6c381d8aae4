"""What engines thought of games when they were asked to look at them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_VIEW = """\
CREATE VIEW v_analyses AS
SELECT coalesce(m.key, g.key) AS key, a.engine, a.protocol, a.settings, p.ply, p.fen, l.seq, l.depth,
  iif(p.ply % 2, -1, 1) * l.score_cp AS white_cp, iif(p.ply % 2, -1, 1) * l.mate AS white_mate, l.time_ms, l.nodes, l.pv
FROM analyses a
JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL
LEFT JOIN games m ON m.id = g.merged_into
JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands
JOIN analysis_lines l ON l.position_id = p.id"""


def upgrade() -> None:
    op.create_table(
        "analyses",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("game_key", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("begun_ms", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("protocol IN ('cecp', 'uci')", name=op.f("ck_analyses_protocol")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analyses")),
    )
    op.create_index(op.f("ix_analyses_game_key"), "analyses", ["game_key"])
    op.create_table(
        "analysed_positions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("analysis_id", sa.Integer(), nullable=False),
        sa.Column("ply", sa.Integer(), nullable=False),
        sa.Column("fen", sa.Text(), nullable=False),
        sa.Column("stands", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["analysis_id"], ["analyses.id"], name=op.f("fk_analysed_positions_analysis_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_analysed_positions")),
        sa.UniqueConstraint("analysis_id", "ply", "fen", name=op.f("uq_analysed_positions_analysis_id_ply_fen")),
    )
    op.create_table(
        "analysis_lines",
        sa.Column("position_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=True),
        sa.Column("score_cp", sa.Integer(), nullable=True),
        sa.Column("mate", sa.Integer(), nullable=True),
        sa.Column("time_ms", sa.BigInteger(), nullable=True),
        sa.Column("nodes", sa.BigInteger(), nullable=True),
        sa.Column("selective_depth", sa.Integer(), nullable=True),
        sa.Column("nodes_per_s", sa.BigInteger(), nullable=True),
        sa.Column("tablebase_hits", sa.BigInteger(), nullable=True),
        sa.Column("pv", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["position_id"],
            ["analysed_positions.id"],
            name=op.f("fk_analysis_lines_position_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("position_id", "seq", name=op.f("pk_analysis_lines")),
        sqlite_with_rowid=False,
    )
    op.execute(_VIEW)


def downgrade() -> None:
    op.execute("DROP VIEW v_analyses")
    for table in ("analysis_lines", "analysed_positions", "analyses"):
        op.drop_table(table)
