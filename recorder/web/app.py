"""The site: what each address answers. Archives are opened for each request, read-only."""

from __future__ import annotations

import asyncio
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import IO, Any, Final
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from exporters.report.page import plain_name, policy_of, visible
from exporters.report.site import BarItem
from exporters.selection import read_position
from recorder.archive.completions import Completion, completions
from recorder.archive.exporting import require_variants
from recorder.archive.insights import compute_insight
from recorder.archive.kept_bytes import GameLine, lines_of_game, short_names
from recorder.archive.locate import open_archive
from recorder.archive.positions import explore, with_position
from recorder.archive.related import games_by_source, games_in_progress
from recorder.archive.reports import page_of_game, page_of_player
from recorder.errors import ExportError, RecorderError, SearchTimeoutError, StorageError, UnknownVariantError
from recorder.model import Game
from recorder.web.explorer import explorer_page
from recorder.web.insights import InsightState, python_code, read_insight, shown_insight
from recorder.web.links import WebSite
from recorder.web.listing import PAGE_GAMES, ListState, read_list
from recorder.web.live_feed import LiveFeed
from recorder.web.pages import (
    game_bar,
    games_page,
    insights_page,
    lines_page,
    live_page,
    login_page,
    message_page,
)
from recorder.web.security import Access, Guard
from storage import ArchiveStore, GameFilter, SourceRow
from storage.maintenance.private import public_game

__all__ = ["COMPUTING_S", "PLAYER_GAMES", "SEARCH_S", "make_app"]

SEARCH_S: Final = 5.0
"""How long a search may take."""

COMPUTING_S: Final = 30.0
"""How long the computation of a measure may take, the wait for others included."""

PLAYER_GAMES: Final = 2000
"""The most games that a player's page is about: the newest."""

_CHOICES_S: Final = 60.0
_CHOICES: Final = {
    "variant": Completion.VARIANT,
    "time": Completion.TIME_CONTROL,
    "reason": Completion.REASON,
    "category": Completion.CATEGORY,
    "server": Completion.SERVER,
    "source": Completion.SOURCE,
}
_COMPUTED_AT_ONCE: Final = 2
_COUNTING_S: Final = 2.0
"""How long rows of insights are compared with lists of games."""
_BLOCK: Final = 1 << 18
_IN_MEMORY: Final = 1 << 23
_AROUND: Final = 3
"""Half-moves before and after the one whose lines are shown."""

_TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "pgn": "application/x-chess-pgn; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}


def make_app(where: str, access: Access, feed: LiveFeed) -> Guard:
    """The site of an archive.

    Args:
        where: the archive, as ``--db`` names it. access: who may read what. feed: what running recordings see.
    Raises:
        StorageError: the archive cannot be used.
    """
    site, live = _Site(where, access), _Live(feed)
    routes = [
        Route("/", site.games),
        Route("/games.{suffix}", site.download),
        Route("/insights", site.insights),
        Route("/players.json", site.handles),
        Route("/explorer", site.explorer),
        Route("/login", lambda _request: RedirectResponse("/", 303)),
        Route("/game/{key}.{suffix}", site.game_file),
        Route("/game/{key}", site.game),
        Route("/game/{key}/lines", site.lines),
        Route("/player/{handle:path}", site.player),
        Route("/live", live.page),
        Route("/live/events", live.events),
    ]
    handlers: Mapping[Any, Callable[..., Response]] = {404: _not_found, 405: _not_found, RecorderError: _failed}
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access, login_page, message_page)


def _page(html: bytes, status: int = 200) -> Response:
    """A page, with its policy in the header, too."""
    headers = {"content-security-policy": f"{policy_of(html)}; frame-ancestors 'none'"}
    return Response(html, status, headers, "text/html; charset=utf-8")


def _not_found(_request: Request, _error: Exception) -> Response:
    return _page(message_page("Not found", "There is no such page. The address may be mistyped."), 404)


def _failed(_request: Request, error: Exception) -> Response:
    """What the archive or an exporter reports: the archive is busy, was moved, or has another schema."""
    if isinstance(error, SearchTimeoutError):
        return _page(message_page("Timed out", f"{error} Add filters that exclude more games."), 503)
    return _page(message_page("Error", visible(str(error))), 503)


