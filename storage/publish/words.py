"""What PostgreSQL writes differently from SQLite in the views and filters of an archive."""

from __future__ import annotations

from typing import Final

from storage.schema.views import Words

__all__ = ["POSTGRES", "SHOWN"]

# Of games with equal keys one is shown: a merged game before one of a single source, then the one with more plies,
# then that of the archive with the least number. A game that another archive has merged is shown as that one.
SHOWN: Final = """\
g.merged_into IS NULL AND NOT EXISTS (
  SELECT 1 FROM games other WHERE other.key = g.key AND other.archive <> g.archive
  AND CASE WHEN other.merged_into IS NOT NULL THEN g.source_id IS NOT NULL
    ELSE (other.source_id IS NULL, other.ply_count, -other.archive) > (g.source_id IS NULL, g.ply_count, -g.archive)
  END)"""


def _when(condition: str, then: str, other: str) -> str:
    return f"CASE WHEN {condition} THEN {then} ELSE {other} END"


def _instant(ms: str, whole_minutes: str) -> str:
    form = _when(whole_minutes, """'YYYY-MM-DD"T"HH24:MI'""", """'YYYY-MM-DD"T"HH24:MI:SS.MS'""")
    return f"to_char(to_timestamp({ms} / 1000.0) AT TIME ZONE 'UTC', {form})"


POSTGRES: Final = Words(
    when=_when,
    odd=lambda number: f"{number} % 2 <> 0",
    seconds=lambda ms: f"({ms})::float8 / 1000",
    mean=lambda column: f"avg({column}::float8)",
    instant=_instant,
    shown=SHOWN,
    own_game=" AND g.archive = a.archive",
)
