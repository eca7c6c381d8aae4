"""A site of files: its folder, and the pages of its players, whose measures are computed for many players at a time."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from xml.sax.saxutils import escape

from exporters.base import new_folder, refuse_protected
from exporters.report.game_list import FileSite, index_of_files, player_file
from exporters.report.page import BarItem, site_files
from recorder.archive.exporting import named_games, protected, require_games, share_archive
from recorder.archive.locate import open_archive
from recorder.archive.pages.related import games_in_progress
from recorder.archive.pages.reports import boards_of, ending_of, page_of_game, picture_of_game
from recorder.errors import ExportError
from recorder.progress import Progress
from storage import ArchiveStore, GameFilter
from storage.read.listing import ListedGame, ListOrder

if TYPE_CHECKING:
    from exporters.report.player import PlayerPage

_FEWEST_GAMES: Final = 2
"""Games of a player with a page: a page about one game would say what the page of the game says."""
PLAYER_GAMES: Final = 2000
"""The most games that a player's page of a site is about: the newest."""
_GAMES_AT_ONCE: Final = 1000
"""Games that are read at once, if no player has more."""


class SitePlayer(NamedTuple):
    """A player with a page; ``handle`` is as written in the last game, ``identity`` as ``player_id`` has it."""

    handle: str
    server: str | None
    identity: str
    games: list[tuple[int, int, int]]
    older: int
    of_guests: int

    @property
    def file(self) -> str:
        return player_file(self.handle, self.server)


class _Played:
    def __init__(self, guest: bool) -> None:
        self.handle = ""
        self.guest = guest
        self.games: list[tuple[int, int, int]] = []
        self.dated = 0


