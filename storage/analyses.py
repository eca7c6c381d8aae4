"""What engines thought of games: rows that hang on a game's key, since the game's own rows come and go.

The database is otherwise a view of logs; analyses are in none. So nothing that reads a log again deletes them, and what
moves a game's key moves them. Which of their positions the game still has is kept in ``stands``
(``storage.current_analyses``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple

from recorder.model import AnalysedPosition, Analysis, Game, Thinking
from storage.mapping import ANALYSIS_LINES
from storage.write.rows import insert_into, insert_rows

__all__ = [
    "StoredAnalysis",
    "analysts",
    "has_analyses",
    "load_analyses",
    "move_analyses",
    "standing_plies",
    "store_positions",
    "stored_analyses",
]

_LINES: Final = insert_into("analysis_lines")
_COLUMNS: Final = ", ".join(f"l.{name}" for name in ANALYSIS_LINES.columns[2:])
_FIND: Final = (
    "SELECT id FROM analyses WHERE game_key = ? AND engine = ? AND protocol = ? AND settings = ? ORDER BY id LIMIT 1"
)
_MOVING: Final = "~"  # no key begins with it


class StoredAnalysis(NamedTuple):
    """An analysis as it is stored, with positions that its game has no more.

    ``key``: of the game, here. ``sha256``, ``first_offset``: where a source tells that game; None: it is not here.
    ``analysis`` has no lines: ``positions`` have them.
    """

    key: str
    sha256: str | None
    first_offset: int | None
    analysis: Analysis
    positions: list[AnalysedPosition]


def has_analyses(driver: sqlite3.Connection) -> bool:
    """Whether there is any analysis at all."""
    return driver.execute("SELECT 1 FROM analyses LIMIT 1").fetchone() is not None


def analysts(driver: sqlite3.Connection) -> list[str]:
    """The names of all engines that have analysed a game, by alphabet."""
    return [name for (name,) in driver.execute("SELECT DISTINCT engine FROM analyses ORDER BY engine")]


def load_analyses(driver: sqlite3.Connection, games: Collection[Game]) -> None:
    """Give games what engines thought of positions that they still have, the analysis begun first in front.

    What was stored of one engine with the same settings under several keys of a game is one analysis.
    """
    of_key = {key: game for game in games for key in (game.key, *game.witnesses)}
    marks = ", ".join("?" * len(of_key))
    rows = driver.execute(
        f"SELECT a.game_key, a.begun_ms, a.engine, a.protocol, a.settings, p.ply, {_COLUMNS} FROM analyses a"
        " JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands JOIN analysis_lines l ON l.position_id = p.id"
        f" WHERE a.game_key IN ({marks}) ORDER BY a.begun_ms, a.id, p.ply, l.seq",
        list(of_key),
    )
    found: dict[tuple[str, str, str, str], tuple[Analysis, dict[int, list[Thinking]]]] = {}
    for (key, begun_ms, engine, protocol, settings), told in groupby(rows, lambda row: row[:5]):
        named = (of_key[key].key, engine, protocol, settings)
        head, by_ply = found.setdefault(named, (Analysis(engine, protocol, settings, begun_ms, ()), {}))
        by_ply |= {ply: [_thinking(head, row[5:]) for row in lines] for ply, lines in groupby(told, lambda row: row[5])}
    for (key, *_), (head, by_ply) in found.items():
        of_key[key].analyses.append(replace(head, lines=_numbered(by_ply)))


def _thinking(head: Analysis, row: Sequence[Any]) -> Thinking:
    """A line by its ply and the columns of ``analysis_lines`` from ``depth`` on."""
    return Thinking._make((0, row[0], head.engine, row[0] % 2 == 0, *row[1:], None, 0))


def _numbered(by_ply: dict[int, list[Thinking]]) -> tuple[Thinking, ...]:
    lines = (line for ply in sorted(by_ply) for line in by_ply[ply])
    return tuple(line._replace(seq=seq) for seq, line in enumerate(lines))


def standing_plies(driver: sqlite3.Connection, keys: Collection[str], analysis: Analysis) -> set[int]:
    """Which positions of a game this engine has looked at with these settings, of those that the game still has.

    Args:
        keys: all that the game has.
    """
    marks = ", ".join("?" * len(keys))
    rows = driver.execute(
        "SELECT p.ply FROM analyses a JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands"
        f" WHERE a.engine = ? AND a.protocol = ? AND a.settings = ? AND a.game_key IN ({marks})",
        (analysis.engine, analysis.protocol, analysis.settings, *keys),
    )
    return {ply for (ply,) in rows}


def store_positions(
    driver: sqlite3.Connection,
    key: str,
    analysis: Analysis,
    positions: Collection[AnalysedPosition],
    *,
    anew: bool = False,
) -> None:
    """Store what an engine told of positions; they are not known to stand yet.

    Args:
        driver: in a transaction. key: of the game. analysis: by which engine; its own lines are not looked at.
        anew: the analysis is begun again: what the engine told before of the same position is replaced. Else that
            stays, and nothing is stored of it.
    """
    named = (key, analysis.engine, analysis.protocol, analysis.settings)
    row = driver.execute(_FIND, named).fetchone()
    if row is None:
        into = (
            "INSERT INTO analyses (game_key, engine, protocol, settings, begun_ms) VALUES (?, ?, ?, ?, ?) RETURNING id"
        )
        row = driver.execute(into, (*named, analysis.begun_ms)).fetchone()
    elif anew:
        driver.execute("UPDATE analyses SET begun_ms = ? WHERE id = ?", (analysis.begun_ms, row[0]))
    for position in positions:
        place = (row[0], position.ply, position.fen)
        there = driver.execute(
            "SELECT id FROM analysed_positions WHERE analysis_id = ? AND ply = ? AND fen = ?", place
        ).fetchone()
        if there is not None and not anew:
            continue
        if there is None:
            into = "INSERT INTO analysed_positions (analysis_id, ply, fen, stands) VALUES (?, ?, ?, 0) RETURNING id"
            there = driver.execute(into, place).fetchone()
        driver.execute("DELETE FROM analysis_lines WHERE position_id = ?", there)
        lines = [ANALYSIS_LINES.row(line, there[0], seq) for seq, line in enumerate(position.lines)]
        insert_rows(driver, _LINES, lines)


def stored_analyses(driver: sqlite3.Connection) -> Iterator[StoredAnalysis]:
    """All analyses of an archive."""
    rows = driver.execute(
        "SELECT a.id, a.game_key, s.sha256, g.first_offset, a.engine, a.protocol, a.settings, a.begun_ms"
        " FROM analyses a LEFT JOIN games g ON g.key = a.game_key AND g.source_id IS NOT NULL"
        " LEFT JOIN sources s ON s.id = g.source_id ORDER BY a.id"
    )
    for number, key, sha256, offset, engine, protocol, settings, begun_ms in rows.fetchall():
        head = Analysis(engine, protocol, settings, begun_ms, ())
        lines: dict[int, list[Thinking]] = {}
        for row in driver.execute(
            f"SELECT p.id, p.ply, {_COLUMNS} FROM analysed_positions p JOIN analysis_lines l ON l.position_id = p.id"
            " WHERE p.analysis_id = ? ORDER BY l.seq",
            (number,),
        ):
            lines.setdefault(row[0], []).append(_thinking(head, row[1:]))
        places = driver.execute(
            "SELECT id, ply, fen FROM analysed_positions WHERE analysis_id = ? ORDER BY id", (number,)
        )
        positions = [AnalysedPosition(ply, fen, tuple(lines.get(one, ()))) for one, ply, fen in places]
        yield StoredAnalysis(key, sha256, offset, head, positions)


def move_analyses(driver: sqlite3.Connection, keys: Mapping[str, str]) -> None:
    """Games got other keys, which may be keys that others of them had.

    Args:
        driver: in a transaction. keys: what each was, and is now.
    """
    if has_analyses(driver):
        moving = [(f"{_MOVING}{now}", was) for was, now in keys.items()]
        driver.executemany("UPDATE analyses SET game_key = ? WHERE game_key = ?", moving)
        driver.executemany(
            "UPDATE analyses SET game_key = substr(game_key, 2) WHERE game_key = ?", [(to,) for to, _ in moving]
        )
