"""``recorder.Archive``: an archive for Python programs and notebooks."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator
from contextlib import nullcontext
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from exporters.selection import Filters, make_filter
from recorder.archive.exporting import require_variants
from recorder.archive.locate import open_archive
from recorder.errors import ExportError, SourceError, StorageError
from recorder.model import SourceKind
from recorder.progress import Progress, show_progress
from recorder.text import plural

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd

    from exporters.base import ExportReport
    from recorder.archive.import_paths import ImportReport, Merged
    from recorder.archive.inputs import ReadOptions
    from recorder.archive.verifying import VerifyReport
    from recorder.model import Game
    from storage import GameFilter

__all__ = ["Archive"]

_CHATS = ("none", "public", "own", "all")
_APPEND_OR_FORCE = "append adds to the file and force replaces it: give one of them."
_AnyPath = str | PathLike[str]


class Archive:
    """Games with their plies, clocks and sources in one SQLite file.

    Nothing stays open between two calls: another program, also a recorder, may read and write the archive meanwhile.
    ``with`` is not necessary. Iterating over an archive is iterating over ``games()``.

    Args:
        path: the file (``~`` is the home folder), or a ``sqlite:///`` URL. It is created if it is not there.
        read_only: never create the file and never write to it.
        arrow: use ADBC and Arrow for ``plies`` and ``batches`` if the extra ``arrow`` is installed; tables are the
            same without, and take longer.
    Raises:
        StorageError: the file is no archive, its schema is older or newer than this program's, or there is none and
            it cannot be created.
    """

    def __init__(self, path: _AnyPath, *, read_only: bool = False, arrow: bool = True) -> None:
        self._where = fspath(path)
        self._store = open_archive(self._where, create=not read_only, read_only=read_only)
        self._arrow = arrow

    @property
    def path(self) -> Path:
        """The archive's file."""
        return self._store.path

    def __repr__(self) -> str:
        return f"Archive {self.path} · {plural(self._store.count(), 'game')}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._store.close()

    def _filter(self, filters: Filters) -> GameFilter:
        """The archive's filter, with known variants only.

        Raises:
            ExportError: a word of a filter is not known. UnknownVariantError: a variant is not known.
        """
        where = make_filter(filters)
        require_variants(self._store, where)
        return where

    # --- games

    def games(self, **filters: Unpack[Filters]) -> Iterator[Game]:
        """Read the games that match, one after another.

        Memory use does not grow with their number. The archive is read as it is at the first game, even if another
        program writes to it meanwhile.

        Args:
            filters: see ``Filters``; without any, all played games with at least one known move.
        Returns:
            Games in the order of their start, games without a known start last.
        Raises:
            ExportError: a word of a filter is not known. UnknownVariantError: neither the rules nor the archive know
                a variant. StorageError: the archive cannot be read.
        """
        return self._store.games(self._filter(filters))

    def __iter__(self) -> Iterator[Game]:
        """Read the games that ``games()`` returns without filters.

        Yields:
            Played games with at least one known move, in the order of their start.
        """
        return self.games()

    def __getitem__(self, key: str) -> Game:
        """Read one game.

        Args:
            key: the first characters of its key (the key of a source's game names the merged game); ``last`` is the
                newest played game, ``last~2`` the third newest.
        Returns:
            The game with all that is known of it.
        Raises:
            StorageError: no game has such a key, or several have (the message lists them).
            TypeError: the key is not text.
        """
        if not isinstance(key, str):
            raise TypeError(f"A game's key is text, as in archive['5b26'], not {type(key).__name__}.")
        return self._store.game(key)

    # --- tables

    def plies(self, *, extra: Collection[str] = (), **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read the half-moves of the main lines as a table.

        The measures are methods of its attribute ``ics``: ``archive.plies().ics.time_usage(by="phase")``.

        Args:
            extra: columns that are included only on request: ``material``, ``fen``.
            filters: see ``Filters``.
        Returns:
            A row for each half-move, in the order of the games; docs/reference/tables.md lists the columns. Times are
            in milliseconds.
        Raises:
            ExportError: a word of a filter or of ``extra`` is not known. UnknownVariantError: neither the rules nor
                the archive know a variant. StorageError: the archive cannot be read.
        """
        _add_measures()
        from exporters.tables.frames import ply_frame

        _check(extra)
        return ply_frame(self._store, self._filter(filters), extra, arrow=self._arrow)

    def batches(
        self, rows: int = 200_000, *, extra: Collection[str] = (), **filters: Unpack[Filters]
    ) -> Iterator[pd.DataFrame]:
        """Read the same rows as ``plies`` in pieces, for archives that are larger than memory.

        The archive is read as it is at the first piece. Categorical columns of handles and other words without a fixed
        list have categories of their own in each piece.

        Args:
            rows: least number of rows in a piece; a game is never divided between two.
            extra, filters: as for ``plies``.
        Yields:
            Tables with the columns of ``plies``.
        Raises:
            ExportError, StorageError: as for ``plies``, before the first piece; also for pieces of no rows.
        """
        _add_measures()
        from exporters.tables.frames import pieces, plies_of

        _check(extra)
        if rows < 1:
            raise ExportError(f"Pieces of {rows} rows are none: give 1 or more.")
        where = self._filter(filters)
        with self._store.columns(arrow=self._arrow) as reader:
            for ids in pieces(reader.games_of(where), rows):
                yield plies_of(reader, ids, extra)

    def sides(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read what each side of each game did, as a table.

        Args:
            filters: see ``Filters``.
        Returns:
            Two rows for each game, White's first; docs/reference/tables.md lists the columns.
        Raises:
            ExportError, StorageError: as for ``plies``.
        """
        from exporters.tables.frames import side_frame

        where = self._filter(filters)
        with self._store.columns(arrow=False) as reader:
            return side_frame(reader, reader.games_of(where))

    def game_table(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read the facts of games as a table, without their moves.

        Args:
            filters: see ``Filters``.
        Returns:
            A row for each game; docs/reference/tables.md lists the columns.
        Raises:
            ExportError, StorageError: as for ``plies``.
        """
        from exporters.tables.frames import game_frame

        where = self._filter(filters)
        with self._store.columns(arrow=False) as reader:
            return game_frame(reader, reader.games_of(where))

    def events(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read what happened in games besides moves: offers, takebacks, chat, results and more.

        Args:
            filters: see ``Filters``.
        Returns:
            A row for each event, in the order of the games; docs/reference/tables.md lists the columns.
        Raises:
            ExportError, StorageError: as for ``plies``.
        """
        from exporters.tables.frames import events_of

        return events_of(self._store, self._filter(filters))

    def matches(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """Read the half-moves of bughouse matches as a table, both boards on one time line.

        Args:
            filters: see ``Filters``; a match is included if one of its boards matches.
        Returns:
            A row for each half-move, in the order in which they were played: the columns that
            docs/reference/measures.md lists for matches, then those of ``plies``.
        Raises:
            ExportError, StorageError: as for ``plies``.
        """
        _add_measures()
        from exporters.tables.frames import ply_frame
        from exporters.tables.matches import boards_of, match_frame, read_matches

        where = self._filter(filters)
        with self._store.snapshot():
            matches = read_matches(self._store, where)
        return match_frame(ply_frame(self._store, boards_of(matches, where), arrow=self._arrow), matches)

    # --- reading, writing and checking

    def import_logs(
        self,
        paths: _AnyPath | Iterable[_AnyPath],
        *,
        progress: bool | Progress = False,
        kind: str | SourceKind | None = None,
        server: str | None = None,
        date: str | datetime.date | None = None,
        tz: str | None = None,
        chat: str | None = None,
        keep: bool = True,
        jobs: int | None = None,
    ) -> ImportReport:
        """Read logs into the archive.

        A log that is already in the archive changes nothing; of a log that has grown only the new part is read. A
        file that cannot be read does not keep the others from being read: see ``ImportReport.failures``.

        Args:
            paths: a file or a folder with all below it, or several of them; ``~`` is the home folder. gz, bz2, xz and
                zst files are read as what is in them. A file that is an archive itself is merged.
            progress: True shows a bar on a terminal; a function is called with name, bytes done and all bytes.
            kind: kind of the logs, instead of looking at their content.
            server: the site, where a log does not print it.
            date: day of a log that prints none, as a date or ``2020-01-31``.
            tz: zone of times that name none: ``Europe/Vienna`` or ``+02:00``.
            chat: which human text is stored: ``none``, ``public`` (default), ``own`` or ``all``.
            keep: store the bytes of the logs, too.
            jobs: how many processes read them; None: one for each core. The archive is the same.
        Returns:
            What became of each file, and how many games and half-moves were stored.
        Raises:
            SourceError: an option has a value that is not known.
            StorageError: the archive cannot be written.
        """
        from recorder.archive.import_paths import import_paths

        given = [paths] if isinstance(paths, str | PathLike) else list(paths)
        names = [str(Path(path).expanduser()) for path in given]
        options = _read_options(kind, server, date, tz, chat)
        with _progress(progress) as show:
            return import_paths(self._store, self._where, names, options, keep=keep, jobs=jobs, progress=show)

    def import_archive(self, path: _AnyPath, *, progress: bool | Progress = False) -> Merged:
        """Take what another archive has and this one has not, as if the logs of both had been imported.

        Duplicates are not added, nor players and logs erased here. A player whom the other archive has erased
        is forgotten here, too.

        Args:
            path: the other archive's file; it is only read.
            progress: as for ``import_logs``.
        Returns:
            What became of each log of the other archive.
        Raises:
            StorageError: the other archive cannot be read, or this one cannot be written; nothing was changed.
        """
        from recorder.archive.import_paths import merge_file
        from recorder.archive.inputs import Input

        other = Path(path).expanduser()
        if not other.is_file():
            raise StorageError(f"{other}: there is no such archive.")
        with _progress(progress) as show:
            merged = merge_file(self._store, self._where, Input(str(other), other), show)
        for outcome in merged.outcomes:
            if outcome.status == "failed":
                raise StorageError(str(outcome.message))
        return merged

    def export_pgn(
        self,
        path: _AnyPath,
        *,
        clock: str | Iterable[str] = "clk,emt",
        style: str = "default",
        variations: bool = False,
        comments: bool = False,
        engine: bool = False,
        analysis: str | None = "",
        as_crazyhouse: bool = False,
        append: bool = False,
        split: str | None = None,
        force: bool = False,
        **filters: Unpack[Filters],
    ) -> ExportReport:
        """Write games as PGN.

        Args:
            path: the file, or a folder with ``split``.
            clock, style, variations, comments, engine, analysis, as_crazyhouse: as for ``Game.to_pgn``.
            append: add the games that the file does not hold yet.
            split: ``day``, ``player`` or ``variant``: one file for each in the folder.
            force: replace an existing file.
            filters: see ``Filters``.
        Returns:
            How many games were written and excluded.
        Raises:
            ExportError: an option or a filter has a word that is not known, the file exists already, or it cannot be
                written. UnknownVariantError: neither the rules nor the archive know a variant.
            StorageError: the archive cannot be read.
        """
        from recorder.archive.exporting import export_pgn
        from recorder.archive.game_views import pgn_options

        options = pgn_options(clock, style, variations, comments, engine, analysis, as_crazyhouse)
        if append and force:
            raise ExportError(_APPEND_OR_FORCE)
        chosen, output = self._filter(filters), Path(path).expanduser()
        return export_pgn(self._store, chosen, options, output, force=force, append=append, split=split)

    def export_bpgn(
        self,
        path: _AnyPath,
        *,
        clock: str | Iterable[str] = "clk,lag",
        comments: bool = False,
        append: bool = False,
        force: bool = False,
        **filters: Unpack[Filters],
    ) -> ExportReport:
        """Write bughouse matches as BPGN, both boards in one movetext; a match is written if one of its boards matches.

        Args:
            path: the file.
            clock: which times: ``clk`` is the mover's clock, ``lag`` the tag Lag; ``none`` is neither.
            comments: write chat as comments.
            append: add the matches that the file does not hold yet.
            force: replace an existing file.
            filters: see ``Filters``.
        Returns:
            How many matches were written and excluded.
        Raises:
            ExportError, StorageError: as for ``export_pgn``.
        """
        from exporters.bpgn import BpgnOptions
        from recorder.archive.exporting import export_bpgn

        words = clock.split(",") if isinstance(clock, str) else clock
        options = BpgnOptions(frozenset(word.strip() for word in words) - {"", "none"}, comments)
        if append and force:
            raise ExportError(_APPEND_OR_FORCE)
        chosen, output = self._filter(filters), Path(path).expanduser()
        return export_bpgn(self._store, chosen, options, output, force=force, append=append)

    def write_report(
        self, path: _AnyPath, key: str | None = None, *, force: bool = False, **filters: Unpack[Filters]
    ) -> None:
        """Write one HTML file for the browser, which needs no network and no other file.

        It is about one game with ``key``, about one player with ``player`` among the filters, else about the archive.

        Args:
            path: the file.
            key: the beginning of a game's key, ``last`` or ``last~2``; then without filters.
            force: replace an existing file.
            filters: see ``Filters``.
        Raises:
            ExportError: the extra ``report`` is not installed, the filters have several players, or the file is there
                already or cannot be written. StorageError: no game matches, or the archive cannot be read.
        """
        from exporters.base import open_output
        from recorder.archive.exporting import protected
        from recorder.archive.reports import page_of_archive, page_of_game, page_of_player

        chosen = self._filter(filters)
        if len(chosen.players) > 1 or (key is not None and filters):
            raise ExportError("A report is about one game, given by its key alone, about one player, or the archive.")
        with self._store.snapshot():
            if key is not None:
                page = page_of_game(self._store, key)
            elif chosen.players:
                page = page_of_player(self._store, next(iter(chosen.players)), chosen)
            else:
                page = page_of_archive(self._store, chosen)
            with open_output(str(Path(path).expanduser()), force, protected(self._store)) as out:
                out.write(page.html)

    def verify(self, *sources: str, jobs: int | None = None, progress: bool | Progress = False) -> VerifyReport:
        """Read logs again and compare them with the archive: counts of boards, games, plies and clocks.

        Args:
            sources: beginnings of the ids of logs; without any all logs are verified.
            jobs: how many processes read them; None: one for each core. The result is the same.
            progress: as for ``import_logs``.
        Returns:
            The differences in each log; ``findings`` is 0 if there are none.
        Raises:
            StorageError: the archive cannot be read, or has no such log.
        """
        from recorder.archive.verifying import verify_archive

        with _progress(progress) as show:
            return verify_archive(self._store, sources, show, jobs=jobs)


def _progress(wanted: bool | Progress) -> AbstractContextManager[Progress]:
    if wanted is True:
        return show_progress()
    return nullcontext(wanted or (lambda name, done, total: None))


def _read_options(
    kind: str | SourceKind | None, server: str | None, day: str | datetime.date | None, tz: str | None, chat: str | None
) -> ReadOptions:
    from recorder.archive.inputs import ReadOptions
    from recorder.times import parse_zone

    if chat not in (None, *_CHATS):
        raise SourceError(f"chat is one of {', '.join(_CHATS)}, not {chat!r}.")
    try:
        kind = None if kind is None else SourceKind(kind)
    except ValueError as error:
        words = ", ".join(one.value for one in SourceKind)
        raise SourceError(f"{kind!r} is no kind of log; there are {words}.") from error
    if isinstance(day, str):
        try:
            day = datetime.date.fromisoformat(day)
        except ValueError as error:
            raise SourceError(f"{day!r} is not a date; write it as 2020-01-31.") from error
    if tz is not None:
        try:
            parse_zone(tz)
        except ValueError as error:
            raise SourceError(str(error)) from error
    return ReadOptions(kind, server, day, tz, chat)


def _add_measures() -> None:
    """Register ``DataFrame.ics``. Not when this module loads: reading games needs no pandas."""
    import_module("exporters.measures")


def _check(extra: Collection[str]) -> None:
    from exporters.tables.columns import ON_REQUEST

    names = [column.name for column in ON_REQUEST]
    wrong = [extra] if isinstance(extra, str) else sorted(set(extra) - set(names))
    if wrong:
        raise ExportError(f"There is no list of extra columns {wrong[0]!r}; ask for any of {names}.")
