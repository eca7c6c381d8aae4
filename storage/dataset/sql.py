"""The statements with which DuckDB reads a data set, so that the filters of an archive choose its games."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from recorder.errors import StorageError
from recorder.model import TimeBasis
from storage.read.query import EVENT_TAG, FilterWords, named_by_like

if TYPE_CHECKING:
    from storage.dataset.files import DatasetFiles

__all__ = [
    "BOARDS",
    "EVENTS",
    "FILTERS",
    "GAMES",
    "GAMES_WANTED",
    "OF_GAMES",
    "ROWS",
    "VIEWS",
    "listed",
    "plies_of",
    "rows_of_plies",
    "rows_of_side",
    "some_plies",
    "tags_of",
]

FILTERS: Final = FilterWords(
    "g.dated_ms",
    lambda side: f"coalesce(g.{side}_guest, FALSE)",
    lambda side: f"coalesce(g.{side}_computer, FALSE)",
    "TRUE",
    named_by_like,
    "g.fingerprint, CASE WHEN g.fingerprint IS NULL THEN g.id END",
    has_tags=False,
)
_DATES: Final = f"('{TimeBasis.UTC.value}', '{TimeBasis.LOCAL.value}')"
ROWS: Final = "SELECT *, (file_index << 32) + file_row_number AS id FROM read_parquet({files})"
GAMES: Final = f"""
SELECT id, "offset" AS first_offset, source AS source_id, NULL::BIGINT AS merged_into, key, server, kind, variant,
  category, rated, result, complete, plies AS ply_count, start_precision, me, white, black, white_guest, black_guest,
  white_computer, black_computer, fingerprint, lower(white) AS white_id, lower(black) AS black_id, eco, opening,
  coalesce(CASE WHEN time_basis IN {_DATES} THEN started_ms END, epoch_ms(try_cast(day AS DATE))) AS dated_ms
FROM game_rows
"""
"""The games with the names of an archive's columns, for the conditions of filters."""
GAMES_WANTED: Final = "SELECT g.* EXCLUDE (id) FROM wanted w JOIN game_rows g ON g.id = w.id ORDER BY w.number"
BOARDS: Final = """
SELECT g.id, g.plies FROM (
  SELECT w.number, g.source, unnest([g.key, g.partner_key]) AS key FROM wanted w JOIN game_rows g ON g.id = w.id
  WHERE g.partner_key IS NOT NULL
) b JOIN game_rows g ON g.source = b.source AND g.key = b.key GROUP BY g.id, g.plies ORDER BY min(b.number), g.id
"""
EVENTS: Final = """
SELECT w.number, e.* EXCLUDE (file_row_number) FROM wanted w JOIN game_rows g ON g.id = w.id
JOIN (SELECT *, file_row_number FROM read_parquet({files})) e ON e.source = g.source AND e.key = g.key
ORDER BY w.number, e.file_row_number
"""
_ROWS_OF_PLIES: Final = """
SELECT key, any_value(server) AS server, any_value(kind) AS kind, any_value(variant) AS variant,
  any_value(category) AS category, any_value(rated) AS rated, any_value(result) AS result,
  any_value(complete) AS complete, count(*)::INTEGER AS plies, any_value(time_basis) AS time_basis,
  {sides}, NULL::BIGINT AS started_ms, NULL::VARCHAR AS start_precision, any_value(day) AS day, NULL::VARCHAR AS me,
  NULL::VARCHAR AS eco, NULL::VARCHAR AS opening, source, 0 AS "offset", NULL::BIGINT AS fingerprint,
  row_number() OVER (ORDER BY key) AS id
FROM plies GROUP BY source, key
"""
"""What the filters need, of a folder that has plies only."""
VIEWS: Final = (
    "CREATE VIEW players AS SELECT white_id AS id, white_id AS handle_folded FROM games"
    " UNION SELECT black_id, black_id FROM games",
    "CREATE TABLE sources (id VARCHAR, sha256 VARCHAR)",
)
OF_GAMES: Final = {"eco": "g.eco", "opening": "g.opening", "event": "t.event"}
"""Columns that plies have on request: of their games, and of ``_TAGS``."""
_TAGS: Final = f"""
LEFT JOIN (SELECT source, key, arg_min(text, file_row_number) AS event FROM read_parquet({{files}}) e
  WHERE {EVENT_TAG} GROUP BY ALL) t ON t.source = g.source AND t.key = g.key
"""


def rows_of_side(white: bool) -> str:
    """The statement that gives one side of each wanted game."""
    side, other, control = ("white", "black", "") if white else ("black", "white", "black_")
    facts = ("", "_id", "_guest", "_computer", "_rating")
    values = {
        **{f"player{fact}": f"{side}{fact}" for fact in (*facts, "_sealed")},
        **{f"opponent{fact}": f"{other}{fact}" for fact in facts},
        **{name: f"{control}{name}" for name in ("time_control", "base_s", "increment_s")},
    }
    columns = ", ".join(f"g.{value} AS {name}" for name, value in values.items())
    return (
        f"SELECT w.number, '{side}' AS side, {columns}, g.* EXCLUDE (id, time_control, base_s, increment_s)"
        " FROM wanted w JOIN game_rows g ON g.id = w.id"
    )


def rows_of_plies() -> str:
    """The statement that gathers games from their plies."""
    facts = {"": "{}", "_guest": "{}_guest", "_computer": "{}_computer"}
    sides = [
        f"any_value(CASE WHEN side = '{side}' THEN {name.format('mover')} ELSE {name.format('opponent')} END)"
        f" AS {side}{fact}"
        for side in ("white", "black")
        for fact, name in facts.items()
    ]
    return _ROWS_OF_PLIES.format(sides=", ".join(sides))


def listed(paths: Collection[str]) -> str:
    """The SQL of a list of texts."""
    texts = (path.replace("'", "''") for path in paths)
    return "[{}]".format(", ".join(f"'{text}'" for text in texts))


def tags_of(files: DatasetFiles) -> str:
    """The join of games ``g`` with ``t.event``, which is their Event tag or null."""
    paths = [path for of_source in files.events.values() for path in of_source]
    return _TAGS.format(files=listed(paths)) if paths else "CROSS JOIN (SELECT NULL::VARCHAR AS event) t"


def plies_of(files: DatasetFiles, sources: Collection[str]) -> str:
    """The statement that reads the plies of some sources."""
    some = some_plies(files)
    paths = [path for source in sources for path in files.plies[source]]
    source = "" if files.games else "'' AS source, "
    return f"SELECT {source}* FROM read_parquet({listed(paths or [some])}){'' if paths else ' WHERE FALSE'}"


def some_plies(files: DatasetFiles) -> str:
    """A file of plies.

    Raises:
        StorageError: there is none.
    """
    for paths in files.plies.values():
        if paths:
            return paths[0]
    raise StorageError("No game of the data set has a move, which this needs.")
