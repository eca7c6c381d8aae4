"""The tables of chosen games in DuckDB: of an archive through its columnar copy, or of few games in memory.

The copy is the tables ``games`` and ``plies`` as Parquet files beside the archive; what is new or changed is added.

The problem. A measure over many games reads a few columns of all their plies. The archive has rows, and other programs
write to it meanwhile: reading them takes long. Files of columns are read in a moment, but they are a copy, and a copy
may be out of date.

The copy is a folder beside the archive, or in the platform's folder for caches where that cannot be written::

    games.sqlite-columns/
        manifest.json             {"made_by": …, "content": "…", "games": "games-5e1f….parquet", "parts": {"1": …}}
        games-5e1f….parquet       one row a game: columns, ``stamp`` (all of which the row depends on), ``part``
        plies-5e1f…-1.parquet     the plies of the games with part 1; rows without such a game are not found
        lock                      held by the process that writes

It is never a source of truth: it is made when a table of many games is first asked for, and can be deleted at any
time.

Is it up to date? If the archive's content version is the one in the manifest, yes, which costs one query. Otherwise
the stamps of all games are compared: games with the same number and stamp stay, all others are written into new files.
A copy that another version or schema has made, or with a missing file, is made from the beginning.

What must never happen: a reader sees half a copy. Files are never changed: a writer adds files, replaces
``manifest.json`` last, and deletes only files that neither the new manifest nor the one before names, because a reader
may still use those. Readers need no locks; writers wait for each other. A damaged file, or no room, costs the copy and
never the answer: tables are then made in memory.

Rows of games that are gone stay in their files until half of a file is unused, or there are many small files: then
these are joined to one.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from exporters.measures.source import Plies, among
from exporters.tables.columns import ALL_PLY_COLUMNS, GAME_COLUMNS, MATCH_COLUMNS, PLY_COLUMNS, SIDE_COLUMNS
from exporters.tables.filling import add_games, in_pieces, make_table
from exporters.tables.sql import of_games, of_plies, of_sides, selected
from recorder.errors import StorageError
from recorder.progress import Progress, no_progress
from storage.dataset.files import listed
from storage.dataset.reading import DatasetReader, DatasetStore
from storage.files import place_beside
from storage.read.store import ALL_PLAYED, new_database
from storage.schema.upgrade import HEAD

if TYPE_CHECKING:
    import pandas as pd

    from recorder.model import Game
    from storage import GameFilter, GameStore
    from storage.read.columns import ColumnReader

_VERSION: Final = 3
_PART_PLIES: Final = 120_000
_MEMORY_PLIES: Final = 100_000
_OPTIONS: Final = "FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2, DICTIONARY_SIZE_LIMIT 1000"
_MOST_SMALL: Final = 8
_MANIFEST: Final = "manifest.json"


class _Manifest(NamedTuple):
    """``made_by`` must be equal; ``content``: the archive's version, if known; ``parts``: files of plies and rows."""

    made_by: list[Any]
    content: str | None
    games: str
    parts: dict[int, tuple[str, int]]


