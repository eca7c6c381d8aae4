"""The answers about one game: its page, its files, its lines in the logs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from exporters.report.page import BarItem, plain_name, visible
from recorder.archive.exporting import one_player
from recorder.archive.locate import open_archive
from recorder.archive.pages.player_pages import PLAYER_GAMES
from recorder.archive.pages.related import games_by_source
from recorder.archive.pages.reports import page_of_game, page_of_player
from recorder.archive.reading.kept_bytes import GameLine, lines_of_game, short_names
from recorder.errors import ExportError, StorageError
from recorder.model import Game
from recorder.web.answers import SEARCH_S, file_of_games, not_found, not_understood, page, reached
from recorder.web.links import WebSite
from recorder.web.listing import ListState, read_list
from recorder.web.pages import game_bar, lines_page, message_page
from storage import ArchiveStore, GameFilter, SourceRow

_AROUND: Final = 3
"""Half-moves before and after the one whose lines are shown."""


class GameAnswers:
    """The games and players of an archive, ``public`` without remarks and lines of logs.

    Its methods run in threads, several requests at once. ``check`` is as for ``file_of_games``.
    """

    def __init__(self, where: str, *, public: bool, check: Callable[[], None]) -> None:
        self._where = where
        self._check = check
        self._public = public
        self._drawing = threading.Lock()  # matplotlib draws one picture at a time

    def game(self, request: Request) -> Response:
        """The page of a game."""
        with open_archive(self._where) as archive, archive.snapshot():
            game = self._find(archive, request)
            if isinstance(game, Response):
                return game
            site = WebSite(listed=_reached_from(request), private=not self._public)
            places, rank = _neighbours(archive, game.key, site)
            bar = tuple(game_bar(site, game.key, places, rank=rank))
            with self._drawing:
                shown = page_of_game(archive, game.key, site=replace(site, bar=bar), public=self._public)
        return page(shown.html)

    def lines(self, request: Request) -> Response:
        """The lines of the logs that a game was read from, around a half-move: for this computer only."""
        if self._public:
            return page(message_page("Not shown", "Lines of logs are shown on the computer of the archive only."), 403)
        with open_archive(self._where) as archive, archive.snapshot():
            game = self._find(archive, request)
            if isinstance(game, Response):
                return game
            text = request.query_params.get("ply", "")
            ply = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None
            names = short_names(archive.sources())
            found = games_by_source(archive, game)
            sources = [(row.id, names[row.id], _lines(archive, row, one, ply)) for row, one in found]
        site = WebSite(listed=_reached_from(request))
        return page(lines_page(site, game.key, (game.white.handle, game.black.handle), sources, ply))

    def game_file(self, request: Request) -> Response:
        """A game as a file."""
        suffix = request.path_params["suffix"]
        if suffix not in ("pgn", "jsonl"):
            return not_found(request, KeyError(suffix))
        with open_archive(self._where) as archive, archive.snapshot():
            game = self._find(archive, request)
            if isinstance(game, Response):
                return game
            where = GameFilter(keys=frozenset({game.key}), kinds=frozenset(), min_plies=0)
            return file_of_games(archive, where, suffix, game.key[:8], public=self._public, check=self._check)

    def player(self, request: Request) -> Response:
        """The page of a player, about the newest games that match the filters in the address."""
        handle = request.path_params["handle"]
        try:
            listed = read_list([*request.query_params.multi_items(), ("player", handle)])
        except ExportError as error:
            return not_understood(error)
        bar = (
            BarItem("Games", "/", "up"),
            BarItem(f"Games of {plain_name(handle)}", WebSite().listing(listed.query())),
            BarItem("Live", WebSite().live),
        )
        with open_archive(self._where) as archive, archive.snapshot():
            listed = reached(archive, listed)
            if not archive.count(listed.where):
                sentence = f"No game of {handle} matches the filters of this address."
                return page(message_page("No such player", visible(sentence)), 404)
            where = replace(listed.where, last=PLAYER_GAMES)
            with self._drawing:
                try:
                    handle = one_player(archive, handle)
                    shown = page_of_player(archive, handle, where, site=WebSite(bar), filters=listed.values)
                except ExportError as error:  # several players or guests have this handle
                    return page(message_page("No such player", visible(str(error))), 404)
        return page(shown.html)

    def _find(self, archive: ArchiveStore, request: Request) -> Game | Response:
        """The game that an address names, or the answer that there is none."""
        try:
            return archive.game(request.path_params["key"])
        except StorageError as error:
            return page(message_page("No such game", visible(str(error))), 404)


def _lines(archive: ArchiveStore, row: SourceRow, game: Game, ply: int | None) -> list[GameLine] | str:
    """The lines of a log about a game, around a half-move or all; a sentence if they are not available."""
    try:
        lines = list(lines_of_game(archive, row, game))
    except StorageError as error:
        return str(error)
    return [line for line in lines if ply is None or (line.ply is not None and abs(line.ply - ply) <= _AROUND)]


def _reached_from(request: Request) -> ListState | None:
    """The list in the address of a game; what cannot be read is none."""
    try:
        return read_list(request.query_params.multi_items())
    except ExportError:
        return None


def _neighbours(archive: ArchiveStore, key: str, site: WebSite) -> tuple[dict[str, str | None], str | None]:
    """The previous and the next game of the list, and the place of this one in it."""
    if site.listed is None:
        return {}, None
    order = site.listed.order
    place = archive.place_of(key, order)
    if place is None:
        return {}, None
    try:
        where = reached(archive, site.listed).where
        before = archive.list_games(where, order, 1, before=place, limit_s=SEARCH_S)
        after = archive.list_games(where, order, 1, after=place, limit_s=SEARCH_S)
        rank = f"{archive.rank_of(where, order, place) + 1:,} of {archive.count(where, limit_s=SEARCH_S):,}"
    except StorageError:  # of a variant that there is not, or a search that takes too long: the game is shown
        return {}, None
    places = {name: site.game(found[0].key) for name, found in (("previous", before), ("next", after)) if found}
    return {**places}, rank