class _Site:
    """The pages of one archive. Its methods run in threads: the requests of several readers at once."""

    def __init__(self, where: str, access: Access) -> None:
        self._where = where
        self._public = not access.private
        # Not the threads of other requests: computations that wait for each other must not take them all.
        self._computing = ThreadPoolExecutor(_COMPUTED_AT_ONCE, "insights")
        self._drawing = threading.Lock()  # matplotlib draws one picture at a time
        with open_archive(where):  # it can be used
            self._choices = _read_choices(where)
        self._choices_at = time.monotonic()

    # --- lists

    def games(self, request: Request) -> Response:
        """The list of games. A form leaves empty fields in the address: the address without them is the list's."""
        pairs = request.query_params.multi_items()
        if any(not value.strip() for _, value in pairs):
            query = urlencode([(name, value) for name, value in pairs if value.strip()])
            return RedirectResponse(WebSite().listing(query), 303)
        try:
            listed = read_list(pairs)
            with open_archive(self._where) as archive, archive.snapshot():
                require_variants(archive, listed.where)
                return _page(self._list(archive, _reached(archive, listed)))
        except SearchTimeoutError:
            raise
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in dict(pairs):
                raise
            values = dict(pairs)
            return _page(
                message_page("Not understood", visible(str(error)), values=values, choices=self._current_choices()), 400
            )

    def _list(self, archive: ArchiveStore, listed: ListState) -> bytes:
        found = archive.list_games(
            listed.where,
            listed.order,
            PAGE_GAMES + 1,
            after=listed.after,
            before=listed.before,
            limit_s=SEARCH_S,
        )
        more = len(found) > PAGE_GAMES
        if listed.before is not None:
            games, ends = found[-PAGE_GAMES:], (more, True)
        else:
            games, ends = found[:PAGE_GAMES], (listed.after is not None, more)
        of = archive.count()
        return games_page(
            listed,
            games,
            count=archive.count(listed.where, limit_s=SEARCH_S) if listed.values else of,
            of=of,
            undated=archive.undated(listed.where),
            unindexed=0 if listed.where.position is None else archive.positions.state().missing,
            more=ends,
            choices=self._current_choices(),
            scores=_scores(archive, listed),
        )

    def _current_choices(self) -> Mapping[str, Sequence[str]]:
        """Values for the form; they are read again at most once a minute."""
        if time.monotonic() - self._choices_at > _CHOICES_S:
            self._choices_at = time.monotonic()
            self._choices = _read_choices(self._where)
        return self._choices

    def handles(self, request: Request) -> Response:
        """Handles that begin as typed, as JSON: for the form's lists of players."""
        typed = request.query_params.get("q", "").strip().lower()
        found = completions(self._where, Completion.HANDLE, typed) if typed else []
        return JSONResponse([value for value, _ in found])

    def download(self, request: Request) -> Response:
        """The games of a list as a file, in the order of their start."""
        suffix = request.path_params["suffix"]
        if suffix not in _TYPES:
            return _not_found(request, KeyError(suffix))
        try:
            listed = read_list(request.query_params.multi_items())
        except ExportError as error:
            return _page(message_page("Not understood", visible(str(error))), 400)
        with open_archive(self._where) as archive, archive.snapshot():
            require_variants(archive, listed.where)
            return self._file(archive, _reached(archive, listed).where, suffix, "games")

    def explorer(self, request: Request) -> Response:
        """The moves that were played in a position, of the games that match the filters in the address."""
        pairs = request.query_params.multi_items()
        try:
            listed = read_list(pairs)
            if listed.where.position is None:
                listed = replace(listed, where=replace(listed.where, position=read_position(None, "")))
            with open_archive(self._where) as archive, archive.snapshot():
                require_variants(archive, listed.where)
                found = explore(archive, listed.where, SEARCH_S)
                missing = archive.positions.state().missing
        except (ExportError, UnknownVariantError) as error:
            return _page(message_page("Not understood", visible(str(error))), 400)
        return _page(explorer_page(listed, found, unindexed=missing))

    def _file(self, archive: ArchiveStore, where: GameFilter, suffix: str, name: str) -> Response:
        """A file of games. It is written whole before it is sent, so that no reader keeps a transaction open."""
        out = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
        if suffix == "csv":
            from exporters.table_files import write_games

            write_games(archive, where, out, "csv")  # type: ignore[arg-type]  # it is a binary file
        else:
            games = archive.games(where)
            exporter: Any
            if suffix == "pgn":
                from exporters.pgn.exporter import PgnExporter, PgnOptions

                exporter = PgnExporter(PgnOptions(), games_in_progress(archive))
            else:
                from exporters.games_json import GamesJsonExporter

                exporter = GamesJsonExporter()
            exporter.write(map(public_game, games) if self._public else games, out)
        headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"', "content-length": str(out.tell())}
        out.seek(0)
        return StreamingResponse(_blocks(out), 200, headers, _TYPES[suffix])

    # --- games

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
                page = page_of_game(archive, game.key, site=replace(site, bar=bar), public=self._public)
        return _page(page.html)

    def lines(self, request: Request) -> Response:
        """The lines of the logs that a game was read from, around a half-move: for this computer only."""
        if self._public:
            return _page(message_page("Not shown", "Lines of logs are shown on the computer of the archive only."), 403)
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
        return _page(lines_page(site, game.key, (game.white.handle, game.black.handle), sources, ply))

    def game_file(self, request: Request) -> Response:
        """A game as a file."""
        suffix = request.path_params["suffix"]
        if suffix not in ("pgn", "jsonl"):
            return _not_found(request, KeyError(suffix))
        with open_archive(self._where) as archive, archive.snapshot():
            game = self._find(archive, request)
            if isinstance(game, Response):
                return game
            where = GameFilter(keys=frozenset({game.key}), kinds=frozenset(), min_plies=0)
            return self._file(archive, where, suffix, game.key[:8])

    # --- players

    def player(self, request: Request) -> Response:
        """The page of a player, about the newest games that match the filters in the address."""
        handle = request.path_params["handle"]
        try:
            listed = read_list([*request.query_params.multi_items(), ("player", handle)])
        except ExportError as error:
            return _page(message_page("Not understood", visible(str(error))), 400)
        bar = (
            BarItem("Games", "/", "up"),
            BarItem(f"Games of {plain_name(handle)}", WebSite().listing(listed.query())),
            BarItem("Live", WebSite().live),
        )
        with open_archive(self._where) as archive, archive.snapshot():
            listed = _reached(archive, listed)
            if not archive.count(listed.where):
                sentence = f"No game of {handle} matches the filters of this address."
                return _page(message_page("No such player", visible(sentence)), 404)
            where = replace(listed.where, last=PLAYER_GAMES)
            with self._drawing:
                try:
                    page = page_of_player(archive, handle, where, site=WebSite(bar), filters=listed.values)
                except ExportError as error:  # several guests have this handle
                    return _page(message_page("No such player", visible(str(error))), 404)
        return _page(page.html)

    # --- insights

    async def insights(self, request: Request) -> Response:
        """A measure of the games that match filters, of one player or of two."""
        pairs = [(name, value) for name, value in request.query_params.multi_items() if value.strip()]
        if len(pairs) < len(request.query_params.multi_items()):
            return RedirectResponse(WebSite().insights(urlencode(pairs)), 303)
        ends_at_s = time.monotonic() + COMPUTING_S
        return await asyncio.get_running_loop().run_in_executor(self._computing, self._insights, pairs, ends_at_s)

    def _insights(self, pairs: list[tuple[str, str]], ends_at_s: float) -> Response:
        asked, choices = dict(pairs), self._current_choices()

        def problem(status: int, heading: str, sentence: str) -> Response:
            return _page(insights_page(asked, asked, choices, problem=(heading, visible(sentence))), status)

        try:
            state = read_insight(pairs)
            if state.measure is None:
                return _page(insights_page(asked, state.listed.values, choices))
            with open_archive(self._where) as archive, archive.snapshot():
                for _, listed in state.players():
                    require_variants(archive, listed.where)
                if not any(archive.count(_reached(archive, listed).where) for _, listed in state.players()):
                    return problem(200, "No results", "No game matches these filters.")
                return self._computed(archive, state, asked, ends_at_s)
        except SearchTimeoutError as error:
            return problem(503, "Timed out", f"{error} Add filters that exclude more games, or use Python.")
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in asked:
                raise
            return problem(400, "Not understood", str(error))

    def _computed(
        self, archive: ArchiveStore, state: InsightState, asked: Mapping[str, str], ends_at_s: float
    ) -> Response:
        assert state.measure is not None
        computed = []
        for name, given in state.players():
            listed = _reached(archive, given)
            if archive.count(listed.where):
                limits = {"ends_at_s": ends_at_s, "limit_s": COMPUTING_S}
                computed.append(
                    (name, listed, compute_insight(archive, listed.where, state.measure, state.by, **limits))
                )
        until_s = min(ends_at_s, time.monotonic() + _COUNTING_S)
        shown = shown_insight(
            state,
            computed,
            lambda listed: None if time.monotonic() > until_s else archive.count(_reached(archive, listed).where),
            WebSite(),
        )
        missing = {name for name, _ in state.players()} - {name for name, _, _ in computed}
        shown["counts"] += [f"{plain_name(name)}: no game matches these filters." for name in sorted(missing)]
        path = "games.sqlite" if self._public else str(archive.path)
        codes = [(name, python_code(state, listed, insight, path)) for name, listed, insight in computed]
        page = insights_page(asked, state.listed.values, self._current_choices(), shown=shown, codes=codes)
        return _page(page)

    def _find(self, archive: ArchiveStore, request: Request) -> Game | Response:
        """The game that an address names, or the answer that there is none."""
        try:
            return archive.game(request.path_params["key"])
        except StorageError as error:
            return _page(message_page("No such game", visible(str(error))), 404)


