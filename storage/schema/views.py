"""The views of an archive, for users who query it by SQL. ``docs/reference/schema.md`` lists their columns.

They are stated once: what SQLite and PostgreSQL write differently is in ``Words``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple


class Words(NamedTuple):
    """What the views need and each database writes in its own way.

    Attributes:
        when: a value if a condition holds, else another one: takes all three.
        odd: the condition that a whole number is odd.
        seconds: milliseconds as seconds with a fraction.
        mean: the mean of a column of numbers.
        instant: text of an instant in milliseconds since 1970, UTC: whole minutes where the condition holds.
        day: text of the day of such an instant. iso_day: a text if it is such a day; else null.
        shown: the condition that a row ``g`` of ``games`` is shown: not merged into another one.
        own_game: a further condition that the game ``g`` is in the archive of the analysis ``a``.
    """

    when: Callable[[str, str, str], str]
    odd: Callable[[str], str]
    seconds: Callable[[str], str]
    mean: Callable[[str], str]
    instant: Callable[[str, str], str]
    day: Callable[[str], str]
    iso_day: Callable[[str], str]
    shown: str
    own_game: str


def _when(condition: str, then: str, other: str) -> str:
    return f"iif({condition}, {then}, {other})"


def _instant(ms: str, whole_minutes: str) -> str:
    form = _when(whole_minutes, "'%Y-%m-%dT%H:%M'", "'%Y-%m-%dT%H:%M:%f'")
    return f"strftime({form}, {ms} / 1000.0,\n      'unixepoch')"


SQLITE: Final = Words(
    when=_when,
    odd=lambda number: f"{number} % 2",
    seconds=lambda ms: f"{ms} / 1000.0",
    mean=lambda column: f"avg({column})",
    instant=_instant,
    day=lambda ms: f"date({ms} / 1000, 'unixepoch')",
    iso_day=lambda text: f"iif(date({text}) = {text}, {text}, NULL)",
    shown="g.merged_into IS NULL",
    own_game="",
)


def _games(sql: Words) -> str:
    started = sql.instant("g.started_at_ms", "g.start_precision = 'minute'")
    return f"""\
CREATE VIEW v_games AS
SELECT g.key, g.kind, g.server, g.server_game_no, g.white, g.white_rating, g.black, g.black_rating, g.rated, g.variant,
  g.category, g.base_s, g.increment_s, g.result, g.reason, g.termination, g.ending,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown')
    THEN {started} END AS started_at, g.start_precision,
  g.time_basis, g.ply_count AS plies, g.complete, s.name AS source, g.first_offset, g.eco, g.opening,
  CASE WHEN g.time_basis IN ('utc', 'zone-unknown') AND g.started_at_ms IS NOT NULL
    THEN {sql.day("g.started_at_ms")}
    ELSE {sql.iso_day("g.date_text")} END AS day
FROM games g LEFT JOIN sources s ON s.id = g.source_id
WHERE {sql.shown}"""


def _plies(sql: Words) -> str:
    white = sql.odd("p.ply")
    side, mover = sql.when(white, "'white'", "'black'"), sql.when(white, "g.white", "g.black")
    clock = sql.seconds(sql.when(white, "p.white_clock_ms", "p.black_clock_ms"))
    return f"""\
CREATE VIEW v_plies AS
SELECT g.key, p.ply, (p.ply + 1) / 2 AS move_no, {side} AS side,
  {mover} AS mover, p.san,
  CASE
    WHEN p.move IS NULL THEN NULL
    WHEN p.move >= 32768 THEN substr('?NBRQKP', (p.move >> 12) - 7, 1) || '@'
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
    ELSE substr('abcdefgh', (p.move & 7) + 1, 1) || (((p.move >> 3) & 7) + 1)
      || substr('abcdefgh', ((p.move >> 6) & 7) + 1, 1) || (((p.move >> 9) & 7) + 1)
      || trim(substr(' nbrqk', (p.move >> 12) + 1, 1))
  END AS uci,
  {clock} AS clock_s,
  {sql.seconds("p.white_clock_ms")} AS white_clock_s, {sql.seconds("p.black_clock_ms")} AS black_clock_s,
  {sql.seconds("p.elapsed_ms")} AS elapsed_s, p.lag_ms, coalesce(o.started_at_ms, 0) + p.at_ms AS arrived_at_ms,
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
WHERE {sql.shown}"""


def _clocks(sql: Words) -> str:
    mean_s, mean_lag_ms = sql.mean("elapsed_s"), sql.mean("lag_ms")
    return f"""\
CREATE VIEW v_clocks AS
SELECT key, side, mover AS player, count(*) AS moves, sum(elapsed_s) AS total_s, {mean_s} AS mean_s,
  max(elapsed_s) AS longest_s, min(clock_s) AS least_clock_s, {mean_lag_ms} AS mean_lag_ms, max(lag_ms) AS max_lag_ms
FROM v_plies GROUP BY key, side, mover"""


def _analyses(sql: Words) -> str:
    sign = sql.when(sql.odd("p.ply"), "-1", "1")
    return f"""\
CREATE VIEW v_analyses AS
SELECT coalesce(m.key, g.key) AS key, a.engine, a.protocol, a.settings, p.ply, p.fen, l.seq, l.depth,
  {sign} * l.score_cp AS white_cp, {sign} * l.mate AS white_mate, l.time_ms, l.nodes, l.pv
FROM analyses a
JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL{sql.own_game}
LEFT JOIN games m ON m.id = g.merged_into
JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands
JOIN analysis_lines l ON l.position_id = p.id"""


def views(sql: Words) -> tuple[str, ...]:
    """The statements that make the views, in their order: ``v_clocks`` reads the one before."""
    return _games(sql), _plies(sql), _clocks(sql), _analyses(sql)


VIEWS = views(SQLITE)
"""Those of an archive."""
