"""The statements with which DuckDB reads a data set, so that the filters of an archive choose its games."""

from __future__ import annotations

from typing import Final

from recorder.model import TimeBasis
from storage.read.query import FilterWords, named_by_like

FILTERS: Final = FilterWords(
    "g.dated_ms",
    lambda side: f"coalesce(g.{side}_guest, FALSE)",
    lambda side: f"coalesce(g.{side}_computer, FALSE)",
    "TRUE",
    named_by_like,
    "g.fingerprint, CASE WHEN g.fingerprint IS NULL THEN g.id END",
    has_tags=False,
    plies="plies p WHERE p.source = g.source_id AND p.key = g.key",
    events="EXISTS (SELECT 1 FROM events e WHERE e.source = g.source_id AND e.key = g.key AND ({}))",
)
_DATES: Final = f"('{TimeBasis.UTC.value}', '{TimeBasis.LOCAL.value}')"
ROWS: Final = {
    "game_rows": "SELECT *, (file_index << 32) + file_row_number AS id FROM read_parquet({files})",
    "plies": "SELECT * FROM read_parquet({files})",
    "events": "SELECT *, file_row_number AS line FROM read_parquet({files})",
}
"""The tables; ``id`` numbers the games."""
_PART: Final = "try_cast(split_part(time_control, '+', {}) AS BIGINT)"
GAMES: Final = f"""
CREATE VIEW games AS
SELECT id, "offset" AS first_offset, source AS source_id, NULL::BIGINT AS merged_into, key, server, kind, variant,
  category, rated, result, complete, plies AS ply_count, start_precision, me, white, black, white_guest, black_guest,
  white_computer, black_computer, white_rating, black_rating, reason AS reason_key, ending, NULL::BIGINT AS ended_at_ms,
  started_ms AS started_at_ms, CASE WHEN time_control = '-' THEN 0 ELSE {_PART.format(1)} END AS base_s,
  CASE WHEN time_control = '-' THEN 0 ELSE {_PART.format(2)} END AS increment_s, fingerprint,
  lower(white) AS white_id, lower(black) AS black_id, eco, opening,
  coalesce(CASE WHEN time_basis IN {_DATES} THEN started_ms END, epoch_ms(try_cast(day AS DATE))) AS dated_ms
FROM game_rows
"""
"""The games with the names of an archive's columns, for the conditions of filters."""
VIEWS: Final = (
    "CREATE VIEW players AS SELECT white_id AS id, white_id AS handle_folded FROM games"
    " UNION SELECT black_id, black_id FROM games",
    "CREATE TABLE sources (id VARCHAR, sha256 VARCHAR)",
)