def players_of_games(archive: ArchiveStore, chosen: GameFilter) -> list[SitePlayer]:
    """The players of two games or more. Guests are never pooled: a handle of several guests alone has no page."""
    from exporters.tables.tables import open_tables

    by_name: dict[tuple[str, str | None], dict[str, _Played]] = {}
    with open_tables(archive, chosen, plies=False) as tables:
        for index, (game, facts) in enumerate(zip(tables.games, tables.game_rows(), strict=True)):
            for side in ("white", "black"):
                identities = by_name.setdefault((facts[side].lower(), facts["server"]), {})
                played = identities.setdefault(facts[f"{side}_id"], _Played(facts[f"{side}_guest"]))
                played.handle = facts[side]
                if played.games[-1:] != [(index, *game)]:  # who plays both sides has one game
                    played.games.append((index, *game))
                    played.dated += facts["day"] is not None or facts["started_ms"] is not None
    ordered = sorted(by_name.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    players = (_player_of(server, identities) for (handle, server), identities in ordered if handle.strip())
    return [player for player in players if player is not None]


def _player_of(server: str | None, identities: dict[str, _Played]) -> SitePlayer | None:
    """The player of a handle on a server; None: there are several guests, or too few games."""
    guests = [played for played in identities.values() if played.guest]
    own = [(identity, played) for identity, played in identities.items() if not played.guest]
    if not own and len(guests) == 1:
        own, guests = list(identities.items()), []
    if len(own) != 1 or len(own[0][1].games) < _FEWEST_GAMES:
        return None
    ((identity, played),) = own
    places = [*range(played.dated)[::-1], *range(played.dated, len(played.games))][:PLAYER_GAMES]
    games = [played.games[index] for index in sorted(places)]
    of_guests = sum(len(guest.games) for guest in guests)
    return SitePlayer(played.handle, server, identity, games, len(played.games) - len(games), of_guests)


def pages_of_players(
    archive: ArchiveStore, players: Sequence[SitePlayer], site: FileSite
) -> Iterator[tuple[SitePlayer, bytes]]:
    """The pages of players. Memory holds some thousand games at a time, each of them at most twice."""
    from exporters.report.player import player_pages
    from exporters.tables.tables import open_tables

    for run in _runs(players):
        games = [(row_id, plies) for _, row_id, plies in sorted({game for player in run for game in player.games})]
        with open_tables(archive, games=games) as tables:
            in_progress = games_in_progress(archive)
            sides = [row | ending_of(row, in_progress) for row in tables.side_rows()]
            bar = [BarItem("Games", "../index.html", "up")]
            pages = [_page_of(player) for player in run]
            plies = tables.plies().ending(in_progress).gathered()
            yield from zip(
                run,
                player_pages(plies, sides, pages, site=replace(site, bar=bar), boards=boards_of(archive)),
                strict=True,
            )


def _page_of(player: SitePlayer) -> PlayerPage:
    from exporters.report.player import PlayerPage

    excluded = {
        f"older than the newest {PLAYER_GAMES:,}": player.older,
        "of guests who had this handle": player.of_guests,
    }
    filters = {"player": player.handle, "server": player.server or "unknown"}
    left_out = {reason: number for reason, number in excluded.items() if number}
    return PlayerPage(player.handle, frozenset({player.identity}), left_out, filters)


def _runs(players: Sequence[SitePlayer]) -> Iterator[list[SitePlayer]]:
    """Players with together at most so many games as are read at once; one of more games alone."""
    run: list[SitePlayer] = []
    games = 0
    for player in players:
        if run and games + len(player.games) > _GAMES_AT_ONCE:
            yield run
            run, games = [], 0
        run.append(player)
        games += len(player.games)
    if run:
        yield run


_ALL: Final = 2**31
_READING_S: Final = 3600.0
_FOLDERS: Final = ("games", "players", "assets")
_FILES: Final = ("index.html", "sitemap.xml", *_FOLDERS)
_GENERATOR: Final = b'<meta name="generator" content="ics-recorder '
_SHARED: Final = re.compile(rb'assets/([a-z0-9.-]+)"')
_URL: Final = re.compile(r"https?://[^\s?#]+", re.ASCII)


class SiteOptions(NamedTuple):
    """Without ``base_url`` a site has no sitemap; ``pseudonyms`` also excludes chat."""

    base_url: str | None = None
    pseudonyms: bool = False
    chat: str = "public"
    force: bool = False


class SiteWritten(NamedTuple):
    """How many pages of games and of players were written; ``excluded`` games by reason."""

    games: int
    players: int
    size_bytes: int
    excluded: dict[str, int]


def write_site(where: str, chosen: GameFilter, folder: Path, options: SiteOptions, progress: Progress) -> SiteWritten:
    """Write pages of games and players, and an index that searches the games. They show what ``db share`` keeps."""
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
    kinds = {"assets": (".css", ".js", ".svg"), "games": (".html", ".png")}
    foreign += [
        path for path in pages if path.suffix not in kinds.get(path.parent.name, (".html",)) or not path.is_file()
    ]
    if foreign:
        raise ExportError(f"{foreign[0]} is not of the site, so --force does not replace {folder}: move it first.")


class _Writer:
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
        self._shared: set[str] = set()
        self._whole = 0
        self._size_bytes = 0

    def write(self) -> SiteWritten:
        keys = frozenset(game.key for game in self._listed)
        players = players_of_games(self._archive, self._chosen)
        files = {(player.handle.lower(), player.server): player.file for player in players}
        site = FileSite(keys, files)
        self._whole = len(keys) + len(players)
        in_progress = games_in_progress(self._archive)
        self._write("index.html", index_of_files(self._listed, replace(site, depth=0), in_progress))
        self._games(site)
        for player_page, html in pages_of_players(self._archive, players, site):
            self._write(f"players/{player_page.file}", html)
        for name in self._shared:
            self._save(f"assets/{name}", site_files()[name])
        if self._options.base_url is not None:
            self._sitemap(self._options.base_url)
        return SiteWritten(len(keys), len(players), self._size_bytes, self._excluded)

    def _save(self, name: str, data: bytes) -> None:
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        self._size_bytes += len(data)

    def _write(self, name: str, html: bytes) -> None:
        self._save(name, html)
        self._shared |= {name.decode() for name in _SHARED.findall(html)} & site_files().keys()
        self._pages.append(name)
        self._progress("pages", len(self._pages) - 1, self._whole)

    def _games(self, site: FileSite) -> None:
        keys = [game.key for game in self._listed]
        for index, key in enumerate(keys):
            near = (("‹ Previous", index - 1, "prev"), ("Next ›", index + 1, "next"))
            bar = [BarItem("Games", "../index.html", "up")]
            bar += [BarItem(text, f"{keys[n]}.html", rel) for text, n, rel in near if 0 <= n < len(keys)]
            site = replace(site, bar=bar, picture=self._picture(key))
            page = page_of_game(self._archive, key, site=site, public=True, chat=self._options.chat)
            self._write(f"games/{key}.html", page.html)

    def _picture(self, key: str) -> str | None:
        """Write the picture of a game, and return its address; None: it has none, or there is nothing to draw."""
        if self._options.base_url is None or find_spec("PIL") is None:
            return None
        name = f"games/{key}.png"
        try:
            self._save(name, picture_of_game(self._archive, self._archive.game(key), "png"))
        except ExportError:
            return None
        return f"{self._options.base_url.rstrip('/')}/{name}"

    def _sitemap(self, base_url: str) -> None:
        base = f"{base_url.rstrip('/')}/"
        lines = "".join(f"<url><loc>{escape(base + name)}</loc></url>\n" for name in self._pages)
        text = (
            '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
            f"{lines}</urlset>\n"
        )
        (self._folder / "sitemap.xml").write_text(text, encoding="utf-8")
