"""What another process read of a source, moved into the archive: rows keep their order and get new numbers.

A shard is a database of sources that were read as into an empty archive, each in a transaction of its own. Moving
their rows takes a twelfth of the time that reading them took. The archive is afterwards what reading the sources here
would have made of it, row by row.
"""

from __future__ import annotations

import shutil
import sqlite3
from functools import cached_property
from typing import TYPE_CHECKING, Final

from storage.mapping import COLUMNS
from storage.schema import tables
from storage.schema import upgrade as schema
from storage.write.games import successors_among
from storage.write.rows import insert_rows

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Table

    from storage.mapping import Row

__all__ = ["Shard", "create_shard"]

_READ: Final = (
    "timing",
    "server",
    "dialect",
    "me",
    "time_basis",
    "read_up_to",
    "restart_state",
    "kept_bytes",
    "line_count",
    "warnings",
)
"""Columns of a source that are known when it was read."""
_OF_SOURCE: Final = (tables.source_chunks, tables.source_counts, tables.source_shapes, tables.anomalies)
_OF_OBSERVATIONS: Final = (tables.ply_lines, tables.anchors, tables.holdings, tables.events, tables.thinking)
_GAMES: Final = "SELECT {what} FROM shard.games WHERE source_id = :source"
_OBSERVATIONS: Final = "SELECT {what} FROM shard.observations WHERE source_id = :source"
_LINES: Final = "SELECT {what} FROM shard.ply_lines WHERE observation_id IN (" + _OBSERVATIONS.format(what="id") + ")"


_ROWS: Final = 2048


def create_shard(path: Path) -> None:
    """Make an empty shard: a copy, since to make the tables takes longer than to read a small log.

    Args:
        path: of the new file, in a folder that has nothing but shards.
    """
    template = path.with_name("empty")
    if not template.exists():
        made = path.with_name(f"{path.name}.empty")
        schema.create(made)
        with sqlite3.connect(made) as driver:
            driver.execute("PRAGMA journal_mode=DELETE")
        driver.close()
        made.rename(template)
    shutil.copyfile(template, path)


class Shard:
    """One source of a shard, beside the archive.

    Args:
        driver: of the archive, in a transaction.
        path: of the shard.
        sha256: of the source.
        apart: read it by a connection of its own. Else it stays attached for the rest of the transaction, to which only
            ten can be; then its rows are moved in a fifth of the time.
    """

    def __init__(self, driver: sqlite3.Connection, path: Path, sha256: str, *, apart: bool = False) -> None:
        self._archive = driver
        self._driver = sqlite3.connect(":memory:") if apart else driver
        self._driver.execute("ATTACH ? AS shard", (str(path),))
        (self._source,) = self._driver.execute("SELECT id FROM shard.sources WHERE sha256 = ?", (sha256,)).fetchone()

    def close(self) -> None:
        """Release the file of a shard that is read apart."""
        self._driver.close()

    @cached_property
    def wanted(self) -> dict[str, str]:
        """For games of the shard whose key is the successor of another key: the key that they would have alone."""
        keys = {key for (key,) in self._driver.execute("SELECT key FROM shard.games")}
        return {key: wanted for wanted, chain in successors_among(keys).items() for key in chain}

    def players(self) -> dict[int, tuple[str, str]]:
        """Server and folded handle of the source's players, by their row number in the shard."""
        sides = " UNION ".join(_GAMES.format(what=f"{side}_id") for side in ("white", "black"))
        rows = self._driver.execute(
            f"SELECT id, server, handle_folded FROM shard.players WHERE id IN ({sides})", {"source": self._source}
        )
        return {number: (server, folded) for number, server, folded in rows}

    def games(self) -> list[Row]:
        """Rows of the source's games with all columns, as they are in the shard, in their order."""
        columns = ", ".join(f'"{name}"' for name in COLUMNS["games"])
        return self._driver.execute(_GAMES.format(what=columns) + " ORDER BY id", {"source": self._source}).fetchall()

    def move_source(self, source_id: int) -> None:
        """Move the source's bytes and what was found in it besides games.

        Args:
            source_id: its row number in the archive.
        """
        names = ", ".join(_READ)
        self._driver.execute(
            f"UPDATE main.sources SET ({names}) = (SELECT {names} FROM shard.sources WHERE id = ?) WHERE id = ?",
            (self._source, source_id),
        )
        for table in _OF_SOURCE:
            self._move(table, {"source_id": str(source_id)}, "source_id = :source")

    def move_games(self, source_id: int, game_id: int, observation_id: int, ply_id: int) -> None:
        """Move what belongs to the source's games, but not their own rows.

        Args:
            source_id: the source's row number in the archive.
            game_id, observation_id, ply_id: the row numbers that the first game, observation and ply get.
        """
        game = self._moved("game_id", game_id, _GAMES.format(what="min(id)"))
        observation = self._moved("observation_id", observation_id, _OBSERVATIONS.format(what="min(id)"))
        ply = self._moved("first_ply_id", ply_id, _LINES.format(what="min(first_ply_id)"))
        number = observation.replace("observation_id", "id")
        self._move(
            tables.observations, {"id": number, "source_id": str(source_id), "game_id": game}, "source_id = :source"
        )
        of_source = f"observation_id IN ({_OBSERVATIONS.format(what='id')})"
        for table in _OF_OBSERVATIONS:
            self._move(table, {"observation_id": observation, "first_ply_id": ply}, of_source)
        first, end = self._driver.execute(
            _LINES.format(what="min(first_ply_id), max(first_ply_id + ply_count)"), {"source": self._source}
        ).fetchone()
        if first is not None:
            number = ply.replace("first_ply_id", "id")
            self._move(tables.plies, {"id": number}, f"id >= {first} AND id < {end}")
        of_games = f"game_id IN ({_GAMES.format(what='id')})"
        self._move(tables.segments, {"game_id": game, "observation_id": observation}, of_games)

    def _moved(self, column: str, first: int, query: str) -> str:
        """An expression for a row number in the archive.

        Args:
            column: of the row number in the shard. first: what the smallest of them becomes. query: for that one.
        """
        (was,) = self._driver.execute(query, {"source": self._source}).fetchone()
        return f"{column} + {first - (was or 0)}"

    def _move(self, table: Table, changed: dict[str, str], where: str) -> None:
        """Copy rows in the order of their keys.

        Args:
            changed: expressions for columns that get other values. where: which rows.
        """
        names = [column.name for column in table.c]
        into = ", ".join(f'"{name}"' for name in names)
        what = ", ".join(changed.get(name, f'"{name}"') for name in names)
        order = ", ".join(f'"{column.name}"' for column in table.primary_key)
        select = f"SELECT {what} FROM shard.{table.name} WHERE {where} ORDER BY {order}"
        insert = f"INSERT OR FAIL INTO main.{table.name} ({into}) "
        if self._driver is self._archive:
            self._driver.execute(f"{insert}{select}", {"source": self._source})
            return
        rows = self._driver.execute(select, {"source": self._source})
        while some := rows.fetchmany(_ROWS):
            insert_rows(self._archive, f"{insert}VALUES ", some)
