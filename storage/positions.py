"""The index of positions: in which games of an archive, and after how many half-moves, a position occurred.

It is a file of its own beside the archive, ``games.sqlite-positions``, made when a position is first looked for. It has
keys of games and numbers, no handles and no texts, and can be deleted at any time. Games that are new or have changed
since are added by the next search. Rows of games that are gone or have changed are not found any more; when most rows
are such, all is indexed again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from recorder.errors import StorageError
from recorder.progress import Progress
from storage.files import create_file, open_sqlite, place_beside, uri_to_read
from storage.read.query import DATED_MS, conditions_of
from storage.read.store import EVERY_GAME, GameFilter
from storage.settings import archive_id, content_version

if TYPE_CHECKING:
    from recorder.rules.position import Position
    from storage.database import Database

_VERSION: Final = "2"
_BYTES_IN_ROW: Final = 32
_GAMES_AT_ONCE: Final = 2000
_GAMES_IN_TRANSACTION: Final = 10 * _GAMES_AT_ONCE
_CACHE_KIB: Final = 65_536
_ALL: Final = 1 << 30
_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE games (
  number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, id INTEGER NOT NULL, stamp TEXT NOT NULL);
CREATE TABLE positions (
  position INTEGER NOT NULL, game INTEGER NOT NULL, ply INTEGER NOT NULL,
  move INTEGER, elapsed_ms INTEGER, clock_ms INTEGER, PRIMARY KEY (position, game, ply)
) WITHOUT ROWID;
"""
# the games that are shown, with what changes when their main lines do
_GAMES: Final = """
SELECT g.key, g.id, g.ply_count, g.id || ' ' || coalesce(g.start_fen, '') || ' ' || coalesce((
  SELECT group_concat(s.from_ply || '-' || s.to_ply || ':' || l.first_ply_id || '+' || l.ply_count)
  FROM segments s JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0 WHERE s.game_id = g.id), '')
FROM games g WHERE g.merged_into IS NULL AND g.variant = 'chess' AND g.ply_count > 0
"""
# positions have the same number for a game until it changes; its row in the archive is found by id, and has its key
_OCCURRENCES: Final = f"""
SELECT g.key, g.id, p.ply, p.move, p.elapsed_ms, p.clock_ms, g.result, g.{{mover}}_rating FROM reached.positions p
JOIN reached.games i ON i.number = p.game JOIN games g ON g.id = i.id AND g.key = i.key
LEFT JOIN sources s ON s.id = g.source_id WHERE p.position = ? AND {{text}}
ORDER BY {DATED_MS} DESC NULLS LAST, g.id DESC, p.ply
"""
_OF_SEGMENTS: Final = (
    "FROM json_each(?1) wanted CROSS JOIN segments s ON s.game_id = wanted.value"
    " CROSS JOIN ply_lines l ON l.observation_id = s.observation_id AND l.line_no = 0"
)
_PLIES: Final = (
    "SELECT wanted.key, p.ply, p.move, p.elapsed_ms, iif(p.ply & 1, p.white_clock_ms, p.black_clock_ms)"
    f" {_OF_SEGMENTS} CROSS JOIN plies p ON p.id BETWEEN l.first_ply_id AND l.first_ply_id + min(l.ply_count, ?2) - 1"
    " AND p.ply BETWEEN s.from_ply AND min(s.to_ply, ?2) ORDER BY wanted.key, p.ply"
)
_ANCHORS: Final = (
    f"SELECT wanted.key, a.ply, a.fen {_OF_SEGMENTS} CROSS JOIN anchors a ON a.observation_id = s.observation_id"
    " AND a.line_no = 0 AND a.ply BETWEEN s.from_ply - 1 AND s.to_ply"
)


class IndexState(NamedTuple):
    """Without a file the size is 0; ``missing_plies`` are half-moves of missing games."""

    path: Path
    size_bytes: int
    games: int
    missing: int
    missing_plies: int

    @property
    def added_bytes(self) -> int:
        return (self.missing_plies + self.missing) * _BYTES_IN_ROW


class Occurrence(NamedTuple):
    """After ``ply`` half-moves, with the next move (``encode_move``), its times and its player's rating."""

    key: str
    row_id: int
    ply: int
    move: int | None
    elapsed_ms: int | None
    clock_ms: int | None
    result: str
    rating: int | None


class PositionLine(NamedTuple):
    """(move, think time, clock) of each half-move; without ``fen`` it is the normal start."""

    fen: str | None
    start_ply: int
    plies: list[tuple[int | None, int | None, int | None]]


