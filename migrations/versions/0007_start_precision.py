"""How exactly the start of a game is known, and which elapsed times are computed from clocks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_STARTED = """\
strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,"""
_STARTED_BEFORE = "strftime('%Y-%m-%dT%H:%M:%f', g.started_at_ms / 1000.0, 'unixepoch') END AS started_at,"
_PRECISION = """
    WHEN 5 THEN 'ms, elapsed derived' WHEN 6 THEN 's, elapsed derived' END AS precision,
  CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN p.quality >> 6 IN (5, 6) THEN 'derived'
    WHEN p.quality >> 3 & 7 = 3 THEN 'imported' ELSE 'printed' END AS elapsed_origin,
  o.offset"""
_PRECISION_BEFORE = """
    END AS precision, o.offset"""

V_GAMES = """\
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime(iif(g.start_precision = 'minute', '%Y-%m-%dT%H:%M', '%Y-%m-%dT%H:%M:%f'), g.started_at_ms / 1000.0,
      'unixepoch') END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL"""

V_PLIES = """\
CREATE VIEW v_plies AS
SELECT g.key, p.ply, (p.ply + 1) / 2 AS move_no, iif(p.ply % 2, 'white', 'black') AS side,
  iif(p.ply % 2, g.white, g.black) AS mover, p.san,
  CASE
    WHEN p.move IS NULL THEN NULL
    WHEN p.move >= 32768 THEN substr('?NBRQKP', (p.move >> 12) - 7, 1) || '@'
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
    ELSE substr('abcdefgh', (p.move & 7) + 1, 1) || (((p.move >> 3) & 7) + 1)
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
      || trim(substr(' nbrqk', (p.move >> 12) + 1, 1))
  END AS uci,
  iif(p.ply % 2, p.white_clock_ms, p.black_clock_ms) / 1000.0 AS clock_s,
  p.white_clock_ms / 1000.0 AS white_clock_s, p.black_clock_ms / 1000.0 AS black_clock_s,
  p.elapsed_ms / 1000.0 AS elapsed_s, p.lag_ms, coalesce(o.started_at_ms, 0) + p.at_ms AS arrived_at_ms,
  CASE p.quality & 7 WHEN 0 THEN 'unproved' WHEN 1 THEN 'full' WHEN 2 THEN 'list' WHEN 3 THEN 'inferred'
    WHEN 4 THEN 'conflict' END AS proof,
  CASE p.quality >> 3 & 7 WHEN 0 THEN 'frame' WHEN 1 THEN 'movelist' WHEN 2 THEN 'inferred' WHEN 3 THEN 'pgn'
    WHEN 4 THEN 'datagram' WHEN 5 THEN 'delta' WHEN 6 THEN 'engine' END AS origin,
  CASE p.quality >> 6 WHEN 0 THEN 'ms' WHEN 1 THEN 's' WHEN 3 THEN 'ms, clock derived' WHEN 4 THEN 's, clock derived'
    WHEN 5 THEN 'ms, elapsed derived' WHEN 6 THEN 's, elapsed derived' END AS precision,
  CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN p.quality >> 6 IN (5, 6) THEN 'derived'
    WHEN p.quality >> 3 & 7 = 3 THEN 'imported' ELSE 'printed' END AS elapsed_origin,
  o.offset + p.from_offset AS "offset"
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL"""

V_CLOCKS = """\
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, avg(elapsed_s) AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, avg(lag_ms) AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover"""

# Of old rows: a saved game's tags tell seconds; a start that is not the first board's arrival is that of a list.
_OF_SOURCES = """
UPDATE games AS g SET start_precision = CASE
  WHEN (SELECT kind FROM observations WHERE game_id = g.id AND seq = 0) = 'pgn' THEN 'second'
  WHEN g.date_text IS NULL OR g.started_at_ms IS (
    SELECT started_at_ms FROM observations WHERE game_id = g.id AND seq = 0 AND kind != 'movelist') THEN 'millisecond'
  WHEN g.date_text GLOB '*[0-9]:[0-9][0-9]:[0-9][0-9]*' THEN 'second'
  ELSE 'minute' END
WHERE g.started_at_ms IS NOT NULL AND g.source_id IS NOT NULL
"""
_OF_SEVERAL = """
UPDATE games AS g SET start_precision = (SELECT min(w.start_precision) FROM games w
  WHERE w.merged_into = g.id AND w.started_at_ms = g.started_at_ms AND w.time_basis = g.time_basis)
WHERE g.started_at_ms IS NOT NULL AND g.source_id IS NULL
"""


def upgrade() -> None:
    for view in ("v_clocks", "v_plies", "v_games"):
        op.execute(f"DROP VIEW {view}")
    op.add_column("games", sa.Column("start_precision", sa.Text(), nullable=True))
    op.execute(_OF_SOURCES)
    op.execute(_OF_SEVERAL)
    for view in (V_GAMES, V_PLIES, V_CLOCKS):
        op.execute(view)


def downgrade() -> None:
    for view in ("v_clocks", "v_plies", "v_games"):
        op.execute(f"DROP VIEW {view}")
    op.execute("ALTER TABLE games DROP COLUMN start_precision")
    op.execute(V_GAMES.replace(_STARTED, _STARTED_BEFORE))
    op.execute(V_PLIES.replace(_PRECISION, _PRECISION_BEFORE))
    op.execute(V_CLOCKS)