def _scores(archive: ArchiveStore, listed: ListState) -> dict[str, int]:
    """How many games of a list its player won, drew and lost; empty for a list without a player, or of one outcome."""
    if not listed.where.players or listed.where.outcomes:
        return {}
    outcomes = ("win", "draw", "loss")
    return {
        name: archive.count(replace(listed.where, outcomes=frozenset({name})), limit_s=SEARCH_S) for name in outcomes
    }


def _reached(archive: ArchiveStore, listed: ListState) -> ListState:
    """The list with the games that reached its position, as far as they are indexed: the site writes nothing."""
    if listed.where.position is None:
        return listed
    return replace(listed, where=with_position(archive, listed.where, as_indexed=True))


class _Live:
    """The page of running recordings; it needs no archive."""

    def __init__(self, feed: LiveFeed) -> None:
        self._feed = feed

    def page(self, request: Request) -> Response:
        """The boards as they are now; the page's script keeps them so."""
        chosen = request.query_params
        return _page(
            live_page(
                self._feed.look(),
                search=chosen.get("q", "").strip(),
                playing=bool(chosen.get("playing")),
                hide_results=bool(chosen.get("hide")),
            )
        )

    async def events(self, _request: Request) -> Response:
        """What changes, as server-sent events."""
        return StreamingResponse(self._feed.events(), 200, media_type="text/event-stream")


def _read_choices(where: str) -> dict[str, list[str]]:
    return {name: [value for value, _ in completions(where, kind, "")] for name, kind in _CHOICES.items()}


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
        where = _reached(archive, site.listed).where
        before = archive.list_games(where, order, 1, before=place, limit_s=SEARCH_S)
        after = archive.list_games(where, order, 1, after=place, limit_s=SEARCH_S)
        rank = f"{archive.rank_of(where, order, place) + 1:,} of {archive.count(where, limit_s=SEARCH_S):,}"
    except StorageError:  # of a variant that there is not, or a search that takes too long: the game is shown
        return {}, None
    places = {name: site.game(found[0].key) for name, found in (("previous", before), ("next", after)) if found}
    return {**places}, rank


def _blocks(out: IO[bytes]) -> Iterator[bytes]:
    with out:
        while block := out.read(_BLOCK):
            yield block
