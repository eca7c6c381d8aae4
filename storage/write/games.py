"""Games into rows, many at a time: keys and players are resolved, and rows inserted in few steps.

Games of two sources are two rows, whether they are one game or not. One of them has the key, the others
have its successors. Whose successor a key is can only be found by trying: what follows looks at all keys, so it is
for what is done once in a while.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from recorder.model import Game, Observation, Player
from storage.mapping import (
    ANCHORS,
    COLUMNS,
    EVENTS,
    HOLDINGS,
    PLY_LINES,
    SEGMENTS,
    THINKING,
    Row,
    game_row,
    observation_row,
)
from storage.read.query import fold
from storage.settings import rename_decisions
from storage.write.analyses import move_analyses
from storage.write.corrections import rename_corrections
from storage.write.merged import touch
from storage.write.rows import add_plies, insert_into, insert_plies, insert_rows, select_in

_GAME = "SELECT id FROM games WHERE key = ? AND source_id IS NOT NULL"
_MOVING = "~"  # no key begins with it


def successor(wanted: str, number: int) -> str:
    return hashlib.sha256(f"{wanted}:{number}".encode()).hexdigest()[: len(wanted)]


def find_successors(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """Each with itself and all its successors that are in use, in their order."""
    return successors_among({key for (key,) in driver.execute("SELECT key FROM games WHERE source_id IS NOT NULL")})


def successors_among(keys: Collection[str]) -> dict[str, list[str]]:
    chains: dict[str, list[str]] = {}
    for wanted in keys:
        if successor(wanted, 2) in keys:
            chain = chains[wanted] = [wanted]
            while (key := successor(wanted, len(chain) + 1)) in keys:
                chain.append(key)
    return chains


@contextmanager
def closing_up(driver: sqlite3.Connection) -> Iterator[None]:
    """Games may be deleted in the block; those left with equal keys have the key and its first successors."""
    before = find_successors(driver)
    yield
    for chain in before.values():
        _close_up(driver, chain)


def _close_up(driver: sqlite3.Connection, chain: list[str]) -> None:
    left = [(chain.index(key), number) for key in chain for number in _game(driver, key)]
    _move(driver, [(chain[index], number) for index, (was, number) in enumerate(left) if index != was])


def _move(driver: sqlite3.Connection, moving: list[tuple[str, int]]) -> None:
    """Those may be keys that others of them have."""
    keys: dict[str, str] = {}
    for key, number in moving:
        touch(driver, "VALUES (?)", (number,))
        keys[driver.execute("SELECT key FROM games WHERE id = ?", (number,)).fetchone()[0]] = key
    _rename(driver, keys)
    driver.executemany("UPDATE games SET key = ? || key WHERE id = ?", [(_MOVING, number) for _, number in moving])
    driver.executemany("UPDATE games SET key = ? WHERE id = ?", moving)


def _rename(driver: sqlite3.Connection, keys: dict[str, str]) -> None:
    move_analyses(driver, keys)
    for rename in (rename_decisions, rename_corrections):
        rename(driver, lambda key: keys.get(key, key))


def _game(driver: sqlite3.Connection, key: str) -> list[int]:
    return [number for (number,) in driver.execute(_GAME, (key,))]


def order_of_sources(driver: sqlite3.Connection) -> dict[str, list[str]]:
    """The sha256 of their sources, in the order of the keys they have."""
    query = "SELECT sha256 FROM games JOIN sources ON sources.id = source_id WHERE key = ? AND source_id IS NOT NULL"
    return {
        wanted: [sha256 for key in chain for (sha256,) in driver.execute(query, (key,))]
        for wanted, chain in find_successors(driver).items()
    }


def restore_order(driver: sqlite3.Connection, wanted: dict[str, list[str]]) -> None:
    """As far as they are of the same sources."""
    for key, order in order_of_sources(driver).items():
        before = wanted.get(key, order)
        if before == order or sorted(before) != sorted(order) or len(set(order)) < len(order):
            continue
        chain = [key, *(successor(key, number) for number in range(2, len(order) + 1))]
        games = [number for member in chain for number in _game(driver, member)]
        _move(driver, [(chain[before.index(sha256)], number) for sha256, number in zip(order, games, strict=True)])


BATCH_VALUES = 120_000
"""11 or 12 values a ply."""

BATCH_EVENTS = 10_000

KNOWN_PLAYERS = 20_000

_TABLES = (
    "players",
    "games",
    "observations",
    "ply_lines",
    "anchors",
    "holdings",
    "events",
    "thinking",
    "segments",
)  # parents first
_INTO = {name: insert_into(name) for name in _TABLES}
_KEY = COLUMNS["games"].index("key")
_FIND_PLAYERS = (
    "SELECT server, handle_folded, id FROM wanted CROSS JOIN players ON server = column1 AND handle_folded = column2"
)
_FIND_KEYS = "SELECT key FROM wanted CROSS JOIN games ON key = column1 WHERE source_id IS NOT NULL"
# A log's hash changes when it grows. A journal has its name from the beginning, and each another one.
_PLACE = "iif(sources.kind = 'journal', sources.name, ''), sources.sha256"
_FIND_KEY = (
    f"SELECT games.id, {_PLACE} FROM games JOIN sources ON sources.id = source_id"
    " WHERE key = ? AND source_id IS NOT NULL"
)
_PLACE_OF = f"SELECT {_PLACE} FROM sources WHERE id = ?"


class GameRows:
    def __init__(self, driver: sqlite3.Connection, source_id: int) -> None:
        self._driver = driver
        self._source_id = source_id
        self._batches: dict[str, list[Row]] = {name: [] for name in _TABLES}
        self._held: list[Game] = []  # of the rows of games
        self._ply_values: list[Any] = []
        self._timed = False  # whether they have arrivals
        self._next_game = self._first_game = self._next_id("games")
        self._next_observation = self._next_id("observations")
        self._next_ply = self._next_id("plies")
        self._next_player = self._next_id("players")
        self._players: dict[tuple[str, str], int] = {}
        self._knows_all = self._next_player == 1  # the players of an archive that had none are those of ours

    def _next_id(self, table: str) -> int:
        (last,) = self._driver.execute(f"SELECT max(id) FROM {table}").fetchone()
        return max(int(last or 0), 0) + 1  # rows below 0 are of games in progress

    def add(self, games: Sequence[Game]) -> None:
        """With all their observations; ``flush`` gives them the keys that they have then."""
        batches = self._batches
        if len(self._players) > KNOWN_PLAYERS:
            self.flush()
            self._players.clear()
            self._knows_all = False
        if not self._knows_all:
            self._learn_players(games)
        for game in games:
            self._add(game, self._next_game)
            self._next_game += 1
            if (
                len(self._ply_values) >= BATCH_VALUES
                or len(batches["events"]) + len(batches["thinking"]) >= BATCH_EVENTS
            ):
                self.flush()

    def _add(self, game: Game, game_id: int) -> None:
        """The row number of a game in progress is below 0."""
        batches = self._batches
        white, black = self._player(game.server, game.white), self._player(game.server, game.black)
        batches["games"].append(game_row(game, game_id, white, black, self._source_id))
        self._held.append(game)
        first = self._next_observation
        for seq, observation in enumerate(game.observations):
            row_id = self._next_observation
            self._next_observation += 1
            batches["observations"].append(observation_row(observation, row_id, self._source_id, game_id, seq))
            for name, rows in _rows_of_observation(observation, row_id, self._next_ply):
                batches[name] += rows
            for line in observation.lines:
                plies = (line.rows, observation.started_at_ms or 0, observation.offset)
                if not add_plies(self._ply_values, *plies, timed=self._timed):
                    self._insert_plies()
                    self._timed = True  # until the next flush
                    add_plies(self._ply_values, *plies)
                self._next_ply += len(line.rows)
        batches["segments"] += [
            SEGMENTS.row(part, game_id, seq, first + part.observation) for seq, part in enumerate(game.segments)
        ]

    def touch(self) -> None:
        self.flush()
        if self._first_game < self._next_game:
            numbers = (self._first_game, self._next_game, self._source_id)
            touch(self._driver, "SELECT id FROM games WHERE id >= ? AND id < ? AND source_id = ?", numbers)
            self._first_game = self._next_game

    def flush(self) -> None:
        if not self._held:
            return  # no row is without its game
        for name, rows in self._batches.items():
            if name == "games":
                for game, key in zip(self._held, self._insert_games(rows), strict=True):
                    game.key = key
            else:
                insert_rows(self._driver, _INTO[name], rows)
            rows.clear()
        self._held.clear()
        self._insert_plies()
        self._timed = False

    def _insert_plies(self) -> None:
        insert_plies(self._driver, self._ply_values, self._next_ply, timed=self._timed)
        self._ply_values.clear()

    def _insert_games(self, games: list[Row]) -> list[str]:
        """Games of the archive may have moved on to make keys free; returns the keys."""
        wanted = Counter(row[_KEY] for row in games)
        taken = {key for (key,) in select_in(self._driver, _FIND_KEYS, [(key,) for key in wanted])}
        free = {key: self._make_room(key, count) for key, count in wanted.items() if count > 1 or key in taken}
        keys = [next(free[row[_KEY]]) if row[_KEY] in free else row[_KEY] for row in games]
        rows = [(*row[:_KEY], key, *row[_KEY + 1 :]) for row, key in zip(games, keys, strict=True)] if free else games
        insert_rows(self._driver, _INTO["games"], rows)
        return keys

    def _make_room(self, wanted: str, count: int) -> Iterator[str]:
        """The keys for so many games with one key; games of other sources may have to move up to later successors.

        Games of two sources are two rows: of games with one key, that of the source with the least sha256
        has it and the others have its successors in that order, whichever came first. Journals follow in the order of
        their names: so recorders of one game leave what an import of their journals gives.
        """
        mine = self._driver.execute(_PLACE_OF, (self._source_id,)).fetchone()
        chain: list[tuple[int, str]] = []
        first, key = 0, wanted
        while row := self._driver.execute(_FIND_KEY, (key,)).fetchone():
            chain.append((row[0], key))
            if first == len(chain) - 1 and row[1:] <= mine:
                first = len(chain)
            key = successor(wanted, len(chain) + 1)
        keys: dict[str, str] = {}
        for index in range(len(chain) - 1, first - 1, -1):
            game_id, its = chain[index]
            keys[its] = successor(wanted, index + count + 1)
            self._driver.execute("UPDATE games SET key = ? WHERE id = ?", (keys[its], game_id))
            touch(self._driver, "VALUES (?)", (game_id,))
        if keys:
            _rename(self._driver, keys)
        return (successor(wanted, index) if index > 1 else wanted for index in range(first + 1, first + count + 1))

    def _learn_players(self, games: Sequence[Game]) -> None:
        wanted = {
            (game.server or "", fold(player.handle)) for game in games for player in (game.white, game.black)
        } - self._players.keys()
        for server, folded, number in select_in(self._driver, _FIND_PLAYERS, wanted):
            self._players[server, folded] = number

    def _player(self, server: str | None, player: Player) -> int:
        """``server`` None: unknown, which is a server of its own."""
        return self._player_at((server or "", fold(player.handle)), player.handle)

    def _player_at(self, key: tuple[str, str], handle: str) -> int:
        """The first spelling is kept."""
        number = self._players.get(key)
        if number is None:
            number = self._players[key] = self._next_player
            self._next_player += 1
            self._batches["players"].append((number, key[0], handle, key[1]))
        return number


def _rows_of_observation(observation: Observation, row_id: int, ply_id: int) -> Iterator[tuple[str, list[Row]]]:
    """But for its plies, as (table, rows), parents first."""
    base = observation.started_at_ms or 0
    for line in observation.lines:
        count = len(line.rows)
        yield "ply_lines", [PLY_LINES.row(line, row_id, ply_id, count)]
        ply_id += count
    yield "anchors", [ANCHORS.row(anchor, row_id, seq) for seq, anchor in enumerate(observation.anchors)]
    yield "holdings", [HOLDINGS.row(change, row_id, base_ms=base) for change in observation.holdings]
    yield "events", [EVENTS.row(event, row_id, base_ms=base) for event in observation.events]
    if observation.thinking:
        yield "thinking", [THINKING.row(thought, row_id, base_ms=base) for thought in observation.thinking]
