"""The day of each game in the view of games, also where only the date is known."""

from __future__ import annotations

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

V_GAMES = """\
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset, g.eco, g.opening,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown') AND g.started_at_ms IS NOT NULL
    THEN date(g.started_at_ms / 1000, 'unixepoch')
    ELSE iif(date(g.date_text) = g.date_text, g.date_text, NULL) END AS day
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL"""


def upgrade() -> None:
    op.execute("DROP VIEW v_games")
    op.execute(V_GAMES)
