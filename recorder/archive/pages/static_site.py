"""A site of chosen games as a folder of files, which opens without a server: ``report --site``."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from exporters.base import new_folder, refuse_protected
from exporters.report.game_list import FileSite, index_of_files
from exporters.report.page import BarItem
from recorder.archive.exporting import named_games, protected, require_games, share_archive
from recorder.archive.locate import open_archive
from recorder.archive.pages.player_pages import pages_of_players, players_of_games
from recorder.archive.pages.related import games_in_progress
from recorder.archive.pages.reports import page_of_game
from recorder.errors import ExportError
from recorder.progress import Progress
from storage import ArchiveStore, GameFilter
from storage.read.listing import ListedGame, ListOrder

_ALL: Final = 2**31
_READING_S: Final = 3600.0
_FOLDERS: Final = ("games", "players")
_FILES: Final = ("index.html", "sitemap.xml", *_FOLDERS)
_GENERATOR: Final = b'<meta name="generator" content="ics-recorder '
_URL: Final = re.compile(r"https?://[^\s?#]+", re.ASCII)


class SiteOptions(NamedTuple):
    """How a site is written.

    Attributes:
        base_url: where the folder will be; None: no sitemap is written.
        pseudonyms: replace each handle by an invented word, and exclude chat. chat: ``public`` or ``none``.
        force: replace a site that is there.
    """

    base_url: str | None = None
    pseudonyms: bool = False
    chat: str = "public"
    force: bool = False


class SiteWritten(NamedTuple):
    """What was written: pages of games and of players, bytes, and the games that are excluded by reason."""

    games: int
    players: int
    size_bytes: int
    excluded: dict[str, int]


def write_site(where: str, chosen: GameFilter, folder: Path, options: SiteOptions, progress: Progress) -> SiteWritten:
    """Write pages of games and players, and an index that searches the games. They show what ``db share`` keeps.

    Args:
        where: the archive. chosen: which games, as ``named_games`` takes it. folder: of the site.
        options: see ``SiteOptions``. progress: counts pages.
    Raises:
        StorageError: no game matches, or the archive cannot be read.
        ExportError: the folder is there and is not to be replaced or is no site, it cannot be written, a filter names
            a handle that pseudonyms replace, or ``base_url`` is none.
    """
    if options.base_url is not None and not _URL.fullmatch(options.base_url):
        raise ExportError(f"{options.base_url!r} is no address of a site; write it as https://example.org/games/.")
    if options.pseudonyms and (
        chosen.keys or chosen.players or chosen.opponents or chosen.white or chosen.black or chosen.me
    ):
        raise ExportError("Handles and keys cannot choose games together with pseudonyms: choose by other filters.")
    _refuse(folder, options.force)
    with _source(where, options.pseudonyms) as source, open_archive(source, read_only=True) as archive:
        with open_archive(where, read_only=True) as original:
            refuse_protected(folder, protected(original))
            if any(path.resolve().is_relative_to(folder.resolve()) for path in protected(original)):
                raise ExportError(f"{folder} contains the archive or its logs; choose another folder.")
        with archive.snapshot(), new_folder(folder) as unfinished:
            return _Writer(archive, named_games(archive, chosen), unfinished, options, progress).write()


@contextmanager
def _source(where: str, pseudonyms: bool) -> Iterator[str]:
    """The archive that pages are made from: a copy with pseudonyms if these are asked for."""
    if not pseudonyms:
        yield where
        return
    with tempfile.TemporaryDirectory(prefix="ics-recorder-") as folder:
        copy = str(Path(folder) / "shared.sqlite")
        share_archive(where, copy, pseudonyms=True)
        yield copy


def _refuse(folder: Path, force: bool) -> None:
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise ExportError(f"{folder} is no folder; choose another name.")
    if not force:
        raise ExportError(f"{folder} already exists; replace it with --force.")
    index = folder / "index.html"
    if any(folder.iterdir()) and not (index.is_file() and _GENERATOR in index.read_bytes()[:8192]):
        raise ExportError(f"{folder} is no site that this program wrote, so --force does not replace it.")
    foreign = [path for path in folder.iterdir() if path.name not in _FILES]
    pages = [path for name in _FOLDERS for path in (folder / name).glob("*")]
    foreign += [path for path in pages if path.suffix != ".html" or not path.is_file()]
    if foreign:
        raise ExportError(f"{foreign[0]} is not of the site, so --force does not replace {folder}: move it first.")


class _Writer:
    """Writes the pages of one site."""

    def __init__(
        self, archive: ArchiveStore, chosen: GameFilter, folder: Path, options: SiteOptions, progress: Progress
    ) -> None:
        self._archive = archive
        self._chosen = chosen
        self._folder = folder
        self._options = options
        self._progress = progress
        self._excluded = require_games(archive, chosen)
        listed = archive.list_games(chosen, ListOrder("date", descending=True), _ALL, limit_s=_READING_S)
        self._listed: Sequence[ListedGame] = listed
        self._pages: list[str] = []
        self._whole = 0
        self._size_bytes = 0

    def write(self) -> SiteWritten:
        """Write all pages."""
        keys = frozenset(game.key for game in self._listed)
        players = players_of_games(self._archive, self._chosen)
        files = {(one.handle.lower(), one.server): one.file for one in players}
        site = FileSite(keys, files)
        self._whole = len(keys) + len(players)
        in_progress = games_in_progress(self._archive)
        self._write("index.html", index_of_files(self._listed, replace(site, depth=0), in_progress))
        self._games(site)
        for one, html in pages_of_players(self._archive, players, site):
            self._write(f"players/{one.file}", html)
        if self._options.base_url is not None:
            self._sitemap(self._options.base_url)
        return SiteWritten(len(keys), len(players), self._size_bytes, self._excluded)

    def _write(self, name: str, html: bytes) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(html)
        self._size_bytes += len(html)
        self._pages.append(name)
        self._progress("pages", len(self._pages) - 1, self._whole)

    def _games(self, site: FileSite) -> None:
        keys = [game.key for game in self._listed]
        for place, key in enumerate(keys):
            near = (("‹ Previous", place - 1, "prev"), ("Next ›", place + 1, "next"))
            bar = [BarItem("Games", "../index.html", "up")]
            bar += [BarItem(text, f"{keys[n]}.html", rel) for text, n, rel in near if 0 <= n < len(keys)]
            page = page_of_game(
                self._archive, key, site=replace(site, bar=bar), public=True, chat=self._options.chat, pictures=False
            )
            self._write(f"games/{key}.html", page.html)

    def _sitemap(self, base_url: str) -> None:
        base = f"{base_url.rstrip('/')}/"
        lines = "".join(f"<url><loc>{escape(base + name)}</loc></url>\n" for name in self._pages)
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{lines}</urlset>\n"
        )
        (self._folder / "sitemap.xml").write_text(text, encoding="utf-8")