class ColumnarCopy:
    def __init__(self, path: Path) -> None:
        self.folder = place_beside(path, "columns")
        self._now: ColumnReader | None = None

    def read(self, connection: Any, reader: ColumnReader, progress: Progress, *, make: bool) -> bool:
        """As the archive is now; False: there is no such copy. ``make`` makes it, or adds games that are missing."""
        # If the content version is not known, the stamps of all games are compared each time.
        content = reader.content_version()
        manifest = self._manifest()
        if manifest is None or content is None or manifest.content != content:
            if not make:
                return False
            try:
                with self._locked():
                    manifest = self._update(connection, reader, progress, content)
            except OSError:
                return False  # no room, or no right to write
        _view(connection, "games", [str(self.folder / manifest.games)])
        _view(connection, "plies", [str(self.folder / name) for name, _ in manifest.parts.values()])
        return True

    def _manifest(self) -> _Manifest | None:
        try:
            found = json.loads((self.folder / _MANIFEST).read_text(encoding="utf-8"))
            parts = {int(number): (str(name), int(rows)) for number, (name, rows) in found["parts"].items()}
            manifest = _Manifest(found["made_by"], found["content"], found["games"], parts)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        there = all((self.folder / name).is_file() for name in (manifest.games, *(name for name, _ in parts.values())))
        return manifest if manifest.made_by == _made_by() and there else None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("w") as lock:
            with suppress(ImportError):
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _update(self, connection: Any, reader: ColumnReader, progress: Progress, content: str | None) -> _Manifest:
        """Readers see the old copy until its end."""
        import duckdb

        old = self._manifest()  # another process may have done it meanwhile
        if old is not None and content is not None and old.content == content:
            return old
        try:
            return self._updated(connection, reader, progress, content, old)
        except duckdb.Error:
            if old is None:
                raise
            return self._updated(connection, reader, progress, content, None)  # a file is damaged

    def _updated(
        self, connection: Any, reader: ColumnReader, progress: Progress, content: str | None, old: _Manifest | None
    ) -> _Manifest:
        missing = self._missing(connection, reader, old)
        total, done = sum(plies for _, plies in missing), 0
        token = secrets.token_hex(4)
        parts = {} if old is None else dict(old.parts)
        number = max(parts, default=0)
        make_table(connection, "new_games", "games")
        for run in in_pieces(missing, _PART_PLIES):
            number += 1
            name = f"plies-{token}-{number}.parquet"
            statement = f"COPY ({{}}) TO '{_quoted(self.folder / name)}' ({_OPTIONS})"
            if rows := add_games(connection, "new_games", statement, reader, run, part=number):
                parts[number] = (name, rows)
            done += sum(plies for _, plies in run)
            progress("Preparing the tables of moves", done, total)
        # Games with equal stamps are taken over from the old file; those that are gone or changed do not match ``now``.
        source = "SELECT g.*, n.stamp FROM new_games g JOIN now n USING (id)"
        if old is not None:
            kept = f"read_parquet('{_quoted(self.folder / old.games)}') g SEMI JOIN now USING (id, stamp)"
            source = f"SELECT g.* FROM {kept} UNION ALL BY NAME {source}"
        games = self._join_small(connection, source, parts, token)
        name = f"games-{token}.parquet"
        connection.execute(
            f"COPY (SELECT * FROM ({games}) ORDER BY id) TO '{_quoted(self.folder / name)}' ({_OPTIONS})"
        )
        manifest = _Manifest(_made_by(), content, name, parts)
        self._replace(manifest, old)
        return manifest

    def behind(self, connection: Any, reader: ColumnReader) -> int:
        import duckdb

        manifest = self._manifest()
        try:
            missing = self._missing(connection, reader, manifest)
        except duckdb.Error:
            missing = self._missing(connection, reader, None)
        return sum(plies for _, plies in missing)

    def _missing(self, connection: Any, reader: ColumnReader, old: _Manifest | None) -> list[tuple[int, int]]:
        """Row number and number of plies; ``now`` has the games of the archive."""
        if self._now is not reader:
            rows = reader.stamps()
            ids, plies, stamps = zip(*rows, strict=True) if rows else ((), (), ())
            arrays = {
                "id": np.array(ids, dtype=np.int64),
                "plies": np.array(plies, dtype=np.int64),
                "stamp": np.array(stamps, dtype=object),
            }
            connection.execute(
                "CREATE OR REPLACE TABLE now AS SELECT id, plies, md5_number_lower(stamp::VARCHAR) AS stamp FROM arrays"
            )
            del arrays
            self._now = reader
        known = "" if old is None else f"ANTI JOIN read_parquet('{_quoted(self.folder / old.games)}') USING (id, stamp)"
        found: list[tuple[int, int]] = connection.execute(f"SELECT id, plies FROM now {known} ORDER BY id").fetchall()
        return found

    def _join_small(self, connection: Any, games: str, parts: dict[int, tuple[str, int]], token: str) -> str:
        """Without rows that no game has any more; the SELECT of games."""
        # Of each file of plies: how many of its rows still belong to a game? Without any it is dropped.
        counts = connection.execute(f"SELECT part, sum(plies) FROM ({games}) GROUP BY part").fetchall()
        living = {part: int(plies) for part, plies in counts}
        for number in parts.keys() - {number for number, plies in living.items() if plies}:
            del parts[number]
        stale = [number for number, (_, rows) in parts.items() if 2 * living[number] < rows]
        small = [number for number, (_, rows) in parts.items() if number in stale or rows < _PART_PLIES // 4]
        if len(small) < _MOST_SMALL and not stale:
            return games
        files = listed([str(self.folder / parts[number][0]) for number in small])
        number = max(parts) + 1
        name = f"plies-{token}-{number}.parquet"
        connection.execute(
            f"COPY (SELECT p.* REPLACE ({number}::INTEGER AS part) FROM read_parquet({files}) p"
            f" SEMI JOIN ({games}) g ON g.id = p.game AND g.part = p.part)"
            f" TO '{_quoted(self.folder / name)}' ({_OPTIONS})"
        )
        count = "SELECT count(*) FROM read_parquet(?)"
        ((rows,),) = connection.execute(count, [str(self.folder / name)]).fetchall()
        for one in small:
            del parts[one]
        parts[number] = (name, rows)
        moved = ", ".join(map(str, small))
        return f"SELECT * REPLACE (CASE WHEN part IN ({moved}) THEN {number} ELSE part END AS part) FROM ({games})"

    def _replace(self, manifest: _Manifest, old: _Manifest | None) -> None:
        """And delete files that neither it nor the one before names."""
        path = self.folder / _MANIFEST
        new = path.with_suffix(".part")
        new.write_text(json.dumps(manifest._asdict()), encoding="utf-8")
        new.replace(path)
        # A reader may have read the manifest before this one and not yet opened its files: those stay one time more.
        used = {_MANIFEST, "lock"}
        for one in (manifest, old):
            if one is not None:
                used |= {one.games, *(name for name, _ in one.parts.values())}
        for file in self.folder.iterdir():
            if file.name not in used:
                file.unlink(missing_ok=True)


def _made_by() -> list[Any]:
    return [_VERSION, version("ics-recorder"), HEAD]


def fill(connection: Any, reader: ColumnReader, games: Sequence[tuple[int, int]], *, plies: bool = True) -> None:
    for name in ("games", "plies"):
        make_table(connection, name, name)
    for run in in_pieces(games, _MEMORY_PLIES):
        add_games(connection, "games", "INSERT INTO plies {}" if plies else None, reader, run)


def _view(connection: Any, name: str, paths: Sequence[str]) -> None:
    if not paths:
        make_table(connection, name, name)
        return
    connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet({listed(paths)})")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


_FEW_PLIES: Final = 50_000
"""In this time a copy is opened: for fewer none is made."""
_OF_BOARDS: Final = ("material", "fen")
_MATCH_COLUMNS: Final = tuple(column.name for column in MATCH_COLUMNS)


class _Shape(NamedTuple):
    """How tables are stored.

    Attributes:
        games: name of the table of games. plies: what follows the columns in a SELECT of plies; ``{}``: the games.
        texts: columns of plies that are stored in another way than an archive's copy has them.
        match: what differs in each match.
    """

    games: str
    plies: str
    texts: Mapping[str, str]
    match: str


_OF_ARCHIVE: Final = _Shape(
    "games",
    "FROM plies p JOIN {} g ON g.id = p.game AND g.part = p.part",
    {name: f"m.{name}" for name in _MATCH_COLUMNS},
    "m.match",
)
_OF_DATASET: Final = _Shape(
    "game_rows",
    "FROM plies p JOIN {} g ON g.source = p.source AND g.key = p.key",
    {name: f"p.{name}" for name in ("uci", "white_clock_ms", "black_clock_ms", *_MATCH_COLUMNS)},
    "p.source, p.match",
)


class GamesTables:
    """``games`` are row number and number of plies of each, in the archive's order."""

    def __init__(
        self,
        connection: Any,
        reader: ColumnReader | DatasetReader,
        games: Sequence[tuple[int, int]],
        matches: pd.DataFrame | None = None,
    ) -> None:
        self.connection = connection
        self.reader = reader
        self.games = games
        self._shape = _OF_DATASET if isinstance(reader, DatasetReader) else _OF_ARCHIVE
        self._plies = self._shape.plies
        if matches is not None:
            connection.register("match_rows", matches)
            connection.execute("CREATE TABLE matches AS SELECT * FROM match_rows")
            self._plies += " LEFT JOIN matches m ON m.key = g.key AND m.ply = p.ply"
        self.choose(games)

    def choose(self, games: Sequence[tuple[int, int]]) -> None:
        """The view ``chosen`` has them, with their ``place``."""
        ids = np.array([row_id for row_id, _ in games], dtype=np.int64)
        arrays = {"id": ids, "place": np.arange(len(ids), dtype=np.int64)}
        self.connection.execute("CREATE OR REPLACE TABLE wanted AS SELECT * FROM arrays")
        self.connection.execute(
            f"CREATE OR REPLACE VIEW chosen AS SELECT w.place, g.* FROM wanted w JOIN {self._shape.games} g USING (id)"
        )
        del arrays

    def plies(self, extra: Collection[str] = ()) -> Plies:
        texts = {**self._texts(extra), "game_id": "g.id", "place": "g.place"}
        select = f"SELECT {selected(texts)} {self._plies.format('chosen')}"
        return Plies(frozenset(texts), select, self.connection.sql, connection=self.connection)

    def _texts(self, names: Collection[str]) -> dict[str, str]:
        texts = of_plies(names) | {name: name for name in _MATCH_COLUMNS if name in names}
        return texts | {name: text for name, text in self._shape.texts.items() if name in texts}

    def dates(self) -> str:
        """The first and the last; empty if none is known."""
        ((first, last),) = self.connection.execute("SELECT min(day), max(day) FROM chosen").fetchall()
        return "" if first is None else first if first == last else f"{first} to {last}"

    def ply_frame(self, extra: Collection[str] = ()) -> pd.DataFrame:
        return self._ply_frame(self.games, extra)

    def _ply_frame(
        self, games: Sequence[tuple[int, int]], extra: Collection[str], *, of_matches: bool = False
    ) -> pd.DataFrame:
        from exporters.tables.frames import encode_games, frame_of, list_column

        columns = [one for one in ALL_PLY_COLUMNS if one in PLY_COLUMNS or one.name in extra]
        encode_games(self.connection, columns)
        stored = [one for one in columns if one.name not in _OF_BOARDS]
        texts = self._texts([one.name for one in stored])
        texts = {one.name: texts[one.name] for one in stored} | {"place": "g.place"}
        order = "place << 32 | ply"
        if of_matches:
            texts["place"], order = f"min(g.place) OVER (PARTITION BY {self._shape.match})", "place << 32 | moment"
        select = f"SELECT {selected(texts)} {self._plies.format('encoded')}"
        select += f" WHERE {texts['match']} IS NOT NULL" if of_matches else ""
        frame = frame_of(self.connection, stored, select, order)
        if len(stored) == len(columns):
            return frame
        if isinstance(self.reader, DatasetReader):  # it has no castling rights
            wanted = " or ".join(one.name for one in columns if one not in stored)
            raise StorageError(f"A data set has no column {wanted}: read the plies of an archive.")
        found = _of_boards(self.reader.games([row_id for row_id, _ in games]))  # boards are in no copy
        for index, column in enumerate(columns):
            if column not in stored:
                frame.insert(index, column.name, list_column(column, found[column.name]))
        return frame

    def match_frame(self) -> pd.DataFrame:
        """``MATCH_COLUMNS`` first: one match after the other, in the order of play."""
        return self._ply_frame(self.games, _MATCH_COLUMNS, of_matches=True)

    def batches(self, rows: int, extra: Collection[str] = ()) -> Iterator[pd.DataFrame]:
        """In runs of at most so many rows and at least one game."""
        for run in in_pieces(self.games, rows):
            self.choose(run)
            yield self._ply_frame(run, extra)

    def plies_of(self, games: Sequence[tuple[int, int]]) -> str:
        """What follows the columns in a SELECT of their plies, in their order."""
        self.choose(games)
        return f"{self._plies.format('chosen')} ORDER BY g.place, p.ply"

    def side_frame(self) -> pd.DataFrame:
        from exporters.tables.frames import encode_games, frame_of

        encode_games(self.connection, SIDE_COLUMNS)
        sides = " UNION ALL ".join(
            f"SELECT {selected(of_sides(white))}, g.place, {1 - white} AS black FROM encoded g"
            for white in (True, False)
        )
        return frame_of(self.connection, SIDE_COLUMNS, sides, "place << 1 | black")

    def side_rows(self, player: str | None = None) -> list[dict[str, Any]]:
        """In the order of the games; an instant is milliseconds since 1970."""
        sides = " UNION ALL ".join(
            f"SELECT {selected(of_sides(white))}, g.place FROM chosen g" for white in (True, False)
        )
        where = "" if player is None else "WHERE lower(player) = ?"
        select = f"SELECT * REPLACE (side::VARCHAR AS side) FROM ({sides}) {where} ORDER BY place, side DESC"
        return list(self._rows(select, [] if player is None else [player.lower()]))

    def game_rows(self) -> Iterator[dict[str, Any]]:
        """An instant is milliseconds since 1970."""
        return self._rows(f"SELECT {selected(of_games())}, g.place FROM chosen g ORDER BY g.place", [])

    def query_games(self, statement: str, in_progress: Collection[str] = ()) -> list[dict[str, Any]]:
        """With ``place``, and the ending of those in progress."""
        games = f"SELECT {selected(of_games())}, g.place FROM chosen g"
        if in_progress:
            ending = f"CASE WHEN {among('key', in_progress)} THEN 'in-progress' ELSE ending END"
            games = f"SELECT * REPLACE ({ending} AS ending) FROM ({games})"
        found = self.connection.execute(f"WITH games AS ({games}) {statement}")
        names = [name for name, *_ in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]

    def _rows(self, select: str, values: list[Any]) -> Iterator[dict[str, Any]]:
        found = self.connection.cursor()
        found.execute(f"SELECT * EXCLUDE (place) REPLACE (epoch_ms(started_at) AS started_at) FROM ({select})", values)
        names = [name for name, *_ in found.description]
        while rows := found.fetchmany(1000):
            for row in rows:
                yield dict(zip(names, row, strict=True))

    def game_frame(self) -> pd.DataFrame:
        from exporters.tables.frames import encode_games, frame_of

        encode_games(self.connection, GAME_COLUMNS)
        select = f"SELECT {selected(of_games())}, g.place FROM encoded g"
        return frame_of(self.connection, GAME_COLUMNS, select, "place")


@contextmanager
def open_tables(
    store: GameStore,
    where: GameFilter | None = None,
    *,
    games: Sequence[tuple[int, int]] | None = None,
    arrow: bool = True,
    plies: bool = True,
    matches: pd.DataFrame | None = None,
    progress: Progress = no_progress,
) -> Iterator[GamesTables]:
    """All of one moment; ``games``: row number and number of plies each. ``matches``: key, ply, ``MATCH_COLUMNS``."""
    if plies and isinstance(store, DatasetStore):
        store.require_plies()
    with ExitStack() as stack, new_database() as connection:
        reader = cast("ColumnReader | DatasetReader", stack.enter_context(store.columns(arrow=False)))
        chosen = reader.games_of(where or ALL_PLAYED) if games is None else games
        if isinstance(reader, DatasetReader):
            reader.want([row_id for row_id, _ in chosen], plies=plies)
            yield GamesTables(reader.connection, reader, chosen, matches)
            return
        path: Path | None = getattr(store, "path", None)
        copy = None if path is None or (where is not None and where.per_source) else ColumnarCopy(path)
        few = not plies or sum(count for _, count in chosen) <= _FEW_PLIES
        if copy is None or not copy.read(connection, reader, progress, make=False):
            lacks = arrow and not few and (copy is None or copy.behind(connection, reader) > _FEW_PLIES)
            if lacks:  # loading Arrow takes as long as reading some thousand games without it
                stack.close()
                reader = cast("ColumnReader", stack.enter_context(store.columns(arrow=True)))
                chosen = reader.games_of(where or ALL_PLAYED) if games is None else games
            if few or copy is None or not copy.read(connection, reader, progress, make=True):
                fill(connection, reader, chosen, plies=plies)
        yield GamesTables(connection, reader, chosen, matches)


def _of_boards(games: Iterable[Game]) -> dict[str, list[Any]]:
    """Of each ply; None: its board is not known."""
    from exporters.holdings import plies_with_holdings
    from recorder.model.boards import boards_by_ply, fen_after, is_played_here, material

    found: dict[str, list[Any]] = {"material": [], "fen": []}
    for game in games:
        boards = boards_by_ply(game) if is_played_here(game.variant) else {}
        for ply, hands in plies_with_holdings(game):
            board = boards.get(ply.ply)
            found["material"].append(None if board is None else material(board))
            found["fen"].append(None if board is None else fen_after(board, ply, *hands))
    return found
