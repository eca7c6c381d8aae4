"""The columnar copy of an archive: the tables ``games`` and ``plies`` as Parquet files, which DuckDB reads.

It is a folder beside the archive, ``games.sqlite-columns``, or in the platform's folder for caches where that cannot be
written. It is made when a table of many games is first asked for, never a source of truth, and can be deleted at any
time. Later the games that are new or have changed are added: the row of a game in ``games`` names the file (``part``)
that has its plies, so that rows of games that are gone or have changed are not found any more. Small files are joined.
Files are never changed: readers need no locks, and writers, which wait for each other, replace ``manifest.json`` last.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from exporters.tables.filling import add_games, add_plies, in_pieces, make_table
from recorder.progress import Progress
from storage.columnar import copy_folder
from storage.schema.upgrade import HEAD

if TYPE_CHECKING:
    from storage.read.columns import ColumnReader

_VERSION: Final = 2
_PART_PLIES: Final = 120_000
_MEMORY_PLIES: Final = 100_000
_OPTIONS: Final = "FORMAT parquet, COMPRESSION snappy, PARQUET_VERSION V2"
_MOST_SMALL: Final = 8
_MANIFEST: Final = "manifest.json"


class _Manifest(NamedTuple):
    """What a copy consists of.

    Attributes:
        made_by: what must be equal. content: the version of the archive's content, if that is known.
        games: the file of games. parts: number → file of plies, and how many rows it has.
    """

    made_by: list[Any]
    content: str | None
    games: str
    parts: dict[int, tuple[str, int]]


class ColumnarCopy:
    """The copy of an archive, there or not.

    Args:
        path: of the archive.
    """

    def __init__(self, path: Path) -> None:
        self.folder = copy_folder(path)
        self._now: ColumnReader | None = None

    def read(self, connection: Any, reader: ColumnReader, progress: Progress, *, make: bool) -> bool:
        """Make the views ``games`` and ``plies`` of the copy as the archive is now.

        Args:
            connection: of DuckDB. reader: of the archive. progress: called with plies done, and all.
            make: make the copy if it is not there, or games are missing.
        Returns:
            Whether it could: otherwise there is no copy of the archive as it is.
        """
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
        """Wait until no other process writes the copy."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("w") as lock:
            with suppress(ImportError):
                import fcntl

                fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _update(self, connection: Any, reader: ColumnReader, progress: Progress, content: str | None) -> _Manifest:
        """Add what is missing; readers see the old copy until its end."""
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
            add_games(connection, "new_games", reader, run, part=number)
            statement = f"COPY ({{}}) TO '{_quoted(self.folder / name)}' ({_OPTIONS})"
            if rows := add_plies(connection, statement, reader, [row_id for row_id, _ in run], part=number):
                parts[number] = (name, rows)
            done += sum(plies for _, plies in run)
            progress("Preparing the tables of moves", done, total)
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
        """How many plies the copy lacks."""
        import duckdb

        manifest = self._manifest()
        try:
            missing = self._missing(connection, reader, manifest)
        except duckdb.Error:
            missing = self._missing(connection, reader, None)
        return sum(plies for _, plies in missing)

    def _missing(self, connection: Any, reader: ColumnReader, old: _Manifest | None) -> list[tuple[int, int]]:
        """Row number and number of plies of the games that are new or changed; ``now`` has those of the archive."""
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
        """Join small files of plies to one, without rows that no game has any more; return the SELECT of games."""
        counts = connection.execute(f"SELECT part, sum(plies) FROM ({games}) GROUP BY part").fetchall()
        living = {part: int(plies) for part, plies in counts}
        for number in parts.keys() - {number for number, plies in living.items() if plies}:
            del parts[number]
        stale = [number for number, (_, rows) in parts.items() if 2 * living[number] < rows]
        small = [number for number, (_, rows) in parts.items() if number in stale or rows < _PART_PLIES // 4]
        if len(small) < _MOST_SMALL and not stale:
            return games
        listed = ", ".join(f"'{_quoted(self.folder / parts[number][0])}'" for number in small)
        number = max(parts) + 1
        name = f"plies-{token}-{number}.parquet"
        connection.execute(
            f"COPY (SELECT p.* REPLACE ({number}::INTEGER AS part) FROM read_parquet([{listed}]) p"
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
        """Write the manifest, and delete files that neither it nor the one before names."""
        path = self.folder / _MANIFEST
        new = path.with_suffix(".part")
        new.write_text(json.dumps(manifest._asdict()), encoding="utf-8")
        new.replace(path)
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
    """Make the tables ``games`` and, if they are wanted, ``plies`` of some games in memory."""
    for name in ("games", "plies"):
        make_table(connection, name, name)
    for run in in_pieces(games, _MEMORY_PLIES):
        add_games(connection, "games", reader, run)
        if plies:
            add_plies(connection, "INSERT INTO plies {}", reader, [row_id for row_id, _ in run])


def _view(connection: Any, name: str, paths: Sequence[str]) -> None:
    if not paths:
        make_table(connection, name, name)
        return
    listed = ", ".join(f"'{_quoted(Path(path))}'" for path in paths)
    connection.execute(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet([{listed}])")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