class _Missing(NamedTuple):
    key: str
    row_id: int
    plies: int
    stamp: str


class PositionIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self.path = place_beside(database.path, "positions")

    def state(self) -> IndexState:
        with self._database.reading() as driver, self._opened() as index:
            missing, gone = self._compare(driver, index)
            games = 0 if index is None else index.execute("SELECT count(*) FROM games").fetchone()[0] - len(gone)
        size = self.path.stat().st_size if self.path.exists() else 0
        return IndexState(self.path, size, games, len(missing), sum(game.plies for game in missing))

    def update(self, progress: Progress | None = None) -> None:
        """Make the file if it is not there."""
        if not self.path.exists():
            create_file(self.path)
        with self._database.reading() as driver, self._writing() as index:
            if not _is_of(index, driver) or _is_mostly_old(index):
                _make(index, driver)
            done, left = 0, 1
            while left:  # between transactions others read
                index.execute("BEGIN IMMEDIATE")  # what another program adds meanwhile is not added again
                missing, gone = self._compare(driver, index)
                index.executemany("DELETE FROM games WHERE key = ?", [(key,) for key in gone])
                of = done + sum(game.plies for game in missing)
                for begin in range(0, min(len(missing), _GAMES_IN_TRANSACTION), _GAMES_AT_ONCE):
                    some = missing[begin : begin + _GAMES_AT_ONCE]
                    _add(driver, index, some)
                    done += sum(game.plies for game in some)
                    if progress is not None:
                        progress("Indexing positions", done, of)
                left = max(len(missing) - _GAMES_IN_TRANSACTION, 0)
                if not left:
                    about = "INSERT OR REPLACE INTO about VALUES ('content', ?)"
                    index.execute(about, (content_version(driver) or "",))
                index.execute("COMMIT")

    def drop(self) -> bool:
        """Returns whether there was one."""
        there = self.path.exists()
        for suffix in ("", "-journal"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return there

    def occurrences(self, position: Position, where: GameFilter = EVERY_GAME) -> list[Occurrence]:
        """Of indexed games that match, the newest first; none without an index. ``last`` does not count."""
        from recorder.rules.keys import position_key  # commands that search for no position need no rules

        text, values = conditions_of(where)
        query = _OCCURRENCES.format(mover="white" if position.white_to_move else "black", text=text)
        with self._opened() as index, self._database.reading() as driver:
            if index is None:
                return []
            if all(name != "reached" for _, name, _ in driver.execute("PRAGMA database_list")):
                driver.execute("ATTACH ? AS reached", (uri_to_read(self.path),))
            return list(map(Occurrence._make, driver.execute(query, (position_key(position), *values))))

    def lines(self, row_id: int, most: int) -> list[PositionLine]:
        """They may end after ``most`` half-moves."""
        with self._database.reading() as driver:
            return next(main_lines(driver, [row_id], most))

    @staticmethod
    def _compare(driver: sqlite3.Connection, index: sqlite3.Connection | None) -> tuple[list[_Missing], list[str]]:
        """The games that are not indexed as they are, and the keys of indexed games that are gone or have changed."""
        stamps: dict[str, str] = {}
        if index is not None and _is_of(index, driver):
            if (version := content_version(driver)) is not None and _about(index).get("content") == version:
                return [], []
            stamps = dict(index.execute("SELECT key, stamp FROM games"))
        missing = []
        for row in driver.execute(_GAMES):
            if stamps.get(row[0]) == row[3]:
                del stamps[row[0]]
            else:
                missing.append(_Missing._make(row))
        return missing, [*stamps]  # those that are left have changed or are gone

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """None: there is no index of this version."""
        if not self.path.exists():
            yield None
            return
        with self._errors(), closing(open_sqlite(self.path, read_only=True)) as index:
            yield index if _about(index).get("version") == _VERSION else None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._errors(), closing(open_sqlite(self.path)) as index:
            index.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            index.execute("PRAGMA synchronous = OFF")  # a broken index is deleted and built by the next search
            yield index

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise StorageError(f"Another program is writing {self.path.name}; try again when it ends.") from error
            raise StorageError(
                f"The index of positions {self.path.name} cannot be used: {error}. "
                "`ics-recorder db positions --drop` deletes it."
            ) from error


def _about(index: sqlite3.Connection) -> dict[str, str]:
    """Nothing if it is empty."""
    if not index.execute("SELECT count(*) FROM sqlite_master WHERE name = 'about'").fetchone()[0]:
        return {}
    return dict(index.execute("SELECT name, value FROM about"))


def _is_of(index: sqlite3.Connection, driver: sqlite3.Connection) -> bool:
    about = _about(index)
    return (about.get("version"), about.get("archive")) == (_VERSION, archive_id(driver))


def _is_mostly_old(index: sqlite3.Connection) -> bool:
    query = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'games'), 0), (SELECT count(*) FROM games)"
    ever, there = index.execute(query).fetchone()
    return int(ever) > 2 * int(there) + _GAMES_AT_ONCE


