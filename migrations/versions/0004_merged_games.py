"""Games that several sources witness: one more row of ``games``, named by its witnesses, and what tells it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

V_GAMES = """
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN strftime('%Y-%m-%dT%H:%M:%f', g.started_at_ms / 1000.0, 'unixepoch') END AS started_at,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE g.merged_into IS NULL
"""

V_PLIES = """
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
    END AS precision, o.offset + p.from_offset AS "offset"
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL
"""

V_CLOCKS = """
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, avg(elapsed_s) AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, avg(lag_ms) AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover
"""


def upgrade() -> None:
    for view in ("v_clocks", "v_plies", "v_games"):
        op.execute(f"DROP VIEW {view}")
    op.drop_index("ix_games_white_id", table_name="games")
    with op.batch_alter_table("games", recreate="always") as batch:
        batch.alter_column("source_id", existing_type=sa.Integer(), nullable=True)
        batch.add_column(sa.Column("merged_into", sa.Integer(), nullable=True))
        batch.create_foreign_key(op.f("fk_games_merged_into"), "games", ["merged_into"], ["id"], ondelete="SET NULL")
        batch.drop_constraint("uq_games_key", type_="unique")
    op.create_index("ix_games_merged_into", "games", ["merged_into"])
    op.create_index("ix_games_white_id_black_id", "games", ["white_id", "black_id"])
    op.create_index("uq_games_key", "games", ["key"], unique=True, sqlite_where=sa.text("source_id IS NOT NULL"))
    op.create_index("uq_games_merged_key", "games", ["key"], unique=True, sqlite_where=sa.text("source_id IS NULL"))
    op.create_table(
        "game_evidence",
        sa.Column("game_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["games.id"], name=op.f("fk_game_evidence_game_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("game_id", "seq", name=op.f("pk_game_evidence")),
        sqlite_with_rowid=False,
    )
    for view in (V_GAMES, V_PLIES, V_CLOCKS):
        op.execute(view.strip())
