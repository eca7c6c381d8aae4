"""``recorder.Archive``: an archive for Python programs and notebooks."""

from __future__ import annotations

import datetime
import errno
import os
from collections.abc import Iterable
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from exporters.selection import Filters, takes_filters
from recorder.archive.game_tables import GameTables
from recorder.archive.locate import open_archive
from recorder.corrections import checked
from recorder.errors import ExportError, StorageError
from recorder.model import ImportStatus, SourceKind
from recorder.progress import Progress, shown_progress
from recorder.text import plural

if TYPE_CHECKING:
    from exporters.base import ExportReport
    from recorder.archive.care.verifying import VerifyReport
    from recorder.archive.reading.import_paths import ImportReport, Merged
    from recorder.archive.sharing.publishing import Published

_APPEND_OR_FORCE = "append adds to the file and force replaces it: give one of them."
_AnyPath = str | PathLike[str]


class Archive(GameTables):
    """Games with their plies, clocks and sources in one SQLite file.

    Nothing stays open between two calls: another program, also a recorder, may read and write the archive meanwhile.
    ``with`` is not necessary. Iterating over an archive is iterating over ``games()``. docs/reference/tables.md lists
    the columns of all tables.

    Methods that take filters raise ExportError if one has an unknown value, and UnknownVariantError if it names a
    variant that is unknown to the rules and occurs in no game. All raise StorageError if the archive cannot be read or
    written.

    Args:
        path: the file (``~`` is the home folder), or a ``sqlite:///`` URL. It is created if it is not there.
        read_only: never create the file and never write to it.
        arrow: load ``plies`` and ``batches`` faster, through ADBC and Arrow, if the extra ``arrow`` is installed.
    Raises:
        StorageError: the file is no archive, its schema is older or newer than this program's, or there is none and
            it cannot be created.
    """

    def __init__(self, path: _AnyPath, *, read_only: bool = False, arrow: bool = True) -> None:
        self._where = fspath(path)
        self._archive = open_archive(self._where, create=not read_only, read_only=read_only)
        super().__init__(self._archive, arrow=arrow)

    @property
    def path(self) -> Path:
        """The archive's file."""
        return self._archive.path

    def __repr__(self) -> str:
        return f"Archive {self.path} · {plural(len(self), 'game')}"

    def close(self) -> None:
        """Release the file."""
        self._archive.close()

    # --- reading, writing and checking

    def import_logs(
        self,
        paths: _AnyPath | Iterable[_AnyPath],
        *,
        progress: bool | Progress = False,
        kind: str | SourceKind | None = None,
        server: str | None = None,
        date: str | datetime.date | None = None,
        date_from_name: str | None = None,
        tz: str | None = None,
        chat: str | None = None,
        keep: bool = True,
        jobs: int | None = None,
    ) -> ImportReport:
        """Read logs into the archive.

        A log that is already in the archive changes nothing; of a log that has grown, the games that have changed are
        stored. Files that cannot be read are in ``ImportReport.failures``; the others are read.

        Args:
            paths: a file or a folder with all below it, or several of them; ``~`` is the home folder, and URLs are
                ``https://`` and ``s3://`` (extras). gz, bz2, xz and zst files are decompressed. If a file is another
                archive, it is merged into this one.
            progress: True shows a bar on a terminal; a function is called with a name, the bytes done and all bytes
                (None: unknown).
            kind: kind of the logs; None: recognised by their content.
            server: the site of the games, for logs that do not contain it.
            date: date of logs without one, as a date or as text (``2020-01-31``).
            date_from_name: the same from the names of the files: their format, as ``%Y-%m-%d``.
            tz: time zone of times without one: ``Europe/Vienna`` or ``+02:00``.
            chat: which chat is stored: ``none``, ``public`` (default), ``own`` or ``all``.
            keep: store the bytes of the logs, too.
            jobs: how many processes read them; None: one for each core. The archive is the same.
        Returns:
            What became of each file, and how many games and half-moves were stored.
        Raises:
            FileNotFoundError: none of the paths exists. SourceError: an option has a value that is not known.
        """
        from recorder.archive.reading.import_paths import import_paths
        from recorder.archive.reading.importing import read_options
        from recorder.urls import is_url

        listed = [fspath(paths)] if isinstance(paths, str | PathLike) else [fspath(path) for path in paths]
        names = [path if is_url(path) else str(Path(path).expanduser()) for path in listed]
        if names and not any(is_url(name) or os.path.lexists(name) for name in names):
            raise FileNotFoundError(errno.ENOENT, "no such file or folder", names[0])
        options = read_options(kind, server, date, tz, chat, date_from_name)
        with shown_progress(progress) as show:
            return import_paths(self._archive, self._where, names, options, keep=keep, jobs=jobs, progress=show)

    def import_archive(self, path: _AnyPath, *, progress: bool | Progress = False) -> Merged:
        """Import another archive, as if its logs had been imported into this one.

        Duplicates are not added, and neither are players and logs that were erased here. Players that the other archive
        has erased are erased here, too.

        Args:
            path: the other archive's file; it is only read.
            progress: as for ``import_logs``.
        Returns:
            What became of each log of the other archive.
        """
        from recorder.archive.reading.import_paths import merge_file
        from recorder.archive.reading.inputs import Input

        other = Path(path).expanduser()
        if not other.is_file():
            raise StorageError(f"{other}: there is no such archive.")
        with shown_progress(progress) as show:
            merged = merge_file(self._archive, self._where, Input(str(other), other), show)
        for outcome in merged.outcomes:
            if outcome.status == ImportStatus.FAILED:
                raise StorageError(str(outcome.message))
        return merged

    def edit(self, keys: str | Iterable[str], *, undo: bool = False, dry_run: bool = False, **tags: str) -> list[str]:
        """Correct what was recorded of games; moves and clocks stay as they are.

        Args:
            keys: the key of a game, or several.
            undo: restore what was recorded; without tags.
            dry_run: change nothing.
            tags: new values by PGN tag: ``Date="2009-03-05"``, ``White="Ann"``, ``Result="1-0"``, ``Round="3"``; and
                ``Rated`` is ``rated`` or ``unrated``.
        Returns:
            The keys of the games that change.
        Raises:
            StorageError: there is no such game, a value is malformed, or there is nothing to undo.
        """
        from recorder.archive.care.correcting import correct

        if undo is bool(tags):
            raise StorageError("Give either undo or the tags that are to be corrected.")
        try:
            values = None if undo else {field: checked(field, value) for field, value in tags.items()}
        except ValueError as error:
            raise StorageError(str(error)) from error
        wanted = [keys] if isinstance(keys, str) else list(keys)
        return [game.after.key for game in correct(self._archive, wanted, values, dry_run=dry_run)]

    @takes_filters
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
            append: add the games that the file does not contain yet.
            split: ``day``, ``player`` or ``variant``: one file for each in the folder.
            force: replace an existing file.
            filters: see ``Filters``.
        Returns:
            How many games were written and excluded.
        Raises:
            ExportError: an option or a filter has an unknown value, the file exists already, or it cannot be written.
        """
        from recorder.archive.exporting import export_pgn
        from recorder.archive.game_views import pgn_options

        options = pgn_options(clock, style, variations, comments, engine, analysis, as_crazyhouse)
        if append and force:
            raise ExportError(_APPEND_OR_FORCE)
        chosen, output = self._filter(filters), Path(path).expanduser()
        return export_pgn(self._archive, chosen, options, output, force=force, append=append, split=split)

    @takes_filters
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
        """Write bughouse matches as BPGN, both boards in one movetext.

        A match is written if the filters accept one of its boards.

        Args:
            path: the file.
            clock: which times: ``clk`` is the mover's clock, ``lag`` the tag Lag; ``none`` is neither.
            comments: write chat as comments.
            append: add the matches that the file does not contain yet.
            force: replace an existing file.
            filters: see ``Filters``.
        Returns:
            How many matches were written and excluded.
        Raises:
            ExportError: as for ``export_pgn``.
        """
        from exporters.bpgn import BpgnOptions
        from recorder.archive.exporting import export_bpgn

        words = clock.split(",") if isinstance(clock, str) else clock
        options = BpgnOptions(frozenset(word.strip() for word in words) - {"", "none"}, comments)
        if append and force:
            raise ExportError(_APPEND_OR_FORCE)
        chosen, output = self._filter(filters), Path(path).expanduser()
        return export_bpgn(self._archive, chosen, options, output, force=force, append=append)

    @takes_filters
    def write_report(
        self, path: _AnyPath, key: str | None = None, *, force: bool = False, **filters: Unpack[Filters]
    ) -> None:
        """Write a report as one HTML file, which needs no network and no other file.

        With ``key`` it is a report on a game, with the filter ``player`` on a player, and otherwise on the archive.

        Args:
            path: the file.
            key: the beginning of a game's key, ``last`` or ``last~2``; it cannot be combined with filters.
            force: replace an existing file.
            filters: see ``Filters``.
        Raises:
            ExportError: the extra ``report`` is not installed, the filters name several players, or the file exists
                already or cannot be written. StorageError: no game matches.
        """
        from exporters.base import open_output, refuse_existing
        from recorder.archive.exporting import one_player, protected
        from recorder.archive.pages.reports import page_of_archive, page_of_game, page_of_player

        chosen = self._filter(filters)
        if len(chosen.players) > 1 or (key is not None and filters):
            raise ExportError("A report is about one game, given by its key alone, about one player, or the archive.")
        target = str(Path(path).expanduser())
        refuse_existing(target, force)
        with self._archive.snapshot():
            if key is not None:
                page = page_of_game(self._archive, key)
            elif chosen.players:
                page = page_of_player(self._archive, one_player(self._archive, *chosen.players), chosen)
            else:
                page = page_of_archive(self._archive, chosen)
            with open_output(target, force, protected(self._archive)) as out:
                out.write(page.html)

    def publish(
        self, url: str, *, with_text: str | None = None, dry_run: bool = False, progress: bool | Progress = False
    ) -> Published:
        """Copy the archive into a PostgreSQL database, from which ``Tables`` reads it.

        Games, plies, events and analyses are copied without log bytes, paths, tells and typed input. Only what has
        changed since the last time is copied or deleted. Needs the extra ``postgres``.

        Args:
            url: of the database, ``postgresql://HOST/DATABASE``, without a password.
            with_text: ``public`` publishes kibitz and whisper, ``none`` no chat; None: as when the archive was
                published before, else ``public``.
            dry_run: only count what would change.
            progress: as for ``import_logs``; it counts games.
        Returns:
            What was added, changed and deleted in the database.
        Raises:
            ExportError: the URL has a password or is malformed, or the database cannot be used.
        """
        from recorder.archive.sharing.publishing import publish_archive

        with shown_progress(progress, steps=True) as show:
            return publish_archive(self._where, url, with_text=with_text, dry_run=dry_run, progress=show)

    def verify(self, *sources: str, jobs: int | None = None, progress: bool | Progress = False) -> VerifyReport:
        """Read logs again and compare them with the archive: counts of boards, games, plies and clocks.

        Args:
            sources: the first characters of the ids of logs; without any, all logs are verified.
            jobs: how many processes read them; None: one for each core. The result is the same.
            progress: as for ``import_logs``.
        Returns:
            The differences in each log; ``findings`` is 0 if there are none.
        """
        from recorder.archive.care.verifying import verify_archive

        with shown_progress(progress) as show:
            return verify_archive(self._archive, sources, show, jobs=jobs)
