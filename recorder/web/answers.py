"""The answers of the addresses: lists and files of games, a game, insights; pages have their policy."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import IO, Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from exporters.measures.dimensions import DimensionError
from exporters.report.page import BarItem, plain_name, policy_of, visible
from exporters.selection import read_position
from exporters.tables.facts import reason_words
from recorder.archive.exporting import no_value, one_player, require_variants
from recorder.archive.game_measures import measure_games
from recorder.archive.locate import open_archive
from recorder.archive.pages.completions import Completion, values_of
from recorder.archive.pages.player_pages import PLAYER_GAMES
from recorder.archive.pages.related import games_by_source, games_in_progress
from recorder.archive.pages.reports import page_of_game, page_of_player, picture_of_game
from recorder.archive.positions import explore, position_of, with_position
from recorder.archive.reading.kept_bytes import GameLine, lines_of_game, short_names
from recorder.errors import ExportError, SearchTimeoutError, StorageError, UnknownVariantError
from recorder.filters import filter_control
from recorder.model import Game
from recorder.web.explorer import NEWEST, explorer_page
from recorder.web.insights import python_code, read_insight, shown_insight, with_group
from recorder.web.links import WebSite
from recorder.web.listing import PAGE_GAMES, Choices, ListState, read_list
from recorder.web.pages import VERSUS, form_of, game_bar, games_page, insights_page, lines_page, message_page
from recorder.web.work import BusyError, LeftError, Page, Work
from storage import EVERY_GAME, ArchiveStore, GameFilter, SourceRow
from storage.maintenance.private import public_game
from storage.read.listing import ListedGame, ListOrder

SEARCH_S: Final = 5.0  # how long a search may take

TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "pgn": "application/x-chess-pgn; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
}
"""The formats in which games are downloaded."""

_CHOICES_S: Final = 60.0
_MOST_CHOICES: Final = 500
_MOST_HANDLES: Final = 100
_CHOICES: Final = {
    "variant": Completion.VARIANT,
    "time": Completion.TIME_CONTROL,
    "ending": Completion.REASON,
    "category": Completion.CATEGORY,
    "server": Completion.SERVER,
    "source": Completion.SOURCE,
}
_RETRY_S: Final = "3"
_BLOCK: Final = 1 << 18
_IN_MEMORY: Final = 1 << 23


def page(html: bytes, status: int = 200) -> Page:
    """A page, with its policy in the header, too."""
    return Page(html, status, {"content-security-policy": f"{policy_of(html)}; frame-ancestors 'none'"})


class Queued:
    """ASGI: an address whose answers are made in a queue; a file that is sent in parts is not ``shared``."""

    def __init__(self, work: Work, make: Callable[[Request], Response], *, shared: bool = True) -> None:
        self._work, self._make, self._shared = work, make, shared

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        key = (scope["path"], scope["query_string"]) if self._shared else None
        try:
            job = self._work.ask(key, lambda: self._make(request))
            answer: asyncio.Future[Any] = asyncio.wrap_future(job.made)
            leaving: asyncio.Future[Any] = asyncio.ensure_future(_leaves(receive))
            try:
                await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                if not answer.done():
                    self._work.leave(job)
            if not answer.done():
                return
            if answer.cancelled():
                raise BusyError  # the site ends
            response = answer.result()
        except (BusyError, LeftError):
            response = page(message_page("Busy", "The site is making too many pages. Try again in some seconds."), 503)
            response.headers["retry-after"] = _RETRY_S
        await response(scope, receive, send)


async def _leaves(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def cleaned(pairs: Sequence[tuple[str, str]], address: Callable[[str], str]) -> Response | None:
    """The way to the address without the empty fields of a form; None: it has none."""
    filled = [(name, value) for name, value in pairs if value.strip()]
    return None if len(filled) == len(pairs) else RedirectResponse(address(urlencode(filled)), 303)


def not_found(_request: Request, _error: Exception) -> Response:
    return page(message_page("Not found", "There is no such page. The address may be mistyped."), 404)


def not_understood(error: Exception) -> Response:
    return page(message_page("Not understood", visible(str(error))), 400)


def failed(_request: Request, error: Exception) -> Response:
    """What the archive or an exporter reports: the archive is busy, was moved, or has another schema."""
    if isinstance(error, UnknownVariantError | ExportError):
        return not_understood(error)
    if isinstance(error, SearchTimeoutError):
        return page(message_page("Timed out", f"{error} Add filters that exclude more games."), 503)
    return page(message_page("Error", visible(str(error))), 503)


class FormChoices:
    """The values that forms offer for a filter, read again at most once a minute (``read_at_s``, monotonic)."""

    def __init__(self, where: str) -> None:
        self.named = False
        self._where = where
        self._values = self._read()
        self.read_at_s = time.monotonic()

    def current(self) -> Choices:
        if time.monotonic() - self.read_at_s > _CHOICES_S and (values := self._read()) != self._values:
            self._values, self.read_at_s = values, time.monotonic()
        if self.named:
            return self._values
        return {**self._values, "source": [(value, None) for value, _ in self._values["source"]]}

    def _read(self) -> Choices:
        with open_archive(self._where) as archive, archive.reading() as driver:
            choices = {name: values_of(driver, kind, "", _MOST_CHOICES) for name, kind in _CHOICES.items()}
        sources = [(value, about and f"{PurePath(about).name} ({value})") for value, about in choices["source"]]
        endings: dict[str, list[str]] = {}
        for value, _ in choices["ending"]:
            endings.setdefault(reason_words(value), []).append(value)
        return {
            **choices,
            "time": [(filter_control(value), None) for value, _ in choices["time"]],
            "ending": [(",".join(values), words) for words, values in endings.items()],
            "source": sources,
        }


def reached(archive: ArchiveStore, listed: ListState) -> ListState:
    """The list with the games of its group, and those that reached its position, as far as they are indexed."""
    if listed.where.position is not None:
        listed = replace(listed, where=with_position(archive, listed.where, as_indexed=True))
    return listed if listed.group is None else with_group(archive, listed, listed.group)


def file_of_games(
    archive: ArchiveStore, where: GameFilter, suffix: str, name: str, *, public: bool, check: Callable[[], None]
) -> Response:
    """A file, written whole before it is sent. ``check`` is called before each game; it raises if no client waits."""
    out = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
    try:
        _write_games(archive, where, suffix, out, public=public, check=check)
    except BaseException:  # whatever ends it, also Ctrl-C
        out.close()
        raise
    headers = {"content-disposition": f'attachment; filename="{name}.{suffix}"', "content-length": str(out.tell())}
    out.seek(0)
    return StreamingResponse(_blocks(out), 200, headers, TYPES[suffix])


def _write_games(
    archive: ArchiveStore, where: GameFilter, suffix: str, out: Any, *, public: bool, check: Callable[[], None]
) -> None:
    if suffix == "csv":
        from exporters.table_files import write_games

        write_games(archive, where, out, "csv")
    else:
        games = _checked(archive.games(where), check)
        exporter: Any
        if suffix == "pgn":
            from exporters.pgn.exporter import PgnExporter, PgnOptions

            exporter = PgnExporter(PgnOptions(), games_in_progress(archive))
        else:
            from exporters.games_json import GamesJsonExporter

            exporter = GamesJsonExporter()
        exporter.write(map(public_game, games) if public else games, out)


def _checked(games: Iterable[Game], check: Callable[[], None]) -> Iterator[Game]:
    for game in games:
        check()
        yield game


def _blocks(out: IO[bytes]) -> Iterator[bytes]:
    with out:
        while block := out.read(_BLOCK):
            yield block


_AROUND: Final = 3  # half-moves before and after the one whose lines are shown


def _of_game(
    answer: Callable[[Any, Request, ArchiveStore, Game], Response],
) -> Callable[[Any, Request], Response]:
    def method(self: Answers, request: Request) -> Response:
        with open_archive(self._where) as archive, archive.snapshot():
            try:
                game = archive.game(request.path_params["key"])
            except StorageError as error:
                return page(message_page("No such game", visible(str(error))), 404)
            return answer(self, request, archive, game)

    return method


class Answers:
    """Answers about an archive, ``public`` without remarks and lines; their methods run in threads, several at once."""

    def __init__(self, where: str, choices: FormChoices, *, public: bool, check: Callable[[], None]) -> None:
        self._where = where
        self._check = check
        self._choices = choices
        self._public = public

    @_of_game
    def game(self, request: Request, archive: ArchiveStore, game: Game) -> Response:
        site = WebSite(listed=_reached_from(request), private=not self._public)
        places, rank = _neighbours(archive, game.key, site)
        bar = tuple(game_bar(site, game.key, places, rank=rank))
        ply = _ply_of(request)
        report = page_of_game(archive, game.key, site=replace(site, bar=bar), public=self._public, ply=ply)
        return page(report.html)

    @_of_game
    def lines(self, request: Request, archive: ArchiveStore, game: Game) -> Response:
        """The lines of the logs that a game was read from, around a half-move: for this computer only."""
        if self._public:
            return page(message_page("Not shown", "Lines of logs are shown on the computer of the archive only."), 403)
        ply = _ply_of(request)
        names = short_names(archive.sources())
        games = games_by_source(archive, game)
        sources = [(row.id, names[row.id], _lines(archive, row, of_source, ply)) for row, of_source in games]
        site = WebSite(listed=_reached_from(request))
        return page(lines_page(site, game.key, (game.white.handle, game.black.handle), sources, ply))

    @_of_game
    def position(self, request: Request, archive: ArchiveStore, game: Game) -> Response:
        position = position_of(archive, game.key, _ply_of(request) or 0)
        if position is None:
            return page(
                message_page("No such position", "The explorer has positions of normal chess that are proved."), 404
            )
        return RedirectResponse(WebSite().explorer(urlencode([("position", position)])), 303)

    @_of_game
    def game_file(self, request: Request, archive: ArchiveStore, game: Game) -> Response:
        suffix = request.path_params["suffix"]
        if suffix not in ("pgn", "jsonl"):
            return not_found(request, KeyError(suffix))
        where = replace(EVERY_GAME, keys=frozenset({game.key}))
        return file_of_games(archive, where, suffix, game.key[:8], public=self._public, check=self._check)

    @_of_game
    def game_picture(self, request: Request, archive: ArchiveStore, game: Game) -> Response:
        try:
            data = picture_of_game(archive, game, "gif", check=self._check)
        except ExportError as error:
            return page(message_page("No picture", visible(str(error))), 404)
        headers = {"content-disposition": f'attachment; filename="{game.key[:8]}.gif"'}
        return Response(data, 200, headers, "image/gif")

    def player(self, request: Request) -> Response:
        handle = request.path_params["handle"]
        plain = WebSite()
        pairs = [(name, value) for name, value in request.query_params.multi_items() if name != "player"]
        address = f"{plain.player(handle, None)}"
        if (clean := cleaned(pairs, lambda query: f"{address}?{query}" if query else address)) is not None:
            return clean
        if not handle.strip():
            return page(message_page("No such player", "The address names none."), 404)
        versus = dict(pairs).get("versus", "").strip()
        both = [read_list([*pairs, ("player", who)]) for who in (handle, versus) if who]
        listed = both[0]
        insights = listed.query() if not versus else f"{urlencode([('versus', versus)])}&{listed.query()}"
        bar = (
            BarItem("Games", "/", "up"),
            BarItem("Explorer", plain.explorer()),
            BarItem("Insights", plain.insights(insights)),
            BarItem("Live", plain.live),
            BarItem(f"Games of {plain_name(handle)}", plain.listing(listed.query())),
        )
        form = form_of(listed.values, self._choices.current(), without=("player", "next"))
        with open_archive(self._where) as archive, archive.snapshot():
            players = []
            for name, wanted in zip((handle, versus), both, strict=False):
                wanted = reached(archive, wanted)
                if not archive.count(wanted.where):
                    sentence = f"No game of {name} matches the filters of this address."
                    return page(message_page("No such player", visible(sentence)), 404)
                try:
                    players.append((one_player(archive, name), replace(wanted.where, last=PLAYER_GAMES), wanted.values))
                except ExportError as error:  # several players or guests have this handle
                    return page(message_page("No such player", visible(str(error))), 404)
            (name, where, values), *others = players
            form |= {"action": address, "versus": {**VERSUS, "value": versus}}
            report = page_of_player(
                archive, name, where, site=WebSite(bar), filters=values, form=form, versus=next(iter(others), None)
            )
        return page(report.html)

    def insights(self, request: Request) -> Response:
        pairs = request.query_params.multi_items()
        return cleaned(pairs, WebSite().insights) or self._answer(pairs)

    def _answer(self, pairs: list[tuple[str, str]]) -> Response:
        asked = dict(pairs)
        try:
            return self._computed(pairs, asked)
        except SearchTimeoutError as error:
            return self._insights_problem(asked, 503, "Timed out", f"{error} Add filters that exclude more games.")
        except DimensionError as error:
            return self._insights_problem(
                asked, 400, "Not understood", f"{asked['by']} does not go with {asked['measure']}: {error}."
            )
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in asked:
                raise
            return self._insights_problem(asked, 400, "Not understood", str(error))

    def _computed(self, pairs: list[tuple[str, str]], asked: Mapping[str, str]) -> Response:
        state = read_insight(pairs)
        if state.measure is None:
            return page(insights_page(asked, state.listed.values, self._choices.current()))
        with open_archive(self._where) as archive, archive.snapshot():
            computed, missing = [], []
            for name, wanted in state.players():
                require_variants(archive, wanted.where)
                listed = reached(archive, wanted)
                if archive.count(listed.where, limit_s=SEARCH_S):
                    measured = measure_games(
                        archive, listed.where, state.measure, state.by, omitted=True, first_moves=state.first
                    )
                    computed.append((name, listed, measured))
                else:
                    missing.append(name)
            if not computed:
                return self._insights_problem(asked, 200, "No results", "No game matches these filters.")
            content = shown_insight(state, computed, WebSite())
            path = "games.sqlite" if self._public else str(archive.path)
        content["counts"] += [f"{plain_name(name)}: no game matches these filters." for name in missing]
        codes = [(name, python_code(state, listed, insight, path)) for name, listed, insight in computed]
        return page(insights_page(asked, state.listed.values, self._choices.current(), shown=content, codes=codes))

    def _insights_problem(self, asked: Mapping[str, str], status: int, heading: str, sentence: str) -> Response:
        problem = (heading, visible(sentence))
        return page(insights_page(asked, asked, self._choices.current(), problem=problem), status)

    def games(self, request: Request) -> Response:
        """The list of games. A form leaves empty fields in the address: the address without them is the list's."""
        pairs = request.query_params.multi_items()
        if (clean := cleaned(pairs, WebSite().listing)) is not None:
            return clean
        try:
            listed = read_list(pairs)
            with open_archive(self._where) as archive, archive.snapshot():
                require_variants(archive, listed.where)
                return page(self._list(archive, reached(archive, listed)))
        except SearchTimeoutError:
            raise
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in dict(pairs):
                raise
            values = dict(pairs)
            return page(
                message_page("Not understood", visible(str(error)), values=values, choices=self._choices.current()), 400
            )

    def _list(self, archive: ArchiveStore, listed: ListState) -> bytes:
        rows = archive.list_games(
            listed.where,
            listed.order,
            PAGE_GAMES + 1,
            after=listed.after,
            before=listed.before,
            limit_s=SEARCH_S,
        )
        more = len(rows) > PAGE_GAMES
        if listed.before is not None:
            games, ends = rows[-PAGE_GAMES:], (more, True)
        else:
            games, ends = rows[:PAGE_GAMES], (listed.after is not None, more)
        counted = rows[0].of if rows and not listed.values else None
        of = archive.count() if counted is None else counted
        count, scores = _counts(archive, listed, rows) if listed.values else (of, {})
        return games_page(
            listed,
            games,
            in_progress=games_in_progress(archive),
            count=count,
            of=of,
            unknown=archive.count_unknown(listed.where),
            without=no_value(archive, listed.where) if not rows else None,
            unindexed=0 if listed.where.position is None else archive.positions.state().missing,
            more=ends,
            choices=self._choices.current(),
            scores=scores,
        )

    def handles(self, request: Request) -> Response:
        typed = request.query_params.get("q", "").strip().lower()
        with open_archive(self._where) as archive, archive.reading() as driver:
            completed = values_of(driver, Completion.HANDLE, typed, _MOST_HANDLES) if typed else []
        return JSONResponse([value for value, _ in completed])

    def download(self, request: Request) -> Response:
        suffix = request.path_params["suffix"]
        if suffix not in TYPES:
            return not_found(request, KeyError(suffix))
        listed = read_list(request.query_params.multi_items())
        with open_archive(self._where) as archive, archive.snapshot():
            require_variants(archive, listed.where)
            where = reached(archive, listed).where
            return file_of_games(archive, where, suffix, "games", public=self._public, check=self._check)

    def explorer(self, request: Request) -> Response:
        pairs = request.query_params.multi_items()
        if (clean := cleaned(pairs, WebSite().explorer)) is not None:
            return clean
        listed = read_list(pair for pair in pairs if pair[0] != "group")
        if listed.where.position is None:
            listed = replace(listed, where=replace(listed.where, position=read_position(None, "")))
        with open_archive(self._where) as archive, archive.snapshot():
            require_variants(archive, listed.where)
            explored = explore(archive, listed.where, SEARCH_S)
            missing = archive.positions.state().missing
            keys = replace(listed.where, reached=frozenset(islice(explored.places, NEWEST)))
            games = archive.list_games(keys, ListOrder("date", descending=True), NEWEST, limit_s=SEARCH_S)
        return page(explorer_page(listed, explored, games, self._choices.current(), unindexed=missing))


