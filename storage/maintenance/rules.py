"""Rules between the rows of an archive, which a schema cannot state."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from recorder.model import ObservationKind
from storage.read.query import fold

_NAMED: Final = 5  # so many games that break a rule
_RUN: Final = "p.id BETWEEN l.first_ply_id AND l.first_ply_id + l.ply_count - 1"
_MAIN_LINE: Final = "JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0"
_FROM_LOGS: Final = ", ".join(
    repr(k.value) for k in (ObservationKind.LIVE, ObservationKind.EXAMINED, ObservationKind.MOVELIST)
)
_NUL: Final = " OR ".join(
    f"instr(CAST({name} AS BLOB), x'00') > 0" for name in ("o.white", "o.black", "g.white", "g.black")
)
_OF_SOURCE: Final = "(SELECT coalesce({}, 0) FROM source_chunks c WHERE c.source_id = s.id)"

RULES: Final = (
    (
        "plies that belong to no line",
        "SELECT count(*) - (SELECT coalesce(sum(ply_count), 0) FROM ply_lines), NULL FROM plies",
    ),
    (
        "lines that share their plies with another",
        "SELECT 1, o.game_id FROM (SELECT observation_id, first_ply_id, lag(first_ply_id + ply_count)"
        " OVER (ORDER BY first_ply_id) AS free FROM ply_lines WHERE ply_count > 0) l"
        " JOIN observations o ON o.id = l.observation_id WHERE l.first_ply_id < l.free",
    ),
    (
        "lines whose plies are missing or out of order",
        "SELECT 1, o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id WHERE l.ply_count <>"
        f" (SELECT coalesce(sum(p.ply > before), 0) FROM (SELECT ply, lag(ply, 1, 0) OVER (ORDER BY id) AS before"
        f" FROM plies p WHERE {_RUN}) p)",
    ),
    (
        "lines without the line they leave",
        "SELECT 1, o.game_id FROM ply_lines l JOIN observations o ON o.id = l.observation_id"
        " WHERE l.parent_line_no IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ply_lines m"
        " WHERE m.observation_id = l.observation_id AND m.line_no = l.parent_line_no)",
    ),
    (
        "segments whose first or last ply is not there",
        f"SELECT 1, s.game_id FROM segments s {_MAIN_LINE} WHERE (SELECT count(*) FROM plies p WHERE {_RUN}"
        " AND p.ply IN (s.from_ply, s.to_ply)) < 1 + (s.from_ply < s.to_ply)",
    ),
    (
        "segments that overlap the one before",
        "SELECT 1, s.game_id FROM segments s JOIN segments t ON t.game_id = s.game_id AND t.seq = s.seq + 1"
        " WHERE t.from_ply <= s.to_ply",
    ),
    (
        "segments of another game's observation",
        "SELECT 1, s.game_id FROM segments s JOIN observations o ON o.id = s.observation_id"
        " JOIN games g ON g.id = o.game_id WHERE o.game_id <> s.game_id AND g.merged_into IS NOT s.game_id",
    ),
    (
        "merged games whose key is none of their sources' keys",
        "SELECT 1, g.id FROM games g WHERE g.source_id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM games m WHERE m.merged_into = g.id AND m.key = g.key)",
    ),
    (
        "games merged into a game that has a source of its own",
        "SELECT 1, m.id FROM games m JOIN games g ON g.id = m.merged_into WHERE g.source_id IS NOT NULL",
    ),
    (
        "observations of logs with a NUL character in a player's name, which the reader of logs deletes",
        "SELECT 1, g.id FROM observations o JOIN games g ON g.id = o.game_id"
        f" WHERE o.kind IN ({_FROM_LOGS}) AND ({_NUL})",
    ),
    (
        "games whose number of plies is not that of their segments",
        "SELECT 1, g.id FROM games g WHERE g.ply_count <>"
        f" (SELECT count(*) FROM segments s {_MAIN_LINE} JOIN plies p ON {_RUN}"
        " AND p.ply BETWEEN s.from_ply AND s.to_ply WHERE s.game_id = g.id)",
    ),
    (
        "games with the key of another",
        "SELECT count(*) - 1, min(id) FROM games GROUP BY key, source_id IS NULL HAVING count(*) > 1",
    ),
    (
        "players whose name in small letters is that of another",
        "SELECT 1, (SELECT id FROM games g WHERE p.id IN (g.white_id, g.black_id)) FROM players p"
        " WHERE handle_folded <> fold(handle)",
    ),
    (
        "sources whose kept bytes have a hole",
        f"SELECT 1, NULL FROM sources s WHERE s.kept_bytes <> {_OF_SOURCE.format('sum(c.size_bytes)')}"
        f" OR s.kept_bytes <> {_OF_SOURCE.format('max(c.offset + c.size_bytes)')}",
    ),
)
"""Rules between rows, in words, each with a query of what breaks it: how many, and the game's row if there is one."""


def broken_rules(driver: sqlite3.Connection) -> Iterator[str]:
    """The rules between tables that rows break, one sentence each with the games that they are in."""
    driver.create_function("fold", 1, fold, deterministic=True)
    for what, query in RULES:
        found = driver.execute(
            "SELECT f.number, coalesce(m.key, g.key) FROM (SELECT NULL AS number, NULL AS id WHERE FALSE UNION ALL"
            f" {query}) f LEFT JOIN games g ON g.id = f.id LEFT JOIN games m ON m.id = g.merged_into"
            " WHERE f.number <> 0"
        ).fetchall()
        if found:
            keys = list(dict.fromkeys(key[:8] for _, key in found if key is not None))
            more = f" and {len(keys) - _NAMED} more" if len(keys) > _NAMED else ""
            games = f" (game {', '.join(keys[:_NAMED])}{more})" if keys else ""
            yield f"There are {what}: {sum(number for number, _ in found)}{games}."
