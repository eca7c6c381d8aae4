"""Games and tables of a store: what ``recorder.Archive``, ``Dataset`` and ``Tables`` share, and the latter two."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from exporters.selection import Filters, make_filter, takes_filters
from recorder.archive.exporting import count_excluded, no_value, require_variants
from recorder.errors import ExportError
from recorder.files import Closing
from recorder.text import byte_size, plural
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    import pandas as pd
    from duckdb import DuckDBPyRelation

    from exporters.tables.tables import GamesTables
    from recorder.model import Game
    from storage import GameFilter, GameStore


class GameTables(Closing):
    """Reads games and tables."""

    def __init__(self, store: GameStore, *, arrow: bool) -> None:
        self._store = store
        self._arrow = arrow

    def _filter(self, filters: Filters) -> GameFilter:
        """The archive's filter, with known variants only; warns of a name that no game has."""
        where = make_filter(filters)
        require_variants(self._store, where)
        if sentence := no_value(self._store, where):
            warnings.warn(sentence, stacklevel=3)  # the caller of a public method
        if where.position is None:
            return where
        from recorder.archive.positions import with_position  # it loads the rules

        return with_position(self._store, where)

    def _tables(
        self, where: GameFilter, *, plies: bool = True, extra: Collection[str] = ()
    ) -> AbstractContextManager[GamesTables]:
        from exporters.tables.columns import MATCH_COLUMNS
        from exporters.tables.tables import open_tables  # it loads NumPy

        matches = None
        asked = not {*extra}.isdisjoint(column.name for column in MATCH_COLUMNS)
        if asked and not isinstance(self._store, DatasetStore):  # a data set has them
            from exporters.tables.matches import match_columns, read_matches

            matches = match_columns(read_matches(self._store, replace(where, variants=frozenset({"bughouse"}))))
        return open_tables(self._store, where, arrow=self._arrow, plies=plies, matches=matches)

    # --- games

    @takes_filters
    def games(self, **filters: Unpack[Filters]) -> Iterator[Game]:
        """Read the games that match, one after another.

        Memory use does not grow with the number of games. All games are read as they are when reading begins.

        Args:
            filters: see ``Filters``; without any, all played games with at least one known move.
        Returns:
            Games in the order of their start, games without a known start last.
        """
        return self._store.games(self._filter(filters))

    def __iter__(self) -> Iterator[Game]:
        """Read the games that ``games()`` returns without filters.

        Yields:
            Played games with at least one known move, in the order of their start.
        """
        return self.games()

    def __len__(self) -> int:
        return self._store.count()

    def __bool__(self) -> bool:
        return True  # also without games: `if archive:` asks whether there is one

    def _repr_html_(self) -> str:
        from recorder.archive.game_views import html_of_games

        return html_of_games(self._store, repr(self))

    def __getitem__(self, key: str) -> Game:
        """Read one game.

        Args:
            key: the first characters of its key. The key that a merged game has in one of its sources finds the merged
                game. ``last`` is the newest played game, ``last~2`` the third newest.
        Returns:
            The game with everything that the archive contains about it.
        Raises:
            StorageError: no game has such a key, or several have (the message lists them).
            TypeError: the key is not text.
        """
        if not isinstance(key, str):
            raise TypeError(f"A game's key is text, as in archive['5b26'], not {type(key).__name__}.")
        return self._store.game(key)

    # --- tables

    @takes_filters
    def plies(
        self, *, extra: Collection[str] = (), as_timedelta: bool = False, **filters: Unpack[Filters]
    ) -> pd.DataFrame:
        """Read the half-moves of the main lines as a table.

        The attribute ``ics`` of the table has the measures as methods: ``archive.plies().ics.time_usage(by="phase")``.
        Its ``attrs`` have ``units``, the numbers of ``games`` and ``plies``, and ``excluded`` games by reason.

        Args:
            extra: further columns: ``material``, ``fen``, ``eco``, ``opening``, ``event``, and of bughouse those of
                ``matches``.
            as_timedelta: times are Timedelta, in columns without the unit (``elapsed`` for ``elapsed_ms``); measures
                need the integers.
            filters: see ``Filters``.
        Returns:
            A row for each half-move, in the order of the games. Times are in milliseconds. On Linux a warning states
            the size of a table that does not fit into the free memory.
        """
        _add_measures()
        _check(extra)
        where = self._filter(filters)
        with self._tables(where, extra=extra) as tables:
            _warn_of_size(sum(plies for _, plies in tables.games), free_bytes())
            return self._described(tables.ply_frame(extra), where, as_timedelta)

    @takes_filters
    def batches(
        self,
        rows: int = 200_000,
        *,
        extra: Collection[str] = (),
        as_timedelta: bool = False,
        **filters: Unpack[Filters],
    ) -> Iterator[pd.DataFrame]:
        """Read the same rows as ``plies`` in pieces, for archives that are larger than memory.

        All pieces show the games as they are when the first one is read. Their categories may differ.

        Args:
            rows: the most rows of a piece, 1 or more. A game is never divided, so one longer game has more.
            extra, as_timedelta, filters: as for ``plies``.
        Yields:
            Tables with the columns of ``plies``.
        """
        _add_measures()
        _check(extra)
        if rows < 1:
            raise ExportError(f"Pieces of {rows} rows are none: give 1 or more.")
        with self._tables(self._filter(filters), extra=extra) as tables:
            for table in tables.batches(rows, extra):
                yield _with_units(table, as_timedelta)

    @takes_filters
    def sides(self, *, as_timedelta: bool = False, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read what each side of each game did, as a table.

        Args:
            as_timedelta, filters: as for ``plies``.
        Returns:
            Two rows for each game, White's first.
        """
        where = self._filter(filters)
        with self._tables(where, plies=False) as tables:
            return self._described(tables.side_frame(), where, as_timedelta)

    @takes_filters
    def game_table(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read the facts of games as a table, without their moves.

        Args:
            filters: see ``Filters``.
        Returns:
            A row for each game.
        """
        where = self._filter(filters)
        with self._tables(where, plies=False) as tables:
            return self._described(tables.game_frame(), where, False)

    @takes_filters
    def events(self, *, as_timedelta: bool = False, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read what happened in games besides moves: offers, takebacks, chat, results and more.

        Args:
            as_timedelta, filters: as for ``plies``.
        Returns:
            A row for each event, in the order of the games.
        """
        from exporters.tables.events import events_of

        where = self._filter(filters)
        return self._described(events_of(self._store, where), where, as_timedelta)

    @takes_filters
    def matches(self, *, as_timedelta: bool = False, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read the half-moves of bughouse matches as a table, both boards on one time line.

        Args:
            as_timedelta, filters: as for ``plies``; a match is included if the filters accept one of its boards.
        Returns:
            A row for each half-move of both boards, in the order of play. Before the columns of ``plies`` are those
            that docs/reference/measures.md lists for matches.
        """
        _add_measures()
        from exporters.tables.matches import open_matches

        where = self._filter(filters)
        with open_matches(self._store, where, arrow=self._arrow) as tables:
            return self._described(tables.match_frame(), where, as_timedelta)

    def _described(self, table: pd.DataFrame, where: GameFilter, as_timedelta: bool) -> pd.DataFrame:
        table = _with_units(table, as_timedelta)
        table.attrs["games"] = int(table["key"].nunique())
        table.attrs |= {"plies": len(table)} if "side" in table and "ply" in table else {}
        table.attrs["excluded"] = count_excluded(self._store, where)
        return table


def _with_units(table: pd.DataFrame, as_timedelta: bool) -> pd.DataFrame:
    from exporters.tables.units import units_of, with_timedeltas

    if as_timedelta:
        table = with_timedeltas(table)
    table.attrs["units"] = units_of(table)
    return table


_BYTES_IN_ROW = 320
_BYTES_TO_READ_ROW = 600


def _warn_of_size(rows: int, free: int | None) -> None:
    if free is not None and rows * _BYTES_TO_READ_ROW > free:
        warnings.warn(
            f"The table of {rows:,} plies has about {byte_size(rows * _BYTES_IN_ROW)}, and reading it takes about "
            f"{byte_size(rows * _BYTES_TO_READ_ROW)} of memory, of which {byte_size(free)} are free: read pieces of it "
            "with batches(), or a data set with recorder.Dataset.",
            stacklevel=3,  # the caller of Archive.plies
        )


def free_bytes() -> int | None:
    """The memory that programs can get, in bytes; None where the operating system does not report it."""
    try:
        words = Path("/proc/meminfo").read_text(encoding="ascii").split()
        return int(words[words.index("MemAvailable:") + 1]) * 1024
    except (OSError, ValueError):
        return None


def _add_measures() -> None:
    """Register ``DataFrame.ics``. Not when this module loads: reading games needs no pandas."""
    import_module("exporters.measures.functions")


def _check(extra: Collection[str]) -> None:
    from exporters.tables.columns import MATCH_COLUMNS, ON_REQUEST

    names = [column.name for column in (*ON_REQUEST, *MATCH_COLUMNS)]
    wrong = [extra] if isinstance(extra, str) else sorted(set(extra) - set(names))
    if wrong:
        raise ExportError(f"There is no list of extra columns {wrong[0]!r}; ask for any of {names}.")


class Dataset(GameTables):
    """The games of a folder that ``ics-recorder convert --dataset`` wrote.

    It has the filters, tables and measures of an archive, except filters by position and the columns ``fen`` and
    ``material``. A game that several sources contain is included once for each of them. DuckDB computes with 300 MB of
    memory, and with temporary files for the rest. Use a data set as a context manager, or call ``close``.

    Args:
        path: the folder (``~`` is the home folder) or its ``s3://`` URL. The data set is read as it is when the object
            is created; Python warns of one that ``make_dataset`` or ``convert`` did not complete.
    Raises:
        StorageError: the folder has no readable data set. Every method can raise it, too.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._dataset = DatasetStore(fspath(path))
        if self._dataset.warning is not None:
            warnings.warn(self._dataset.warning, stacklevel=2)
        super().__init__(self._dataset, arrow=False)

    def __repr__(self) -> str:
        return f"Dataset {self._dataset.where} · {plural(self._dataset.count(), 'game')}"

    def close(self) -> None:
        """Release the files; relations cannot be read afterwards."""
        self._dataset.close()

    @takes_filters
    def relation(self, **filters: Unpack[Filters]) -> DuckDBPyRelation:
        """The half-moves of games as a relation of DuckDB, for SQL and for the functions of ``recorder.measures``.

        Args:
            filters: see ``Filters``.
        Returns:
            A row for each half-move with the columns of ``plies``, those of ``matches`` (missing in other games) and
            ``source``, the SHA-256 of the source, in no order.
        """
        return self._dataset.relation(self._filter(filters))


class Tables(GameTables):
    """The games of all archives that were published in a PostgreSQL database. Needs the extra ``postgres``.

    It has the games, tables and measures of an archive, except filters by position and the columns ``fen`` and
    ``material``. If several archives contain a game with the same key, it is included once. Nothing stays open between
    two calls, and each call reads the database as it is at one moment. ``with`` is not necessary.

    Args:
        url: of the database, ``postgresql://HOST/DATABASE``, without a password. Give the password in PGPASSWORD,
            ~/.pgpass or the service file.
    Raises:
        StorageError: the URL has a password or is malformed, psycopg is not installed, the database cannot be reached,
            or no archive with the schema of this program was published there. Every method can raise it, too.
    """

    def __init__(self, url: str) -> None:
        from storage.publish.reading import PublishedStore

        super().__init__(PublishedStore(url), arrow=False)

    def __repr__(self) -> str:
        return f"Tables · {plural(self._store.count(), 'game')}"