def _lines(archive: ArchiveStore, row: SourceRow, game: Game, ply: int | None) -> list[GameLine] | str:
    """The lines of a log about a game, around a half-move or all; a sentence if they are not available."""
    try:
        lines = list(lines_of_game(archive, row, game))
    except StorageError as error:
        return str(error)
    return [line for line in lines if ply is None or (line.ply is not None and abs(line.ply - ply) <= _AROUND)]


def _ply_of(request: Request) -> int | None:
    text = request.query_params.get("ply", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _reached_from(request: Request) -> ListState | None:
    try:
        return read_list(request.query_params.multi_items())
    except ExportError:
        return None


def _neighbours(archive: ArchiveStore, key: str, site: WebSite) -> tuple[dict[str, str | None], str | None]:
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
    except (ExportError, StorageError):  # there is no such variant, or the search takes too long: the game is shown
        return {}, None
    places = {name: site.game(games[0].key) for name, games in (("previous", before), ("next", after)) if games}
    return {**places}, rank


def _counts(archive: ArchiveStore, listed: ListState, rows: Sequence[ListedGame]) -> tuple[int, dict[str, int]]:
    """The number of games of a list, and of those that its player won, drew and lost, where it names one."""
    if not listed.where.players or listed.where.outcomes:
        if rows and rows[0].of is not None:
            return rows[0].of, {}
        first = listed.after is None and listed.before is None
        return 0 if first else archive.count(listed.where, limit_s=SEARCH_S), {}
    counts = archive.count_outcomes(listed.where, SEARCH_S)
    return counts.pop("all"), counts