def _make(index: sqlite3.Connection, driver: sqlite3.Connection) -> None:
    for name in ("about", "games", "positions"):
        index.execute(f"DROP TABLE IF EXISTS {name}")
    index.executescript(_TABLES)
    about = (("version", _VERSION), ("archive", archive_id(driver)))
    index.executemany("INSERT INTO about VALUES (?, ?)", about)


def _add(driver: sqlite3.Connection, index: sqlite3.Connection, games: Sequence[_Missing]) -> None:
    rows: list[tuple[Any, ...]] = []
    for game, lines in zip(games, main_lines(driver, [game.row_id for game in games]), strict=True):
        insert = "INSERT INTO games (key, id, stamp) VALUES (?, ?, ?)"
        number = index.execute(insert, (game.key, game.row_id, game.stamp)).lastrowid
        for line in lines:
            rows += [(key, number, *rest) for key, *rest in _positions(line)]
    # where a line ends and another begins, the move that follows counts
    rows.sort(key=lambda row: (*row[:3], row[3] is None))
    index.executemany("INSERT OR IGNORE INTO positions VALUES (?, ?, ?, ?, ?, ?)", rows)


def _positions(line: PositionLine) -> Iterator[tuple[Any, ...]]:
    """The key, its ply, and the next move with its times."""
    from recorder.rules.keys import START_KEY, position_key, position_keys

    start = None if line.fen is None else _position(line.fen)
    if line.fen is not None and start is None:
        return
    keys = [START_KEY if start is None else position_key(start)]
    keys += position_keys([move for move, _, _ in line.plies], start)
    for number, key in enumerate(keys):
        following = line.plies[number] if number < len(line.plies) else (None, None, None)
        yield (key, line.start_ply + number, *following)


def _position(fen: str) -> Position | None:
    from recorder.rules.fen import position_from_fen
    from recorder.rules.position import Rules

    try:
        return position_from_fen(fen, Rules.CHESS)
    except ValueError:
        return None


def main_lines(driver: sqlite3.Connection, ids: Sequence[int], most: int | None = None) -> Iterator[list[PositionLine]]:
    """Of each game, cut where half-moves or positions are missing, and perhaps after ``most``."""
    wanted = json.dumps([*ids])
    starts = "SELECT w.key, g.start_fen, g.start_ply FROM json_each(?) w CROSS JOIN games g ON g.id = w.value"
    facts = {index: (fen, ply) for index, fen, ply in driver.execute(starts, (wanted,))}
    anchors: dict[int, dict[int, str]] = {}
    for index, ply, fen in driver.execute(_ANCHORS, (wanted,)):
        anchors.setdefault(index, {})[ply] = fen
    plies: dict[int, list[tuple[Any, ...]]] = {}
    for index, *row in driver.execute(_PLIES, (wanted, _ALL if most is None else most)):
        plies.setdefault(index, []).append(tuple(row))
    for index in range(len(ids)):
        fen, start_ply = facts[index]
        yield _cut(plies.get(index, []), fen, start_ply, anchors.get(index, {}))


def _cut(
    plies: Iterable[tuple[Any, ...]], fen: str | None, start_ply: int, anchors: dict[int, str]
) -> list[PositionLine]:
    lines: list[PositionLine] = []
    has_start = fen is not None or start_ply == 0
    line = PositionLine(fen if fen is not None else anchors.get(start_ply) if not has_start else None, start_ply, [])
    if has_start or line.fen is not None:
        lines.append(line)
    following = start_ply + 1
    for ply, *rest in plies:
        if ply != following or (ply - 1 in anchors and ply - 1 != start_ply):
            line = PositionLine(anchors.get(ply - 1), ply - 1, [])
            if line.fen is not None:
                lines.append(line)
        line.plies.append((rest[0], rest[1], rest[2]))
        following = ply + 1
    return lines
