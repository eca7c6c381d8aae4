"""Read stored analyses: of loaded games, of one game, or all of an archive."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any, Final, NamedTuple, get_args

from recorder.model import AnalysedPosition, Analysis, Game, Thinking
from recorder.model.observations import EngineProtocol
from storage.mapping import ANALYSIS_LINES
from storage.read.store import SqlDriver
from storage.sound import RowCheck, types_of

_OF_ANALYSIS: Final = types_of(Analysis)
_CHECK: Final = RowCheck(
    {"game_key": _OF_ANALYSIS["engine"]}
    | {name: _OF_ANALYSIS[name] for name in ("begun_ms", "engine", "protocol", "settings")}
    | {"ply": _OF_ANALYSIS["begun_ms"]}
    | {name: ANALYSIS_LINES.types[name] for name in ANALYSIS_LINES.columns[2:]},
    {"protocol": get_args(EngineProtocol)},
)
_COLUMNS: Final = ", ".join(f"l.{name}" for name in ANALYSIS_LINES.columns[2:])


class StoredAnalysis(NamedTuple):
    """Also positions that the game no longer has; source and offset are None if it is not in this archive."""

    key: str
    sha256: str | None
    first_offset: int | None
    analysis: Analysis
    positions: list[AnalysedPosition]


def has_analyses(driver: SqlDriver) -> bool:
    return driver.execute("SELECT 1 FROM analyses LIMIT 1").fetchone() is not None


def analysts(driver: sqlite3.Connection) -> list[str]:
    return [name for (name,) in driver.execute("SELECT DISTINCT engine FROM analyses ORDER BY engine")]


def load_analyses(driver: SqlDriver, games: Collection[Game]) -> None:
    """The earliest first, without positions that a game no longer has; analyses with equal settings are merged."""
    of_key = {key: game for game in games for key in (game.key, *game.merged_from)}
    marks = ", ".join("?" * len(of_key))
    rows = driver.execute(
        f"SELECT a.game_key, a.begun_ms, a.engine, a.protocol, a.settings, p.ply, {_COLUMNS} FROM analyses a"
        " JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands JOIN analysis_lines l ON l.position_id = p.id"
        f" WHERE a.game_key IN ({marks}) ORDER BY a.begun_ms, a.id, p.ply, l.seq",
        list(of_key),
    )
    found: dict[tuple[str, str, str, str], tuple[Analysis, dict[int, list[Thinking]]]] = {}
    for (key, begun_ms, engine, protocol, settings), of_engine in groupby(_CHECK(rows), lambda row: row[:5]):
        named = (of_key[key].key, engine, protocol, settings)
        head, by_ply = found.setdefault(named, (Analysis(engine, protocol, settings, begun_ms, ()), {}))
        by_ply |= {
            ply: [_thinking(head, row[5:]) for row in lines] for ply, lines in groupby(of_engine, lambda row: row[5])
        }
    for (key, *_), (head, by_ply) in found.items():
        of_key[key].analyses.append(replace(head, lines=_numbered(by_ply)))


def _thinking(head: Analysis, row: Sequence[Any]) -> Thinking:
    return Thinking._make((0, row[0], head.engine, row[0] % 2 == 0, *row[1:], None, 0))


def _numbered(by_ply: dict[int, list[Thinking]]) -> tuple[Thinking, ...]:
    lines = (line for ply in sorted(by_ply) for line in by_ply[ply])
    return tuple(line._replace(seq=seq) for seq, line in enumerate(lines))


def current_plies(driver: sqlite3.Connection, keys: Collection[str], analysis: Analysis) -> set[int]:
    """By half-moves played."""
    marks = ", ".join("?" * len(keys))
    rows = driver.execute(
        "SELECT p.ply FROM analyses a JOIN analysed_positions p ON p.analysis_id = a.id AND p.stands"
        f" WHERE a.engine = ? AND a.protocol = ? AND a.settings = ? AND a.game_key IN ({marks})",
        (analysis.engine, analysis.protocol, analysis.settings, *keys),
    )
    return {ply for (ply,) in rows}


def stored_analyses(driver: sqlite3.Connection) -> Iterator[StoredAnalysis]:
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
