"""Openings of games: ECO code, name, and the half-moves after which the last named position was reached."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

V_GAMES = """\
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset, g.eco, g.opening
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL"""


def upgrade() -> None:
    op.add_column("games", sa.Column("eco", sa.Text(), nullable=True))
    op.add_column("games", sa.Column("opening", sa.Text(), nullable=True))
    op.add_column("games", sa.Column("opening_ply", sa.Integer(), nullable=True))
    op.execute("DROP VIEW v_games")
    op.execute(V_GAMES)
