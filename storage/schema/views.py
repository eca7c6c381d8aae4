"""The views of an archive, for users who query it by SQL. ``docs/reference/schema.md`` lists their columns."""

from __future__ import annotations

from typing import Final

VIEWS: Final = (
    """\
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
WHERE g.merged_into IS NULL""",
    """\
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
    WHEN 4 THEN 'datagram' WHEN 5 THEN 'delta' WHEN 6 THEN 'engine' WHEN 7 THEN 'comment' END AS origin,
  CASE p.quality >> 6 WHEN 0 THEN 'ms' WHEN 1 THEN 's' WHEN 3 THEN 'ms, clock derived' WHEN 4 THEN 's, clock derived'
    WHEN 5 THEN 'ms, elapsed derived' WHEN 6 THEN 's, elapsed derived' END AS precision,
  CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN p.quality >> 6 IN (5, 6) THEN 'derived'
    WHEN p.quality >> 3 & 7 IN (3, 7) THEN 'imported' ELSE 'printed' END AS elapsed_origin,
  o.offset + p.from_offset AS "offset"
FROM games g
JOIN segments s ON s.game_id = g.id
JOIN observations o ON o.id = s.observation_id
JOIN ply_lines l ON l.observation_id = o.id AND l.line_no = 0
JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1
  AND p.ply BETWEEN s.from_ply AND s.to_ply
WHERE g.merged_into IS NULL""",
    """\
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, avg(elapsed_s) AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, avg(lag_ms) AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover""",
    """\
CREATE VIEW v_analyses AS
SELECT coalesce(m.key, g.key) AS key, a.engine, a.protocol, a.settings, p.ply, p.fen, l.seq, l.depth,
  iif(p.ply % 2, -1, 1) * l.score_cp AS white_cp, iif(p.ply % 2, -1, 1) * l.mate AS white_mate, l.time_ms, l.nodes, l.pv
FROM analyses a
JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL
LEFT JOIN games m ON m.id = g.merged_into
JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands
JOIN analysis_lines l ON l.position_id = p.id""",
)
"""``v_clocks`` reads the one before."""
